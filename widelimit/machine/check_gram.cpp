#include "widelimit/machine/check_gram.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace widelimit {

namespace {

/// Squares of this edge and their mirror images stay in the first-level cache.
constexpr Index edge = 32;
/// Other people's kernels round the two halves differently by a few units in the last place.
constexpr int ulps = 64;

template <typename T>
std::vector<T> scales(const MatrixView<const T>& k) {
  std::vector<T> result(static_cast<std::size_t>(k.rows));
  for (Index i = 0; i < k.rows; ++i) {
    if (!std::isfinite(k(i, i))) fail(Code::input, "entry ({}, {}) of the Gram matrix is {}", i, i, k(i, i));
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

/// Rows begin … begin + edge of the upper triangle against the columns of the lower one.
template <typename T>
void check_band(const MatrixView<const T>& k, const std::vector<T>& scale, Index begin) {
  const Index end = std::min(begin + edge, k.rows);
  for (Index left = begin; left < k.cols; left += edge) {
    const Index right = std::min(left + edge, k.cols);
    for (Index i = begin; i < end; ++i) {
      const T unit = ulps * std::numeric_limits<T>::epsilon() * scale[static_cast<std::size_t>(i)];
      for (Index j = std::max(left, i + 1); j < right; ++j) {
        // Negated, so that what is not a number does not pass.
        if (!(std::abs(k(i, j) - k(j, i)) <= unit * scale[static_cast<std::size_t>(j)])) refuse(k, i, j);
      }
    }
  }
}

}  // namespace

void check_gram(const AnyView& k, int threads) {
  std::visit(
      [&](const auto& view) {
        if (view.rows != view.cols) {
          fail(Code::input, "a Gram matrix is square; this one is {} by {}", view.rows, view.cols);
        }
        if (view.rows == 0) fail(Code::input, "the Gram matrix is empty; there are no samples to fit");
        const auto scale = scales(view);
        parallel_for((view.rows + edge - 1) / edge, team_size(threads),
                     [&](Index band) { check_band(view, scale, band * edge); });
      },
      k);
}

}  // namespace widelimit
