// The environment of a record: host facts, the libraries in this process, variables that change speed, and this binary.
#include <fmt/core.h>
#include <gnu/libc-version.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "run/build_info.hpp"
#include "run/host_facts.hpp"
#include "run/measure.hpp"

namespace erg {
namespace {

// By allow-list: an environment may hold secrets.
Json variables() {
  std::map<std::string, std::string> found;
  for (char** entry = environ; *entry; ++entry)
    for (const char* prefix : {"OMP_", "GOMP_", "KMP_", "DNNL_", "ONEDNN_", "CUDA_", "NCCL_", "MALLOC_", "LD_PRELOAD", "ERGOMETER_",
                               "SLURM_CPUS", "SLURM_JOB_ID"})
      if (std::strncmp(*entry, prefix, std::strlen(prefix)) == 0) {
        const std::string text = *entry;
        found[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
      }
  Json j = Json::object();
  for (const auto& [name, value] : found) j[name] = value;
  return j;
}

// What decides how OpenMP runs; a variable that is not set leaves it to the library.
Json openmp() {
  Json j = Json::object();
  for (const char* name :
       {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY", "OMP_DYNAMIC", "GOMP_CPU_AFFINITY", "ERGOMETER_TUNE"}) {
    const char* value = std::getenv(name);
    j[name] = value ? value : "not set";
  }
  return j;
}

Json libraries() {
  return {
      {"glibc", ::gnu_get_libc_version()},
      {"libstdc++", __GLIBCXX__},
      {"fmt", FMT_VERSION},
      {"nlohmann_json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)}};
}

}  // namespace

Json engine_json(const EngineInfo& e) {
  return {{"name", e.name}, {"device", e.device},           {"library", e.library},
          {"isa", e.isa},   {"native_bf16", e.native_bf16}, {"threads", e.threads}};
}

Json capture_environment() {
  Json environment = host_facts();
  environment["openmp"] = openmp();
  environment["variables"] = variables();
  environment["libraries"] = libraries();
  environment["binary"] = build_json();
  return environment;
}

}  // namespace erg
