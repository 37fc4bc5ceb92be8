#pragma once

#include <png.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace widelimit {

/// Encodes rows as a PNG file with the given pixel type and bit depth; the palette is (1, 2, 3), (4, 5, 6).
inline std::string written_png(unsigned width, unsigned height, int colours, int bits,
                               const std::vector<std::uint8_t>& rows, int interlace = PNG_INTERLACE_NONE) {
  std::string file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp state, png_bytep bytes, std::size_t count) {
        static_cast<std::string*>(png_get_io_ptr(state))->append(reinterpret_cast<const char*>(bytes), count);
      },
      nullptr);
  png_set_IHDR(png, info, width, height, bits, colours, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  const png_color palette[] = {{1, 2, 3}, {4, 5, 6}};
  if (colours == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette, 2);
  png_write_info(png, info);
  const std::size_t stride = png_get_rowbytes(png, info);
  if (rows.size() != stride * height) throw std::invalid_argument("written_png: rows of another size");
  std::vector<png_bytep> starts;
  for (unsigned i = 0; i < height; ++i) starts.push_back(const_cast<png_bytep>(rows.data()) + i * stride);
  png_write_image(png, starts.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return file;
}

/// Returns an image of a constant value.
inline std::string grey_png(unsigned width, unsigned height, std::uint8_t value) {
  return written_png(width, height, PNG_COLOR_TYPE_GRAY, 8,
                     std::vector<std::uint8_t>(static_cast<std::size_t>(width) * height, value));
}

}  // namespace widelimit
