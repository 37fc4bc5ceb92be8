#include "widelimit/engine/cpu/algebra/gram_passes.hpp"

#include "widelimit/base/checksum.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/base/transpose.hpp"
#include "widelimit/engine/host/compensated_pass.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace widelimit::cpu {

namespace {

/// A square of this edge and its mirror image fit in the first-level cache.
constexpr Index square_edge = 32;
constexpr Index rows_of_a_strip = 64;
/// Entries and columns per block of sums, and rows of K per pass: a block of K stays in the second-level cache for all
/// of these columns.
constexpr Index entries_at_once = 256;
constexpr Index columns_at_once = 32;
constexpr Index rows_of_a_pass = 128;

Index strips_of(Index rows) { return (rows + rows_of_a_strip - 1) / rows_of_a_strip; }

/// Compares a square of the upper triangle with the transpose of its mirror image, row by row without branches, so that
/// it is memory-bound.
template <typename T>
void check_square(MatrixView<const T> k, std::span<const T> scale, T allowed, Index top, Index left, Symmetry& found) {
  const Index height = std::min(square_edge, k.rows - top);
  const Index width = std::min(square_edge, k.cols - left);
  std::array<T, square_edge * square_edge> memory;
  const MatrixView<T> mirror{memory.data(), height, width, width};
  transpose(k.block(left, top, width, height), mirror);
  for (Index i = 0; i < height && !found.invalid_entry; ++i) {
    const T unit = allowed * scale[usize(top + i)];
    const T* upper = k.row(top + i) + left;
    const T* lower = mirror.row(i);
    bool same = true;
    for (Index j = 0; j < width; ++j) same &= upper[j] - lower[j] == 0;  // false for infinities, too
    if (same) continue;
    found.equal = false;
    // NaN does not agree either.
    const auto agree = [&](Index j) { return std::abs(upper[j] - lower[j]) <= unit * scale[usize(left + j)]; };
    for (Index j = 0; j < width && !found.invalid_entry; ++j) {
      if (!agree(j)) found.invalid_entry = std::pair(top + i, left + j);
    }
  }
}

}  // namespace

template <std::floating_point T>
Symmetry symmetry_of(MatrixView<const T> k, double allowed, int threads) {
  std::vector<T> scale(usize(k.rows));
  for (Index i = 0; i < k.rows; ++i) scale[usize(i)] = std::sqrt(std::abs(k(i, i)));
  const Index bands = (k.rows + square_edge - 1) / square_edge;
  std::vector<Symmetry> found(usize(bands));
  parallel_for(bands, threads, [&](Index band) {
    const Index top = band * square_edge;
    for (Index left = top; left < k.cols && !found[usize(band)].invalid_entry; left += square_edge) {
      check_square<T>(k, scale, static_cast<T>(allowed), top, left, found[usize(band)]);
    }
  });
  Symmetry result;
  for (const Symmetry& band : found) {
    result.equal = result.equal && band.equal;
    if (!result.invalid_entry) result.invalid_entry = band.invalid_entry;
  }
  return result;
}

template <std::floating_point T>
std::uint64_t checksum_of(MatrixView<const T> k, int threads) {
  std::vector<std::uint64_t> sums(usize(strips_of(k.rows)));
  parallel_for(std::ssize(sums), threads, [&](Index strip) {
    std::uint64_t sum = sizeof(T);
    for (Index i = strip * rows_of_a_strip; i < std::min(k.rows, (strip + 1) * rows_of_a_strip); ++i) {
      sum = checksum(std::as_bytes(std::span(k.row(i), usize(k.cols))), sum);
    }
    sums[usize(strip)] = sum;
  });
  return checksum(std::as_bytes(std::span(sums)), static_cast<std::uint64_t>(k.rows));
}

template <std::floating_point T, std::floating_point Out>
double fill_scaled(MatrixView<const T> k, std::span<const double> scale, std::span<const double> shift,
                   MatrixView<Out> out, int threads, Progress* progress) {
  const Index n = k.rows;
  const auto scale_of = [&](Index i) { return scale.empty() ? 1.0 : scale[usize(i)]; };
  std::vector<double> sums(usize(n));
  const auto fill_row = [&](Index i) {
    const double own = scale_of(i);
    const double added = shift.empty() ? 0.0 : shift[usize(i)];
    double sum = 0;
    for (Index j = 0; j < n; ++j) sum += std::abs(own * scale_of(j) * static_cast<double>(k(i, j)));
    for (Index j = i; j < n; ++j) out(i, j) = static_cast<Out>(own * scale_of(j) * static_cast<double>(k(i, j)));
    out(i, i) = static_cast<Out>(own * own * static_cast<double>(k(i, i)) + added);
    sums[usize(i)] = sum + std::abs(added);
  };
  ProgressTicker ticker(progress, n, "rows");
  const auto fill = [&](Index strip) {
    for (Index i = strip * rows_of_a_strip; i < std::min(n, (strip + 1) * rows_of_a_strip); ++i) fill_row(i);
  };
  parallel_for(strips_of(n), threads, fill, [&](Index) { ticker.at(0); });
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

template <std::floating_point T>
void multiply_compensated(MatrixView<const T> k, MatrixView<const double> v, MatrixView<double> out, int threads,
                          Progress* progress) {
  const Index strips = (k.cols + entries_at_once - 1) / entries_at_once;
  const Index groups = (v.cols + columns_at_once - 1) / columns_at_once;
  SharedProgress shared(progress, strips * groups, "strips of a product");
  const auto strip = [&](Index task) {
    const Index begin = task / groups * entries_at_once;
    const Index first = task % groups * columns_at_once;
    const Index count = std::min(entries_at_once, k.cols - begin);
    const Index last = std::min(v.cols, first + columns_at_once);
    Matrix<double> high(last - first, count);
    Matrix<double> low(last - first, count);
    std::array<const T*, rows_of_a_pass> rows;
    std::array<double, rows_of_a_pass> factors;
    ProgressTicker ticker(shared.get(), k.rows, "rows");
    for (Index from = 0; from < k.rows; from += rows_of_a_pass) {
      ticker.at(from);
      for (Index c = first; c < last; ++c) {
        std::size_t terms = 0;
        for (Index j = from; j < std::min(k.rows, from + rows_of_a_pass); ++j) {
          if (v(j, c) == 0) continue;
          rows[terms] = k.row(j) + begin;
          factors[terms++] = v(j, c);
        }
        host::accumulate({rows.data(), terms}, factors.data(), high.view().row(c - first), low.view().row(c - first),
                         count);
      }
    }
    for (Index i = 0; i < count; ++i) {
      for (Index c = first; c < last; ++c) out(begin + i, c) = high(c - first, i) + low(c - first, i);
    }
  };
  parallel_for(strips * groups, threads, strip, [&](Index done) { shared.at(done); });
}

template <std::floating_point T>
double upper_norm(MatrixView<const T> a) {
  std::vector<double> sums(usize(a.rows));
  for (Index i = 0; i < a.rows; ++i) {
    double own = 0;
    for (Index j = i; j < a.cols; ++j) {
      const double size = std::abs(static_cast<double>(a(i, j)));
      own += size;
      if (j > i) sums[usize(j)] += size;
    }
    sums[usize(i)] += own;
  }
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

template Symmetry symmetry_of(MatrixView<const float>, double, int);
template Symmetry symmetry_of(MatrixView<const double>, double, int);
template std::uint64_t checksum_of(MatrixView<const float>, int);
template std::uint64_t checksum_of(MatrixView<const double>, int);
template double fill_scaled(MatrixView<const float>, std::span<const double>, std::span<const double>,
                            MatrixView<float>, int, Progress*);
template double fill_scaled(MatrixView<const float>, std::span<const double>, std::span<const double>,
                            MatrixView<double>, int, Progress*);
template double fill_scaled(MatrixView<const double>, std::span<const double>, std::span<const double>,
                            MatrixView<float>, int, Progress*);
template double fill_scaled(MatrixView<const double>, std::span<const double>, std::span<const double>,
                            MatrixView<double>, int, Progress*);
template void multiply_compensated(MatrixView<const float>, MatrixView<const double>, MatrixView<double>, int,
                                   Progress*);
template void multiply_compensated(MatrixView<const double>, MatrixView<const double>, MatrixView<double>, int,
                                   Progress*);
template double upper_norm(MatrixView<const float>);
template double upper_norm(MatrixView<const double>);

}  // namespace widelimit::cpu
