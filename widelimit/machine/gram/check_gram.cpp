#include "widelimit/machine/gram/check_gram.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/base/transpose.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {

namespace {

/// Squares of this edge and their mirror images stay in the first-level cache.
constexpr Index edge = 32;
/// Other people's kernels round the two halves differently by a few units in the last place.
constexpr int ulps = 64;
/// Sums of larger entries may leave float64.
constexpr double largest_entry = 1e300;

template <typename T>
std::vector<T> scales(const MatrixView<const T>& k) {
  std::vector<T> result(static_cast<std::size_t>(k.rows));
  for (Index i = 0; i < k.rows; ++i) {
    if (!std::isfinite(k(i, i))) fail(Code::input, "entry ({}, {}) of the Gram matrix is {}", i, i, k(i, i));
    if (static_cast<double>(std::abs(k(i, i))) > largest_entry) {
      fail(Code::input, "entry ({}, {}) of the Gram matrix is {:.3g}; divide the kernel by a constant", i, i, k(i, i));
    }
    result[static_cast<std::size_t>(i)] = std::sqrt(std::abs(k(i, i)));
  }
  return result;
}

template <typename T>
[[noreturn]] void refuse(const MatrixView<const T>& k, Index i, Index j) {
  if (!std::isfinite(k(i, j))) fail(Code::input, "entry ({}, {}) of the Gram matrix is {}", i, j, k(i, j));
  if (!std::isfinite(k(j, i))) fail(Code::input, "entry ({}, {}) of the Gram matrix is {}", j, i, k(j, i));
  fail(Code::input, "the Gram matrix is not symmetric: entry ({}, {}) is {}, entry ({}, {}) is {}", i, j, k(i, j), j, i,
       k(j, i));
}

/// A square of the upper triangle beside the transpose of its mirror image, row by row without a branch, so that the
/// time goes to memory. Whether the two are equal.
template <typename T>
bool check_square(const MatrixView<const T>& k, const std::vector<T>& scale, Index top, Index left) {
  const Index height = std::min(edge, k.rows - top);
  const Index width = std::min(edge, k.cols - left);
  std::array<T, edge * edge> memory;
  const MatrixView<T> mirror{memory.data(), height, width, width};
  transpose(k.block(left, top, width, height), mirror);
  bool equal = true;
  for (Index i = 0; i < height; ++i) {
    const T unit = ulps * std::numeric_limits<T>::epsilon() * scale[at(top + i)];
    const T* upper = k.row(top + i) + left;
    const T* lower = mirror.row(i);
    bool same = true;
    for (Index j = 0; j < width; ++j) same &= upper[j] - lower[j] == 0;  // infinity is not the same as itself here
    if (same) continue;
    equal = false;
    const auto agree = [&](Index j) { return std::abs(upper[j] - lower[j]) <= unit * scale[at(left + j)]; };
    // What is not a number does not agree either.
    for (Index j = 0; j < width; ++j) {
      if (!agree(j)) refuse(k, top + i, left + j);
    }
  }
  return equal;
}

}  // namespace

double check_gram(const AnyView& k, int threads) {
  return std::visit(
      [&]<typename T>(const MatrixView<const T>& view) -> double {
        if (view.rows != view.cols) {
          fail(Code::input, "a Gram matrix is square; this one is {} by {}", view.rows, view.cols);
        }
        if (view.rows == 0) fail(Code::input, "the Gram matrix is empty; there are no samples to fit");
        const auto scale = scales(view);
        std::atomic<bool> equal = true;
        parallel_for((view.rows + edge - 1) / edge, team_size(threads), [&](Index band) {
          const Index top = band * edge;
          bool here = true;
          for (Index left = top; left < view.cols; left += edge) here &= check_square(view, scale, top, left);
          if (!here) equal = false;
        });
        return equal ? 0 : ulps * static_cast<double>(std::numeric_limits<T>::epsilon());
      },
      k);
}

}  // namespace widelimit
