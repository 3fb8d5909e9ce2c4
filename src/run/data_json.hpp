// The record's `data`: what a run trained on and how far it came, from which a training can be taken up exactly.
#pragma once
#include "data/batches.hpp"
#include "store/record.hpp"

namespace erg {

// {"kind", "description", "real", "files", "train_tokens" or "train_images", the same of validation, "position": [{"epoch", "index",
// "samples", "validation"}, one a source]}; null for null.
Json data_json(const Batches* data);
DataPosition data_position(const Json& data);  // of such an object; throws Error(usage)

}  // namespace erg
