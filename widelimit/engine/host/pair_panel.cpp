#include "widelimit/engine/host/pair_panel.hpp"

#include <algorithm>
#include <array>

namespace widelimit::host {

Index PairPanel::depth(Index cols) {
  const Index parts = std::max<Index>(1, (cols + most_depth - 1) / most_depth);
  return std::max<Index>(1, (cols + parts - 1) / parts);
}

namespace {

/// Packs one group, given pointers to its rows. `sums` accumulates each row by partial sums if distances are needed,
/// else null.
template <Index width>
void pack_group(const std::array<const double*, usize(width)>& rows, const std::array<double, usize(width)>& means,
                Index cols, double* to, double* sums) {
  const Index depth = PairPanel::depth(cols);
  for (Index begin = 0; begin < cols; begin += depth) {
    std::array<double, usize(width)> part{};
    for (Index k = begin; k < std::min(cols, begin + depth); ++k) {
      std::array<double, usize(width)> column{};
      for (std::size_t r = 0; r < usize(width); ++r) column[r] = rows[r][k];
      for (std::size_t r = 0; r < usize(width); ++r) to[r] = column[r] - means[r];
      to += width;
      if (sums == nullptr) continue;
      for (std::size_t r = 0; r < usize(width); ++r) part[r] += column[r];
      to = std::copy(column.begin(), column.end(), to);
    }
    for (std::size_t r = 0; sums != nullptr && r < usize(width); ++r) sums[r] += part[r];
  }
}

template <Index width>
void pack_rows(MatrixView<const double> rows, const double* means, MatrixView<double> groups, double* sums) {
  const std::vector<double> absent(usize(rows.cols), 0.0);
  for (Index g = 0; g < groups.rows; ++g) {
    std::array<const double*, usize(width)> from{};
    std::array<double, usize(width)> mean{};
    for (Index r = 0; r < width; ++r) {
      const Index i = g * width + r;
      from[usize(r)] = i < rows.rows ? rows.row(i) : absent.data();
      mean[usize(r)] = i < rows.rows ? means[i] : 0;
    }
    pack_group<width>(from, mean, rows.cols, groups.row(g), sums != nullptr ? sums + g * width : nullptr);
  }
}

}  // namespace

PairPanel::PairPanel(MatrixView<const double> rows, const double* means, Side side, bool distances)
    : rows_(rows.rows), cols_(rows.cols) {
  const Index width = side == Side::left ? left_group : right_group;
  const Index count = (rows_ + width - 1) / width;
  step_ = distances ? 2 * width : width;
  numbers_ = Matrix<double>(count, step_ * cols_, Content::unset);
  if (distances) sums_.assign(usize(count * width), 0.0);
  const auto pack = side == Side::left ? &pack_rows<left_group> : &pack_rows<right_group>;
  pack(rows, means, numbers_.view(), distances ? sums_.data() : nullptr);
}

}  // namespace widelimit::host
