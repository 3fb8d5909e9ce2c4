// Gathers what the checks look at. Nothing here judges.
#include <fmt/format.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "core/error.hpp"
#include "engine/engine.hpp"
#include "plan/plan.hpp"
#include "run/doctor.hpp"
#include "run/host_facts.hpp"

namespace erg {
namespace {

namespace fs = std::filesystem;

constexpr double watched_s = 0.3;

std::string describe(const EngineInfo& e) {
  std::string text = fmt::format("{}, {} thread{}", e.device, e.threads, e.threads == 1 ? "" : "s");
  for (const std::string& part : {e.library, e.isa})
    if (!part.empty()) text += ", " + part;
  return text + (e.native_bf16 ? ", bf16 in hardware" : "");
}

std::vector<EngineState> engine_states() {
  std::vector<EngineState> states;
  for (const auto& [name, reason] : list_engines()) try {
      states.push_back({name, describe(open_engine(name)->info()), {}, true});
    } catch (const Error& e) { states.push_back({name, e.message(), e.fix(), false}); }
  return states;
}

// File systems of other machines by their magic numbers (statfs(2), and Lustre's, GPFS's and BeeGFS's sources).
struct NetworkFileSystem {
  uint32_t magic;
  const char* name;
};
constexpr NetworkFileSystem network[] = {{0x6969, "nfs"},      {0x0BD00BD0, "lustre"}, {0x47504653, "gpfs"}, {0xFF534D42, "cifs"},
                                         {0xFE534D42, "smb"},  {0x19830326, "beegfs"}, {0x00C36400, "ceph"}, {0x01021997, "9p"},
                                         {0x65735546, "fuse"}, {0x5346414F, "afs"}};

// The folder itself, or the first of its parents that is there.
fs::path existing(fs::path folder) {
  std::error_code error;
  folder = fs::absolute(folder, error);
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

void look_at_results(DoctorFacts& f) {
  const fs::path at = existing(f.results);
  std::error_code error;
  if (!fs::is_directory(at, error))
    f.results_error = at.string() + " is no folder";
  else if (::access(at.c_str(), W_OK | X_OK) != 0)
    f.results_error = at.string() + " cannot be written";
  struct statfs s {};
  if (::statfs(at.c_str(), &s) != 0) {
    f.results_file_system = "unavailable";
    return;
  }
  for (const NetworkFileSystem& n : network)
    if (uint32_t(s.f_type) == n.magic) f.results_file_system = n.name;
  f.results_free_bytes = int64_t(s.f_bavail) * int64_t(s.f_bsize);
}

}  // namespace

DoctorFacts gather_facts(const std::string& results, const std::string& root) {
  DoctorFacts f;
  f.host = host_facts(root);
  f.begin = sample_host(steady_clock(), root);
  steady_clock().sleep(watched_s);
  f.end = sample_host(steady_clock(), root);
  f.engines = engine_states();
  MeterSet meters = open_meters({"auto"}, sysfs_root());
  for (const auto& m : meters.meters) f.sensors.push_back(m->info());
  f.no_sensors = std::move(meters.unavailable);
  struct statfs shm {};
  if (::statfs((root + "/dev/shm").c_str(), &shm) == 0) f.shared_memory_bytes = int64_t(shm.f_blocks) * int64_t(shm.f_bsize);
  f.results = results;
  look_at_results(f);
  std::error_code error;
  f.has_data = fs::exists("ergometer-data", error);
  try {
    f.device_files = load_devices(devices_folder()).size();
  } catch (const Error& e) { f.device_files_error = e.what(); }
  f.build = build_info();
  return f;
}

}  // namespace erg
