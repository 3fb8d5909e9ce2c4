// What a data folder holds, and whether all of it can be trained on.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace erg {

// Facts about a token or image folder: kind, sizes of both splits, vocabulary or classes, a sample, where it came from. Checks every token
// against the vocabulary. With `every_image` decodes all images, else only the first of each split. Throws Error(usage) on the first
// thing that is wrong, naming its file.
nlohmann::ordered_json inspect_data(const std::string& folder, bool every_image);

}  // namespace erg
