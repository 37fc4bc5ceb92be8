#include "widelimit/report/drawing/pictures.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/report/drawing/gnuplot.hpp"
#include "widelimit/report/drawing/svg.hpp"
#include "widelimit/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace widelimit {

namespace {

void put_big_endian(std::string& bytes, std::uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>((value >> shift) & 0xFFU));
}

/// Returns the CRC-32 of a chunk's type and data, bit by bit, since pictures are a few kilobytes.
std::uint32_t cyclic_redundancy(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

std::uint32_t adler(std::string_view bytes) {
  std::uint32_t low = 1;
  std::uint32_t high = 0;
  for (const char byte : bytes) {
    low = (low + static_cast<unsigned char>(byte)) % 65521U;
    high = (high + low) % 65521U;
  }
  return (high << 16U) | low;
}

/// Returns a zlib stream of stored blocks, each of at most 65,535 bytes.
std::string stored(std::string_view bytes) {
  constexpr std::size_t longest = 0xFFFF;
  const std::uint32_t sum = adler(bytes);
  std::string stream = "\x78\x01";
  do {
    const std::size_t size = std::min(bytes.size(), longest);
    stream.push_back(size == bytes.size() ? '\x01' : '\x00');
    for (const std::size_t word : {size, ~size}) {
      stream.push_back(static_cast<char>(word & 0xFFU));
      stream.push_back(static_cast<char>((word >> 8U) & 0xFFU));
    }
    stream += bytes.substr(0, size);
    bytes.remove_prefix(size);
  } while (!bytes.empty());
  put_big_endian(stream, sum);
  return stream;
}

void put_chunk(std::string& file, std::string_view type, std::string_view data) {
  put_big_endian(file, static_cast<std::uint32_t>(data.size()));
  std::string checked(type);
  checked += data;
  file += checked;
  put_big_endian(file, cyclic_redundancy(checked));
}

}  // namespace

std::string png(std::span<const std::uint8_t> pixels, int width, int height, int channels) {
  constexpr int largest = 4096;
  const bool sizes = width > 0 && height > 0 && width <= largest && height <= largest;
  if (!sizes || (channels != 1 && channels != 3) ||
      pixels.size() != static_cast<std::size_t>(width) * static_cast<std::size_t>(height * channels)) {
    fail(Code::usage, "{} bytes are not a picture of {} by {} with {} channels", pixels.size(), width, height,
         channels);
  }
  std::string header;
  put_big_endian(header, static_cast<std::uint32_t>(width));
  put_big_endian(header, static_cast<std::uint32_t>(height));
  header.push_back('\x08');                           // bits per channel
  header.push_back(channels == 1 ? '\x00' : '\x02');  // grey or RGB
  header.append(3, '\x00');                           // deflate, filters per row, not interlaced
  std::string rows;
  const auto line = static_cast<std::size_t>(width * channels);
  for (std::size_t begin = 0; begin < pixels.size(); begin += line) {
    rows.push_back('\x00');  // no filter
    rows.append(reinterpret_cast<const char*>(pixels.data() + begin), line);
  }
  std::string file = "\x89PNG\r\n\x1a\n";
  put_chunk(file, "IHDR", header);
  put_chunk(file, "IDAT", stored(rows));
  put_chunk(file, "IEND", "");
  return file;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      word = (word << 8U) | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text.push_back(k <= count ? digits[(word >> (18U - 6U * static_cast<unsigned>(k))) & 63U] : '=');
    }
  }
  return text;
}

namespace {

constexpr Index longest_picture_edge = 512;
constexpr int picture_edge = 84;  ///< pixels per picture edge on the page
constexpr int picture_gap = 6;    ///< between pictures of a sample
constexpr int tile_gap = 22;      ///< between samples
constexpr int sheet_width = 640;  ///< maximum total width
constexpr int words_height = 34;  ///< below the pictures
constexpr int title_height = 36;  ///< above the sheet
constexpr std::size_t longest_words = 36;

std::string shown_words(const Pictured& sample) { return shorten(clean_text(sample.words), longest_words); }

/// Width of the longest text; its font is smaller than that of curves.
int words_width(std::span<const Pictured> samples) {
  int width = 0;
  for (const Pictured& sample : samples) width = std::max(width, text_width(shown_words(sample)) * 5 / 6);
  return width;
}

std::string picture_address(const std::vector<double>& values, const Shape& shape, double low, double high) {
  std::vector<std::uint8_t> pixels;
  pixels.reserve(values.size());
  const double range = high > low ? high - low : 1;
  for (const double value : values) {
    pixels.push_back(static_cast<std::uint8_t>(std::lround(255 * std::clamp((value - low) / range, 0.0, 1.0))));
  }
  return "data:image/png;base64," + base64(png(pixels, static_cast<int>(shape.width), static_cast<int>(shape.height),
                                               static_cast<int>(shape.channels)));
}

}  // namespace

std::optional<Shape> picture_shape(const Shape& sample) {
  Shape shape = sample;
  if (sample.is_vector()) {
    const auto edge = static_cast<Index>(std::llround(std::sqrt(static_cast<double>(sample.channels))));
    if (edge < 2 || edge * edge != sample.channels) return std::nullopt;
    shape = {edge, edge, 1};
  }
  const bool shown = shape.channels == 1 || shape.channels == 3;
  if (!shown || std::max(shape.height, shape.width) > longest_picture_edge) return std::nullopt;
  return shape;
}

Figure picture_sheet(std::span<const Pictured> samples, const Shape& shape, double low, double high,
                     const std::string& title) {
  std::size_t most = 1;
  for (const Pictured& sample : samples) {
    most = std::max(most, sample.pictures.size());
    for (const auto& picture : sample.pictures) {
      if (std::ssize(picture) != shape.size()) {
        fail(Code::usage, "a picture has {} numbers, but the shape is {}", picture.size(), to_string(shape));
      }
    }
  }
  const int pictures_width = static_cast<int>(most) * (picture_edge + picture_gap) - picture_gap;
  const int tile_width = std::max(pictures_width, words_width(samples)) + tile_gap;
  const int columns = std::max(1, sheet_width / tile_width);
  const int tile_height = picture_edge + words_height;
  const auto rows = (static_cast<int>(samples.size()) + columns - 1) / columns;
  const int width = std::min(columns, std::max(1, static_cast<int>(samples.size()))) * tile_width;
  const int height = title_height + rows * tile_height;
  std::string svg = fmt::format(
      "<svg color=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" xmlns=\"http://www.w3.org/2000/svg\">\n"
      "<title>{}</title>\n<g font-family=\"sans-serif\" fill=\"currentColor\">\n"
      "<text x=\"0\" y=\"18\" font-size=\"{}\" font-weight=\"600\">{}</text>\n",
      svg_ink, width, height, width, height, escape_markup(title), svg_title_size, escape_markup(title));
  for (std::size_t k = 0; k < samples.size(); ++k) {
    const int x = static_cast<int>(k) % columns * tile_width;
    const int y = title_height + static_cast<int>(k) / columns * tile_height;
    for (std::size_t p = 0; p < samples[k].pictures.size(); ++p) {
      svg += fmt::format(
          "<image style=\"image-rendering:pixelated\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" href=\"{}\"/>\n",
          x + static_cast<int>(p) * (picture_edge + picture_gap), y, picture_edge, picture_edge,
          picture_address(samples[k].pictures[p], shape, low, high));
    }
    svg += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"12\">{}</text>\n", x, y + picture_edge + 16,
                       escape_markup(shown_words(samples[k])));
  }
  svg += "</g>\n</svg>";
  return {.svg = std::move(svg), .title = title};
}

}  // namespace widelimit
