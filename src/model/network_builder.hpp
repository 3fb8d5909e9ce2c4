// What the builders of networks share; not for users of the model.
#pragma once
#include <string>

#include "model/network.hpp"

namespace erg::detail {

void add_totals(Network& network);                                            // parameters, FLOPs and saved bytes from its ops
void require(bool good, const std::string& message, const std::string& fix);  // throws Error(usage)

}  // namespace erg::detail
