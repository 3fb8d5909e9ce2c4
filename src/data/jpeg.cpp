// libjpeg's C interface: errors leave through longjmp, so the code it may leave holds nothing with a destructor.
#include "data/jpeg.hpp"

// jpeglib.h uses what cstdio declares
// clang-format off
#include <cstdio>
#include <jerror.h>
#include <jpeglib.h>
// clang-format on

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <iterator>

#include "core/error.hpp"

namespace erg {
namespace {

// A header of a few bytes may promise any size, and a file may have any number of scans, each a pass over the whole image. Pillow refuses
// images of more pixels too (DecompressionBombError); no encoder writes more than a dozen scans.
constexpr int64_t kMostPixels = 178'956'970;
constexpr int kMostScans = 100;
constexpr long kMostBytes = 1L << 30;  // of libjpeg's own: a progressive image is held whole, two bytes a coefficient

struct Errors : jpeg_error_mgr {
  std::jmp_buf jump;
  char text[JMSG_LENGTH_MAX] = "";

  Errors() {
    jpeg_std_error(this);
    error_exit = [](j_common_ptr info) { static_cast<Errors*>(info->err)->leave(info); };
    emit_message = [](j_common_ptr info, int level) {
      if (level < 0 && data_is_lost(info->err->msg_code)) static_cast<Errors*>(info->err)->leave(info);
    };
  }

  [[noreturn]] void leave(j_common_ptr info) {
    format_message(info, text);
    std::longjmp(jump, 1);
  }

  // Of libjpeg's warnings, those after which pixels are made up. Others, such as stray bytes between markers, do no harm.
  static bool data_is_lost(int code) {
    return code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_MUST_RESYNC;
  }
};

// Runs libjpeg calls; false when libjpeg gave up, then errors.text says why. `work` must hold no object with a destructor, and locals it
// changes are lost when it fails.
template <class Work>
bool succeeds(Errors& errors, Work&& work) {
  if (setjmp(errors.jump) != 0) return false;
  work();
  return true;
}

// In place, 4 bytes a pixel: cyan, magenta, yellow and black, stored inverted, to red, green and blue.
void cmyk_to_rgb(std::span<uint8_t> pixels) {
  for (size_t i = 0; i < pixels.size(); i += 4)
    for (size_t c = 0; c < 3; ++c) pixels[i + c] = uint8_t((pixels[i + c] * pixels[i + 3] + 127) / 255);
}

}  // namespace

struct JpegDecoder::State {
  Errors errors;
  jpeg_progress_mgr progress{};
  jpeg_decompress_struct info{};
  std::string name;

  // Runs libjpeg calls, after which the decoder can be used again in any case.
  template <class Work>
  void run(Work&& work) {
    if (succeeds(errors, work)) return;
    jpeg_abort_decompress(&info);
    throw Error(ErrorKind::usage, std::string("cannot decode the JPEG: ") + errors.text, name, "remove or replace the file");
  }
};

JpegDecoder::JpegDecoder() : state_(std::make_unique<State>()) {
  state_->info.err = &state_->errors;
  state_->run([info = &state_->info] { jpeg_create_decompress(info); });
  state_->info.mem->max_memory_to_use = kMostBytes;
  state_->progress.progress_monitor = [](j_common_ptr info) {
    if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMostScans) {
      auto& errors = *static_cast<Errors*>(info->err);
      std::snprintf(errors.text, sizeof errors.text, "more than %d scans", kMostScans);
      std::longjmp(errors.jump, 1);
    }
  };
  state_->info.progress = &state_->progress;
}

JpegDecoder::~JpegDecoder() { jpeg_destroy_decompress(&state_->info); }

int JpegDecoder::width() const { return int(state_->info.image_width); }
int JpegDecoder::height() const { return int(state_->info.image_height); }

void JpegDecoder::open(std::span<const uint8_t> bytes, const std::string& name) {
  state_->name = name;
  if (bytes.empty()) throw Error(ErrorKind::usage, "cannot decode the JPEG: the file is empty", name, "remove or replace the file");
  state_->run([bytes, info = &state_->info] {
    jpeg_abort_decompress(info);
    jpeg_mem_src(info, bytes.data(), static_cast<unsigned long>(bytes.size()));
    jpeg_read_header(info, TRUE);
  });
  if (int64_t(width()) * height() > kMostPixels) {
    const std::string size = std::to_string(width()) + " x " + std::to_string(height());
    jpeg_abort_decompress(&state_->info);
    throw Error(ErrorKind::usage, "cannot decode the JPEG: " + size + " pixels are more than " + std::to_string(kMostPixels), name,
                "make it smaller, or remove the file if it is damaged");
  }
}

DecodedPart JpegDecoder::decode(PixelRect rect, int denominator) {
  jpeg_decompress_struct& info = state_->info;
  const bool cmyk = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  JDIMENSION left = 0, width = 0, top = 0, bottom = 0;
  state_->run([&] {
    info.scale_num = 1;
    info.scale_denom = unsigned(denominator);
    info.out_color_space = cmyk ? JCS_CMYK : JCS_EXT_RGBX;
    jpeg_start_decompress(&info);
    // Chroma is interpolated between neighbours: two more columns make the part equal to the same part of the whole image.
    constexpr int kMargin = 2;
    const int right = (rect.x + rect.width + denominator - 1) / denominator + kMargin;
    left = JDIMENSION(std::max(rect.x / denominator - kMargin, 0));
    width = std::min(JDIMENSION(right), info.output_width) - left;
    top = JDIMENSION(rect.y / denominator);
    bottom = std::min(JDIMENSION((rect.y + rect.height + denominator - 1) / denominator), info.output_height);
    if (width < info.output_width) jpeg_crop_scanline(&info, &left, &width);
  });
  const size_t stride = size_t(width) * 4;
  pixels_.resize(stride * (bottom - top));
  state_->run([&, to = pixels_.data()] {
    if (top > 0) jpeg_skip_scanlines(&info, top);
    while (info.output_scanline < bottom) {
      JSAMPROW rows[4];
      const JDIMENSION count = std::min(JDIMENSION(std::size(rows)), bottom - info.output_scanline);
      for (JDIMENSION i = 0; i < count; ++i) rows[i] = to + (info.output_scanline - top + i) * stride;
      jpeg_read_scanlines(&info, rows, count);
    }
    jpeg_abort_decompress(&info);  // rows below are not needed
  });
  if (cmyk) cmyk_to_rgb(pixels_);
  return {{int(left), int(top), int(width), int(bottom - top)}, pixels_.data(), stride};
}

std::string encode_jpeg(std::span<const uint8_t> rgb, int width, int height, int quality) {
  struct Encoder {
    Errors errors;
    jpeg_compress_struct info{};
    unsigned char* bytes = nullptr;
    unsigned long size = 0;
    ~Encoder() {
      jpeg_destroy_compress(&info);
      std::free(bytes);
    }
  } encoder;
  jpeg_compress_struct& info = encoder.info;
  info.err = &encoder.errors;
  const bool done = succeeds(encoder.errors, [&] {
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &encoder.bytes, &encoder.size);
    info.image_width = JDIMENSION(width);
    info.image_height = JDIMENSION(height);
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, quality, TRUE);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
      JSAMPROW row = const_cast<uint8_t*>(rgb.data()) + size_t(info.next_scanline) * size_t(width) * 3;
      jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
  });
  if (!done) throw Error(ErrorKind::failed, encoder.errors.text, "writing a JPEG");
  return {reinterpret_cast<char*>(encoder.bytes), encoder.size};
}

}  // namespace erg
