#include "widelimit/kernel/panels.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// Size of a tile's bookkeeping while its panels are in memory.
constexpr std::size_t bytes_per_tile = 128;
/// Upper bounds of the panel sizes in tile edges, which keep the list of tiles small.
constexpr Index most_row_edges = 512;
constexpr Index most_col_edges = 256;

Index edges(Index samples, Index edge) { return (samples + edge - 1) / edge; }

std::size_t bytes_of(const PanelNeeds& needs, Index rows, Index cols) {
  const Index loaded = needs.symmetric && rows >= needs.rows ? rows : rows + cols;
  const Index tiles =
      edges(rows, needs.edge) * (needs.symmetric ? edges(std::max(rows, cols), needs.edge) : edges(cols, needs.edge));
  return needs.fixed_bytes + static_cast<std::size_t>(loaded) * needs.sample_bytes +
         static_cast<std::size_t>(tiles) * bytes_per_tile;
}

bool fits(const PanelNeeds& needs, Index rows, Index cols) {
  const Index loaded = needs.symmetric && rows >= needs.rows ? rows : rows + cols;
  return bytes_of(needs, rows, cols) <= needs.budget && (needs.most == 0 || loaded <= needs.most) &&
         edges(rows, needs.edge) <= most_row_edges;
}

}  // namespace

PanelPlan plan_panels(const PanelNeeds& needs) {
  const auto plan = [&](Index rows, Index cols) {
    return PanelPlan{std::min(rows, needs.rows), std::min(cols, needs.cols), bytes_of(needs, rows, cols)};
  };
  if (fits(needs, needs.rows, needs.cols)) return plan(needs.rows, needs.cols);
  const auto cols_for = [&](Index row_edges) {
    return std::min(needs.cols, needs.edge * std::clamp<Index>(row_edges / 8, 1, most_col_edges));
  };
  // Bisection for the largest number of rows that fits; memory increases with it.
  Index low = 1;
  if (!fits(needs, low * needs.edge, cols_for(low))) {
    const std::size_t least = bytes_of(needs, needs.edge, needs.edge);
    if (least > needs.budget) {
      fail(Code::resource, {Remedy::more_memory},
           "this Gram matrix needs at least {} of memory, of which {} are samples and tiles in flight, but only {} are "
           "allowed; allow more memory or use fewer threads",
           bytes_text(static_cast<double>(least)), bytes_text(static_cast<double>(needs.fixed_bytes)),
           bytes_text(static_cast<double>(needs.budget)));
    }
    return plan(needs.edge, needs.edge);
  }
  Index high = most_row_edges + 1;
  while (high - low > 1) {
    const Index middle = (low + high) / 2;
    (fits(needs, middle * needs.edge, cols_for(middle)) ? low : high) = middle;
  }
  return plan(low * needs.edge, cols_for(low));
}

}  // namespace widelimit
