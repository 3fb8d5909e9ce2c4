// The program: everything is in run_cli.
#include "cli/cli.hpp"

int main(int argc, char** argv) { return erg::run_cli(argc, argv); }
