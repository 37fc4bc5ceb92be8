#pragma once

#include "widelimit/base/samples.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace widelimit {

struct Histogram;

/// SVG picture, drawn by gnuplot on a transparent background. Lines and text are `currentColor`, by default a grey that
/// is readable on light and dark pages; the colours are distinguishable with colour blindness.
struct Figure {
  std::string svg = {};
  std::string title = {};
  std::string note = {};  ///< what the picture omits, to be printed with it; empty if nothing
};

/// Range [end of the previous band, end) of an axis, e.g. the samples of a class.
struct Band {
  std::string name = {};
  Index end = 0;
};

struct HeatMapOptions {
  std::string title = {};
  std::string row_label = {};
  std::string column_label = {};
  std::string value_label = {};         ///< label of the colour scale
  std::vector<Band> row_bands = {};     ///< class boundaries; empty: the axis shows sample numbers
  std::vector<Band> column_bands = {};  ///< the last band must end at the number of columns
  /// Range of the colour scale, e.g. for comparing maps; absent: the range of the drawn entries. Entries outside are
  /// clipped.
  std::optional<std::pair<double, double>> range = {};
};

/// Draws a matrix as colours, first row on top. A large matrix is drawn by block means, as Figure::note then says; the
/// SVG stays below 300 kB. Cost: O(rows·cols).
[[nodiscard]] Figure heat_map(MatrixView<const double> matrix, const HeatMapOptions& options);
[[nodiscard]] Figure heat_map(MatrixView<const float> matrix, const HeatMapOptions& options);
[[nodiscard]] Figure heat_map(const AnyMatrix& matrix, const HeatMapOptions& options);

/// Reduces the matrix to at most `edge` × `edge` block means; block sizes differ by at most one row or column. Throws
/// Error{numerical} with the first non-finite entry. Cost: O(rows·cols).
[[nodiscard]] Matrix<double> block_means(MatrixView<const double> matrix, Index edge);
[[nodiscard]] Matrix<double> block_means(MatrixView<const float> matrix, Index edge);

enum class AxisScale { linear, log };

/// Style of a series: connected points, with dots if they are few; lines only; or rings that mark points on other
/// lines.
enum class Stroke { dotted_line, line, rings };

/// Named line through points in the given order.
struct Series {
  std::string name = {};
  std::vector<double> x = {};
  std::vector<double> y = {};
  Stroke stroke = Stroke::dotted_line;
};

struct CurvesOptions {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  AxisScale x_scale = AxisScale::linear;
  AxisScale y_scale = AxisScale::linear;
};

/// Draws lines over common axes. Points that a logarithmic axis cannot show are omitted, as Figure::note then says; of
/// many points in one pixel column only the first, lowest, highest and last are drawn.
[[nodiscard]] Figure curves(const std::vector<Series>& series, const CurvesOptions& options);

/// Returns the outline of a histogram, as fractions of `samples`.
[[nodiscard]] Series histogram_outline(const std::string& name, const Histogram& histogram, std::size_t samples);

/// Curves over checkpoints, in one strip below a map.
struct TimelineStrip {
  std::string label = {};           ///< y label
  std::vector<Series> series = {};  ///< x: checkpoint numbers, from 0
  AxisScale scale = AxisScale::linear;
};

/// Draws distances between checkpoints as a heat map, with strips of curves below it over the same axis of checkpoints,
/// labelled with `names`. Throws Error{usage} if names and matrix differ in size.
[[nodiscard]] Figure timeline(MatrixView<const double> distances, const std::vector<std::string>& names,
                              const std::vector<TimelineStrip>& strips, const HeatMapOptions& options);

/// One value per category.
struct BarSeries {
  std::string name = {};
  std::vector<double> values = {};
  std::vector<std::pair<double, double>> intervals = {};  ///< error bars; empty, or one per value
};

struct BarsOptions {
  std::string title = {};
  std::string value_label = {};
};

/// Draws horizontal bars from zero, grouped by category from top to bottom, each with its value at its end.
[[nodiscard]] Figure bars(const std::vector<std::string>& categories, const std::vector<BarSeries>& series,
                          const BarsOptions& options);

}  // namespace widelimit
