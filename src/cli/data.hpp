// `ergometer data`: make and inspect training data.
#pragma once

namespace CLI {
class App;
}

namespace erg {

// Adds `data` with its subcommands `tokens`, `images` and `inspect`; each does its work when the command line is parsed, and throws Error.
void register_data(CLI::App& app);

}  // namespace erg
