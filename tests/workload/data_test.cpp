// Training from files, as `make run` does: real text through SentencePiece, JPEG folders, and what is refused.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "core/error.hpp"
#include "data/make_images.hpp"
#include "data/token_folder.hpp"
#include "support.hpp"

namespace erg::test {
namespace {

using ::testing::HasSubstr;

class FromFiles : public ::testing::Test {
 protected:
  ~FromFiles() override { std::filesystem::remove_all(folder); }
  const std::string folder = (std::filesystem::temp_directory_path() / ("ergometer-workload-" + std::to_string(getpid()))).string();
  const std::unique_ptr<Engine> engine = open_ref_engine({});
};

Spec gpt_on(const std::string& folder, int64_t vocabulary) {
  Spec spec = tiny_gpt();
  spec.workload.gpt.vocabulary = vocabulary;
  spec.workload.gpt.padded_vocabulary = 512;
  spec.workload.data = folder;
  return spec;
}

TEST_F(FromFiles, GptLearnsText) {
  make_token_folder({{std::string(ERG_SOURCE_DIR) + "/LICENSE"}, folder, 400, "", 0.1});
  const auto gpt = prepared(gpt_on(folder, 400), *engine);
  const double before = gpt->validate(2).loss;
  for (int i = 0; i < 31; ++i) gpt->step();
  EXPECT_LT(gpt->validate(2).loss, before - 0.5);
}

TEST_F(FromFiles, AVocabularyBeyondTheSpecsIsAUsageErrorWithTheFix) {
  make_token_folder({{std::string(ERG_SOURCE_DIR) + "/LICENSE"}, folder, 400, "", 0.1});
  try {
    prepared(gpt_on(folder, 399), *engine);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    EXPECT_THAT(e.message(), HasSubstr("400"));
    EXPECT_EQ(e.fix(), "--set workload.vocabulary=400");
  }
}

TEST_F(FromFiles, ResNetLearnsPhotos) {
  ImagesRequest images;
  images.out = folder, images.classes = 4, images.per_class = 20, images.width = images.height = 48, images.validation = 0.2;
  make_image_folder(images);
  Spec spec = tiny_resnet();
  spec.workload.data = folder;
  spec.workload.resnet.classes = 4;
  const auto resnet = prepared(spec, *engine);
  double first = 0, last = 0;
  for (int step = 0; step < 40; ++step) {
    resnet->step();
    if (step < 5) first += resnet->read_loss() / 5;
    if (step >= 35) last += resnet->read_loss() / 5;
  }
  EXPECT_LT(last, first - 0.2);
  const Validation validation = resnet->validate(2);
  EXPECT_EQ(validation.samples, 16);
  EXPECT_GT(validation.top1, 0.4) << "chance is 0.25";
}

}  // namespace
}  // namespace erg::test
