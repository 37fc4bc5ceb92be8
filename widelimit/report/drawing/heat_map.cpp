#include "widelimit/report/drawing/figures.hpp"
#include "widelimit/report/drawing/gnuplot.hpp"
#include "widelimit/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <variant>

namespace widelimit {

namespace {

template <typename T>
double mean_of(MatrixView<const T> matrix, Index row, Index rows, Index col, Index cols) {
  // Divided before summation, so that means near the largest double do not overflow.
  const double weight = 1.0 / (static_cast<double>(rows) * static_cast<double>(cols));
  double mean = 0.0;
  for (Index i = row; i < row + rows; ++i) {
    for (Index j = col; j < col + cols; ++j) {
      const auto value = static_cast<double>(matrix(i, j));
      if (!std::isfinite(value))
        fail(Code::numerical, "entry ({}, {}) of the matrix to draw is {}: only finite numbers can be drawn", i, j,
             value);
      mean += weight * value;
    }
  }
  return mean;
}

template <typename T>
Matrix<double> means_of(MatrixView<const T> matrix, Index edge) {
  const Index rows = std::min(matrix.rows, edge);
  const Index cols = std::min(matrix.cols, edge);
  Matrix<double> means(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    const Index top = i * matrix.rows / rows;
    const Index bottom = (i + 1) * matrix.rows / rows;
    for (Index j = 0; j < cols; ++j) {
      const Index left = j * matrix.cols / cols;
      const Index right = (j + 1) * matrix.cols / cols;
      means(i, j) = mean_of(matrix, top, bottom - top, left, right - left);
    }
  }
  return means;
}

}  // namespace

Matrix<double> block_means(MatrixView<const double> matrix, Index edge) { return means_of(matrix, edge); }
Matrix<double> block_means(MatrixView<const float> matrix, Index edge) { return means_of(matrix, edge); }

namespace {

/// Maximum number of cells along one edge: even for noise, which PNG cannot compress, the SVG stays below 300 kB.
constexpr Index largest_edge = 240;

constexpr int plot_edge = 400;

void require_bands(const std::vector<Band>& bands, Index count, std::string_view axis) {
  Index begin = 0;
  for (const Band& band : bands) {
    if (band.end < begin) fail(Code::usage, "band \"{}\" of the {} ends before it starts", band.name, axis);
    begin = band.end;
  }
  if (!bands.empty() && begin != count)
    fail(Code::usage, "the bands of the {} end at {} instead of {}", axis, begin, count);
}

/// Cells as drawn: gnuplot needs at least two cells along each edge, so a single row or column is duplicated.
struct Cells {
  std::string bytes;
  Index rows = 0;
  Index cols = 0;
};

Cells cells_of(const Matrix<double>& means) {
  Cells cells{"", std::max<Index>(means.rows(), 2), std::max<Index>(means.cols(), 2)};
  cells.bytes.resize(sizeof(double) * static_cast<std::size_t>(cells.rows * cells.cols));
  char* place = cells.bytes.data();
  for (Index i = 0; i < cells.rows; ++i) {
    for (Index j = 0; j < cells.cols; ++j, place += sizeof(double)) {
      const double value = means(std::min(i, means.rows() - 1), std::min(j, means.cols() - 1));
      std::memcpy(place, &value, sizeof(double));
    }
  }
  return cells;
}

/// Sets the colour range to that of the drawn entries; a constant matrix gets the middle of a small range.
void set_colours(Drawing& drawing, const Matrix<double>& means, const HeatMapOptions& options) {
  const double* begin = means.data();
  const auto [least, most] = std::minmax_element(begin, begin + means.rows() * means.cols());
  const auto [low, high] = options.range.value_or(std::pair(*least, *most));
  const double margin = low == high ? std::max(std::fabs(low) * 1e-3, 1e-300) : 0.0;
  drawing.line("set palette defined ({})", map_palette());
  drawing.line("set cbrange [{}:{}]", low - margin, high + margin);
  drawing.line("set colorbox user origin graph 1.04, graph 0 size graph 0.035, graph 1");
}

/// Axis with band names at the band centres; bands too narrow for a name get boundary lines only. Without bands, few
/// samples are treated as bands of one, labelled by number.
struct BandedAxis {
  bool counts = false;  ///< no bands: default tics of gnuplot
  std::vector<std::string> names;
  std::vector<double> middles;
  std::vector<Index> boundaries;
  int widest = 0;          ///< width of the longest name in pixels
  double narrowest = 1.0;  ///< width of the narrowest named band, as a fraction of the axis
};

BandedAxis banded(const std::vector<Band>& bands, Index count, int pixels) {
  constexpr double line_height = 14;
  BandedAxis axis;
  Index begin = 0;
  for (const Band& band : bands) {
    const double width = static_cast<double>(band.end - begin) / static_cast<double>(count);
    if (width * pixels >= line_height) {
      axis.names.push_back(shorten(clean_text(band.name), 18));
      axis.middles.push_back(static_cast<double>(begin + band.end) / 2);
      axis.widest = std::max(axis.widest, text_width(axis.names.back()));
      axis.narrowest = std::min(axis.narrowest, width);
    }
    if (band.end > begin && band.end < count) axis.boundaries.push_back(band.end);
    begin = band.end;
  }
  return axis;
}

BandedAxis numbered(Index count, int pixels) {
  constexpr Index most_numbered = 12;
  std::vector<Band> bands;
  if (count <= most_numbered)
    for (Index i = 0; i < count; ++i) bands.push_back({std::to_string(i), i + 1});
  BandedAxis axis = banded(bands, count, pixels);
  axis.boundaries.clear();
  axis.counts = bands.empty();
  return axis;
}

BandedAxis axis_of(const std::vector<Band>& bands, Index count, int pixels) {
  return bands.empty() ? numbered(count, pixels) : banded(bands, count, pixels);
}

/// Returns whether column names must be rotated since the longest does not fit into the narrowest band.
bool needs_rotation(const BandedAxis& axis) { return axis.widest + 6 > axis.narrowest * plot_edge; }

void set_tics(Drawing& drawing, char name, const BandedAxis& axis, bool turned) {
  if (axis.counts) return;
  std::string tics;
  for (std::size_t k = 0; k < axis.names.size(); ++k)
    tics += fmt::format("{}{} {}", k == 0 ? "" : ", ", quote_tic(axis.names[k]), axis.middles[k]);
  drawing.line("set {}tics ({}) scale 0 {}", name, tics, turned ? "rotate by 90 right" : "");
  const std::string_view line = name == 'x' ? "set arrow from first {0}, graph 0 to first {0}, graph 1 {1}"
                                            : "set arrow from graph 0, first {0} to graph 1, first {0} {1}";
  for (const Index boundary : axis.boundaries)
    drawing.line("{}", fmt::format(fmt::runtime(line), boundary, "nohead front linecolor rgb '#66ffffff'"));
}

Layout layout_of(const HeatMapOptions& options, const BandedAxis& down, const BandedAxis& across, int height) {
  const int names_margin = down.counts ? 52 : down.widest + 24;
  const int names_below = needs_rotation(across) ? across.widest + 14 : 26;
  return {.plot_width = plot_edge,
          .plot_height = height,
          .left = names_margin + (options.row_label.empty() ? 0 : 24),
          .right = options.value_label.empty() ? 96 : 116,
          .bottom = names_below + (options.column_label.empty() ? 10 : 34),
          .x_label = options.column_label,
          .y_label = options.row_label,
          .right_label = options.value_label};
}

/// Plots the cells such that sample i covers [i, i + 1] of its axis.
void plot(Drawing& drawing, const Matrix<double>& means, double rows, double cols) {
  const Cells cells = cells_of(means);
  const double dx = cols / static_cast<double>(cells.cols);
  const double dy = rows / static_cast<double>(cells.rows);
  drawing.data("cells", cells.bytes);
  drawing.line("plot 'cells' binary array=({},{}) format='%float64' origin=({},{}) dx={} dy={} with image notitle",
               cells.cols, cells.rows, dx / 2, dy / 2, dx, dy);
}

template <typename T>
Figure draw(MatrixView<const T> matrix, const HeatMapOptions& options) {
  if (matrix.rows <= 0 || matrix.cols <= 0)
    fail(Code::usage, "a heat map of a {} by {} matrix is empty", matrix.rows, matrix.cols);
  require_bands(options.row_bands, matrix.rows, "rows");
  require_bands(options.column_bands, matrix.cols, "columns");
  const Matrix<double> means = block_means(matrix, largest_edge);
  const auto rows = static_cast<double>(matrix.rows);
  const auto cols = static_cast<double>(matrix.cols);
  const int height = static_cast<int>(plot_edge * std::clamp(rows / cols, 0.5, 1.0));
  const BandedAxis across = axis_of(options.column_bands, matrix.cols, plot_edge);
  const BandedAxis down = axis_of(options.row_bands, matrix.rows, height);

  Drawing drawing(options.title, layout_of(options, down, across, height));
  set_colours(drawing, means, options);
  drawing.line("set border 0");
  drawing.line("set xrange [0:{}]", matrix.cols);
  drawing.line("set yrange [{}:0]", matrix.rows);
  set_tics(drawing, 'x', across, needs_rotation(across));
  set_tics(drawing, 'y', down, false);
  plot(drawing, means, rows, cols);

  Figure figure = drawing.render();
  if (means.rows() < matrix.rows || means.cols() < matrix.cols)
    figure.note = fmt::format("Each cell is the mean of about {:.1f} × {:.1f} entries of {} × {}.",
                              rows / static_cast<double>(means.rows()), cols / static_cast<double>(means.cols()),
                              matrix.rows, matrix.cols);
  return figure;
}

}  // namespace

Figure heat_map(MatrixView<const double> matrix, const HeatMapOptions& options) { return draw(matrix, options); }
Figure heat_map(MatrixView<const float> matrix, const HeatMapOptions& options) { return draw(matrix, options); }
Figure heat_map(const AnyMatrix& matrix, const HeatMapOptions& options) {
  return std::visit([&options](const auto& values) { return heat_map(values.view(), options); }, matrix);
}

}  // namespace widelimit
