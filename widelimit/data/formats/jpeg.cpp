#include "widelimit/data/formats/jpeg.hpp"

#include "widelimit/base/error.hpp"

#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <string>

#include <jpeglib.h>

namespace widelimit {

namespace {

/// libjpeg calls error_exit and expects it not to return. It must not throw through C frames either, so it jumps back.
struct Escape {
  jpeg_error_mgr manager;  // first: libjpeg hands back a pointer to it
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX];
};

void escape(j_common_ptr state) {
  auto* handler = reinterpret_cast<Escape*>(state->err);
  handler->manager.format_message(state, handler->message);
  std::longjmp(handler->back, 1);
}

void stay_silent(j_common_ptr) {}

/// Nothing with a destructor lives in this frame, since a jump would skip it. Returns whether all went well.
bool decode(jpeg_decompress_struct& state, Escape& handler, Bytes bytes, Index most_pixels, Image& image) {
  if (setjmp(handler.back) != 0) return false;
  jpeg_create_decompress(&state);
  jpeg_mem_src(&state, reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&state, TRUE);
  if (static_cast<Index>(state.image_width) * static_cast<Index>(state.image_height) > most_pixels) {
    std::snprintf(handler.message, sizeof(handler.message), "%u x %u pixels are too many", state.image_width,
                  state.image_height);
    return false;
  }
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
    // libjpeg fills what is missing with grey and only warns.
    state.err->format_message(reinterpret_cast<j_common_ptr>(&state), handler.message);
    return false;
  }
  return true;
}

}  // namespace

Image decode_jpeg(Bytes bytes, const std::string& source, Index most_pixels) {
  if (bytes.empty()) fail(Code::input, "{}: an empty file is not a JPEG", source);
  Escape handler{};
  jpeg_decompress_struct state{};
  state.err = jpeg_std_error(&handler.manager);
  handler.manager.error_exit = escape;
  handler.manager.output_message = stay_silent;
  Image image;
  const bool good = decode(state, handler, bytes, most_pixels, image);
  jpeg_destroy_decompress(&state);
  if (!good) fail(Code::input, "{}: not a readable JPEG ({})", source, handler.message);
  return image;
}

}  // namespace widelimit
