#include "widelimit/report/drawing/pictures.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/report/drawing/png.hpp"
#include "widelimit/report/drawing/svg.hpp"
#include "widelimit/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace widelimit {
namespace {

constexpr Index longest_picture_edge = 512;
constexpr int picture_edge = 84;  ///< pixels of a picture on the page
constexpr int picture_gap = 6;    ///< between those of one sample
constexpr int tile_gap = 22;      ///< between samples
constexpr int sheet_width = 640;  ///< of all, at most
constexpr int words_height = 34;  ///< below the pictures
constexpr int title_height = 36;  ///< above all
constexpr std::size_t longest_words = 36;

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
        fail(Code::usage, "a picture of {} numbers where the shape is {}", picture.size(), to_string(shape));
      }
    }
  }
  const int tile_width = static_cast<int>(most) * (picture_edge + picture_gap) - picture_gap + tile_gap;
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
                       escape_markup(shorten(clean_text(samples[k].words), longest_words)));
  }
  svg += "</g>\n</svg>";
  return {.svg = std::move(svg), .title = title};
}

}  // namespace widelimit
