// What data hold, and whether all of it can be trained on.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace erg {

// Facts about a token or image folder, or about what else `workload.data` may name: kind, sizes, vocabulary or classes, a sample, where it
// came from. Reads every token. With `every_image` decodes all images, else only the first of each split. Throws Error(usage) on the
// first thing that is wrong, naming its file.
nlohmann::ordered_json inspect_data(const std::string& data, bool every_image);

}  // namespace erg
