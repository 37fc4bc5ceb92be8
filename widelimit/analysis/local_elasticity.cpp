#include "widelimit/analysis/local_elasticity.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"

#include <cmath>
#include <string_view>
#include <vector>

namespace widelimit {

namespace {

/// Returns 1/√K(x,x).
std::vector<double> scales(std::span<const double> diagonal, std::string_view points) {
  std::vector<double> result;
  result.reserve(diagonal.size());
  for (const double value : diagonal) {
    if (!(value > 0) || !std::isfinite(value)) {
      fail(Code::input, "K(x, x) of {} {} is {}; similarities need a positive number", points, result.size(), value);
    }
    result.push_back(1 / std::sqrt(value));
  }
  return result;
}

/// Running mean.
struct Mean {
  double sum = 0;
  double count = 0;
  void add(double total, Index terms) {
    sum += total;
    count += static_cast<double>(terms);
  }
  [[nodiscard]] double value() const { return sum / count; }
};

/// Computes the means over pairs (i, j) with !skip(i, j).
template <typename T, typename Skip>
LocalElasticity compare(MatrixView<const T> k, std::span<const Index> row_labels, std::span<const double> row_scales,
                        std::span<const Index> col_labels, std::span<const double> col_scales, const Skip& skip) {
  Mean same;
  Mean different;
  interruptible_rows(k.rows, k.cols, [&](Index i) {
    double equal = 0;
    double other = 0;
    Index equals = 0;
    Index others = 0;
    for (Index j = 0; j < k.cols; ++j) {
      if (skip(i, j)) continue;
      const double entry = static_cast<double>(k(i, j)) * col_scales[usize(j)];
      if (!std::isfinite(entry)) fail(Code::input, "entry ({}, {}) of the kernel is {}", i, j, k(i, j));
      const bool alike = row_labels[usize(i)] == col_labels[usize(j)];
      (alike ? equal : other) += entry;
      ++(alike ? equals : others);
    }
    same.add(equal * row_scales[usize(i)], equals);
    different.add(other * row_scales[usize(i)], others);
  });
  if (same.count == 0 || different.count == 0) {
    fail(Code::input, "there is no pair of samples of {}; local elasticity needs both kinds of pairs",
         same.count == 0 ? "one class" : "different classes");
  }
  LocalElasticity result{.ratio = 0, .same = same.value(), .different = different.value()};
  const double both = result.same + result.different;
  if (!(both > 0)) {
    fail(Code::numerical,
         "mean similarities are {:.3g} within and {:.3g} between classes; the ratio needs a positive sum", result.same,
         result.different);
  }
  result.ratio = result.same / both;
  return result;
}

void check_labels(std::span<const Index> labels, Index points, std::string_view what) {
  if (std::ssize(labels) != points) fail(Code::input, "{} labels for {} {}", labels.size(), points, what);
}

}  // namespace

LocalElasticity local_elasticity(const AnyView& k, std::span<const Index> labels, bool self_pairs) {
  return std::visit(
      [&](const auto& view) {
        if (view.rows != view.cols) {
          fail(Code::input, "the kernel of training samples is {} by {}; it must be square", view.rows, view.cols);
        }
        check_labels(labels, view.rows, "samples");
        std::vector<double> diagonal;
        for (Index i = 0; i < view.rows; ++i) diagonal.push_back(static_cast<double>(view(i, i)));
        const std::vector<double> scale = scales(diagonal, "sample");
        return compare(view, labels, scale, labels, scale, [&](Index i, Index j) { return i == j && !self_pairs; });
      },
      k);
}

LocalElasticity local_elasticity(const AnyView& k_test, std::span<const Index> test_labels,
                                 std::span<const double> test_diagonal, std::span<const Index> labels,
                                 std::span<const double> diagonal) {
  return std::visit(
      [&](const auto& view) {
        check_labels(test_labels, view.rows, "test points");
        check_labels(labels, view.cols, "samples");
        if (std::ssize(diagonal) != view.cols) {
          fail(Code::input, "a diagonal of {} numbers for {} samples", diagonal.size(), view.cols);
        }
        if (!test_diagonal.empty() && std::ssize(test_diagonal) != view.rows) {
          fail(Code::input, "a diagonal of {} numbers for {} test points", test_diagonal.size(), view.rows);
        }
        const std::vector<double> row_scales =
            test_diagonal.empty() ? std::vector<double>(usize(view.rows), 1.0) : scales(test_diagonal, "test point");
        return compare(view, test_labels, row_scales, labels, scales(diagonal, "sample"),
                       [](Index, Index) { return false; });
      },
      k_test);
}

LocalElasticity label_aware_elasticity(const AnyView& k_test, std::span<const Index> test_labels,
                                       const TestDiagonals& test_diagonals, std::span<const Index> labels,
                                       std::span<const double> diagonal) {
  const std::span<const double> chosen = test_diagonals.published ? test_diagonals.theta : test_diagonals.own;
  if (chosen.empty()) {
    fail(Code::usage, "the {} normalisation of test points requires the diagonal {}(x, x)",
         test_diagonals.published ? "published" : "own", test_diagonals.published ? "Θ" : "K");
  }
  return local_elasticity(k_test, test_labels, chosen, labels, diagonal);
}

}  // namespace widelimit
