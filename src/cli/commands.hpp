// The commands: each registers itself with the parser and does its work when the command line names it. Errors are thrown; an exit
// code other than 0 without an error is a CLI::RuntimeError.
#pragma once

namespace CLI {
class App;
}

namespace erg {

void register_run(CLI::App& app);
void register_sweep(CLI::App& app);
void register_resume(CLI::App& app);
void register_merge(CLI::App& app);
void register_list(CLI::App& app);
void register_show(CLI::App& app);
void register_compare(CLI::App& app);
void register_export(CLI::App& app);
void register_probe(CLI::App& app);
void register_env(CLI::App& app);
void register_doctor(CLI::App& app);
void register_version(CLI::App& app);

}  // namespace erg
