// `ergometer version`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "run/build_info.hpp"

namespace erg {

void register_version(CLI::App& app) {
  app.add_subcommand("version", "Print the version, the source revision and how this was built")->callback([] {
    const BuildInfo& b = build_info();
    fmt::print("ergometer {} (git {}{}, {}, {})\n", b.version, b.git_revision, b.git_dirty == "true" ? " with changes" : "", b.build_type,
               b.compiler);
  });
}

}  // namespace erg
