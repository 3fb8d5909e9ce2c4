// Parses the command line, runs the command, and turns what it threw into a message and an exit code.
#include "cli/cli.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/commands.hpp"
#include "cli/data.hpp"
#include "cli/options.hpp"
#include "core/error.hpp"
#include "core/interrupt.hpp"

namespace erg {
namespace {

constexpr int usage_error = 2;

CLI::App& innermost(CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

std::string command_path(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent ? command_path(*parent) + " " + app.get_name() : app.get_name();
}

// What the person probably meant by an argument that nobody expected.
std::string suggestion(CLI::App& command, const std::string& argument) {
  std::vector<std::string> names;
  if (argument.starts_with("-")) {
    for (const CLI::Option* option : command.get_options([](const CLI::Option* o) { return !o->get_group().empty(); }))
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  } else {
    for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) names.push_back(sub->get_name());
  }
  const std::string nearest = nearest_name(argument.substr(0, argument.find('=')), names);
  return nearest.empty() ? fmt::format("{} --help", command_path(command)) : fmt::format("did you mean {}?", nearest);
}

int report_parse_error(CLI::App& app, const CLI::ParseError& e) {
  if (e.get_exit_code() == 0) return app.exit(e);  // --help
  CLI::App& command = innermost(app);
  const std::vector<std::string> unexpected = app.remaining(true);
  if (!unexpected.empty()) {
    const bool option = unexpected.front().starts_with("-");
    print_error(fmt::format("unknown {} {}\n  fix: {}",
                            option                                                                  ? "option"
                            : command.get_subcommands([](const CLI::App*) { return true; }).empty() ? "argument"
                                                                                                    : "command",
                            unexpected.front(), suggestion(command, unexpected.front())));
  } else {
    print_error(fmt::format("{}\n  fix: {} --help", e.what(), command_path(command)));
  }
  return usage_error;
}

int run_command(int argc, char** argv) {
  CLI::App app("Measures what an AI accelerator delivers on real training work: images/s, tokens/s, FLOP/s, memory.", "ergometer");
  app.require_subcommand(1);
  register_run(app);
  register_sweep(app);
  register_resume(app);
  register_list(app);
  register_show(app);
  register_compare(app);
  register_export(app);
  register_merge(app);
  register_data(app);
  register_probe(app);
  register_env(app);
  register_doctor(app);
  register_version(app);

  install_interrupt_handlers();
  try {
    if (argc < 2) {
      fmt::print(stderr, "{}", app.help());
      return usage_error;
    }
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::RuntimeError& e) { return e.get_exit_code(); } catch (const CLI::ParseError& e) {
    return report_parse_error(app, e);
  } catch (const Error& e) {
    print_error(e.what());
    return e.exit_code();
  } catch (const std::exception& e) {
    print_error(e.what());
    return 1;
  }
}

// A descriptor that was closed by who started us would be given to the next file that we open, and what we print would go there. Writing
// to the ones opened here fails, as it should.
void occupy_standard_descriptors() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

int run_cli(int argc, char** argv) {
  occupy_standard_descriptors();
  const int code = run_command(argc, argv);
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
  print_error(fmt::format("cannot write to stdout: {}\n  fix: what was measured is stored; ergometer list shows it", std::strerror(errno)));
  return code == 0 ? 1 : code;
}

}  // namespace erg
