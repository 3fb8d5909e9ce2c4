// The command line: one function per command, each in its own file.
#pragma once

namespace erg {

int run_cli(int argc, char** argv);  // returns the exit code of DESIGN §4

}  // namespace erg
