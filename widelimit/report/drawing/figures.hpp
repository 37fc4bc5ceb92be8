#pragma once

#include "widelimit/base/samples.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace widelimit {

/// A picture as SVG, drawn by gnuplot on a transparent ground. Its ink is `currentColor`, a grey that can be read on
/// light and dark alike until the page around it says better; colour-blind readers can distinguish its colours.
struct Figure {
  std::string svg = {};
  std::string title = {};
  std::string note = {};  ///< what the picture leaves out, to be printed with it; empty where it shows everything
};

/// Samples [end of the band before, end) of an axis belong together: a class.
struct Band {
  std::string name = {};
  Index end = 0;
};

struct HeatMapOptions {
  std::string title = {};
  std::string row_label = {};
  std::string column_label = {};
  std::string value_label = {};         ///< beside the colour scale
  std::vector<Band> row_bands = {};     ///< where classes end; empty: the axis counts samples
  std::vector<Band> column_bands = {};  ///< the last band ends with the axis
  /// What the colours span, for maps that are compared; else the entries drawn. Entries beyond it have its colours.
  std::optional<std::pair<double, double>> range = {};
};

/// A matrix as colours, its first row on top. A large one is drawn by block means, which Figure::note then says; the
/// SVG stays below 300 kB.  O(rows·cols).
[[nodiscard]] Figure heat_map(MatrixView<const double> matrix, const HeatMapOptions& options);
[[nodiscard]] Figure heat_map(MatrixView<const float> matrix, const HeatMapOptions& options);
[[nodiscard]] Figure heat_map(const AnyMatrix& matrix, const HeatMapOptions& options);

/// The matrix at most `edge` × `edge`, each entry the mean of the block it stands for; blocks differ by at most one
/// row or column in size. Error{numerical} names the first entry that is not finite.  O(rows·cols).
[[nodiscard]] Matrix<double> block_means(MatrixView<const double> matrix, Index edge);
[[nodiscard]] Matrix<double> block_means(MatrixView<const float> matrix, Index edge);

enum class AxisScale { linear, log };

/// How the points of a series are shown: joined, with dots where they are few; joined only; or as rings that mark
/// places on other lines.
enum class Stroke { dotted_line, line, rings };

/// One named line, its points joined in the order given.
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

/// Lines over common axes. Points that a logarithmic axis cannot show are left out, which Figure::note then says;
/// of many points that share a pixel column the first, lowest, highest and last are kept.
[[nodiscard]] Figure curves(const std::vector<Series>& series, const CurvesOptions& options);

/// Curves by checkpoint in one strip below a map.
struct TimelineStrip {
  std::string label = {};           ///< of its axis
  std::vector<Series> series = {};  ///< x: numbers of checkpoints, from 0
  AxisScale scale = AxisScale::linear;
};

/// Distances between checkpoints as colours, and strips of curves below it over the same axis, which counts checkpoints
/// and is labelled by `names`. Error{usage} where names and matrix do not fit.
[[nodiscard]] Figure timeline(MatrixView<const double> distances, const std::vector<std::string>& names,
                              const std::vector<TimelineStrip>& strips, const HeatMapOptions& options);

/// One value for every category.
struct BarSeries {
  std::string name = {};
  std::vector<double> values = {};
  std::vector<std::pair<double, double>> intervals = {};  ///< around them, as whiskers; none, or one for each
};

struct BarsOptions {
  std::string title = {};
  std::string value_label = {};
};

/// Horizontal bars from zero, a group for every category from the top down, each with its value written at its end.
[[nodiscard]] Figure bars(const std::vector<std::string>& categories, const std::vector<BarSeries>& series,
                          const BarsOptions& options);

}  // namespace widelimit
