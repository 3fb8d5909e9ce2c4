// The record's data object: what it says, and that its position takes a training up again.
#include "run/data_json.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace erg {
namespace {

TEST(DataJson, SaysWhatTheDataAre) {
  const auto batches = synthetic_tokens({2, 8, 100}, 5);
  batches->next(Split::train);
  batches->next(Split::validation);
  EXPECT_EQ(data_json(batches.get()), Json::parse(R"({"kind": "synthetic", "description": "synthetic Markov tokens, seed 5",
    "real": false, "files": [], "position": [{"epoch": 0, "index": 2, "samples": 2, "validation": 2}]})"));
  EXPECT_TRUE(data_json(nullptr).is_null());
}

TEST(DataJson, ItsPositionTakesATrainingUp) {
  const auto first = synthetic_tokens({2, 8, 100}, 5), second = synthetic_tokens({2, 8, 100}, 5);
  for (int i = 0; i < 3; ++i) first->next(Split::train);
  second->seek(data_position(Json::parse(data_json(first.get()).dump())));
  EXPECT_EQ(first->next(Split::train).tokens, second->next(Split::train).tokens);
}

TEST(DataJson, ABadPositionIsAUsageError) {
  for (const char* text : {"null", "{}", R"({"position": 3})", R"({"position": [{"epoch": "x"}]})",
                           R"({"position": [{"epoch": 1e300, "index": 0, "samples": 0, "validation": 0}]})"})
    EXPECT_THROW(data_position(Json::parse(text)), Error) << text;
}

}  // namespace
}  // namespace erg
