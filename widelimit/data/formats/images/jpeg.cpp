#include "widelimit/data/formats/images/jpeg.hpp"

#include "widelimit/base/error.hpp"

#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <string>

#include <jpeglib.h>

namespace widelimit {

namespace {

/// libjpeg requires that error_exit does not return, and exceptions must not pass through C frames; hence longjmp.
struct Escape {
  jpeg_error_mgr manager;  // first member: libjpeg passes a pointer to it
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX];
};

void escape(j_common_ptr state) {
  auto* handler = reinterpret_cast<Escape*>(state->err);
  handler->manager.format_message(state, handler->message);
  std::longjmp(handler->back, 1);
}

void stay_silent(j_common_ptr) {}

struct Decompressor {
  jpeg_decompress_struct state{};
  Decompressor() = default;
  ~Decompressor() { jpeg_destroy_decompress(&state); }
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;
};

/// The next two functions must not have locals with destructors, since longjmp skips them. They return false after an
/// error.
bool read_header(jpeg_decompress_struct& state, Escape& handler, Bytes bytes, Index most_pixels) {
  if (setjmp(handler.back) != 0) return false;
  jpeg_create_decompress(&state);
  jpeg_mem_src(&state, reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&state, TRUE);
  if (static_cast<Index>(state.image_width) * static_cast<Index>(state.image_height) > most_pixels) {
    std::snprintf(handler.message, sizeof(handler.message), "%u x %u pixels are too many", state.image_width,
                  state.image_height);
    return false;
  }
  return true;
}

bool decode(jpeg_decompress_struct& state, Escape& handler, Image& image) {
  if (setjmp(handler.back) != 0) return false;
  state.out_color_space = JCS_RGB;
  jpeg_start_decompress(&state);
  image.height = static_cast<Index>(state.output_height);
  image.width = static_cast<Index>(state.output_width);
  image.rgb.resize(static_cast<std::size_t>(3 * image.height * image.width));
  while (state.output_scanline < state.output_height) {
    JSAMPROW row = image.rgb.data() + static_cast<std::size_t>(state.output_scanline) * 3 * state.output_width;
    jpeg_read_scanlines(&state, &row, 1);
  }
  jpeg_finish_decompress(&state);
  if (state.err->num_warnings > 0) {
    // libjpeg fills missing data with grey and only warns.
    state.err->format_message(reinterpret_cast<j_common_ptr>(&state), handler.message);
    return false;
  }
  return true;
}

}  // namespace

Image decode_jpeg(Bytes bytes, const std::string& source, Index most_pixels, const ReadLimits& limits) {
  if (bytes.empty()) fail(Code::input, "{}: an empty file is not a JPEG", source);
  Escape handler{};
  Decompressor decompressor;
  jpeg_decompress_struct& state = decompressor.state;
  state.err = jpeg_std_error(&handler.manager);
  handler.manager.error_exit = escape;
  handler.manager.output_message = stay_silent;
  Image image;
  bool good = read_header(state, handler, bytes, most_pixels);
  if (good) {
    // A progressive file is held in memory as two-byte coefficients, beside the pixels.
    constexpr double pixel_bytes = 3 + 3 * 2;
    limits.require(pixel_bytes * static_cast<double>(state.image_width) * static_cast<double>(state.image_height),
                   source);
    image.grey = state.jpeg_color_space == JCS_GRAYSCALE;
    good = decode(state, handler, image);
  }
  if (!good) fail(Code::input, "{}: not a readable JPEG ({})", source, handler.message);
  return image;
}

}  // namespace widelimit
