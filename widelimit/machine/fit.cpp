#include "widelimit/machine/fit.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/engine/host/point_strip.hpp"
#include "widelimit/engine/select.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace widelimit {

namespace {

void check_finite(const AnyView& test_by_train) {
  std::visit(
      [](const auto& k) {
        interruptible_rows(k.rows, k.cols, [&](Index i) {
          const auto* row = k.row(i);
          const auto* bad = std::find_if(row, row + k.cols, [](auto value) { return !std::isfinite(value); });
          if (bad != row + k.cols) fail(Code::input, "entry ({}, {}) of K(test, train) is {}", i, bad - row, *bad);
        });
      },
      test_by_train);
}

/// Nonzero coefficients of each output with their sample indices.
class SparseCoefficients {
 public:
  explicit SparseCoefficients(const Matrix<double>& alpha) : begin_(usize(alpha.cols() + 1)) {
    const auto each = [&](const auto& use) {
      for (Index j = 0; j < alpha.rows(); ++j) {
        const double* row = alpha.view().row(j);
        for (Index c = 0; c < alpha.cols(); ++c) {
          if (row[c] != 0) use(j, c, row[c]);
        }
      }
    };
    each([&](Index, Index c, double) { ++begin_[usize(c + 1)]; });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    entries_.resize(begin_.back());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    each([&](Index j, Index c, double value) { entries_[next[usize(c)]++] = {j, value}; });
  }

  static constexpr Index outputs_at_once = 8;

  /// Computes g = kα at the points of a strip; the rows of k are their kernels with the samples. While summing, points
  /// are contiguous in memory; in the result, outputs are.
  template <typename T>
  void multiply(const MatrixView<const T>& k, const MatrixView<double>& g) const {
    const std::vector<double> strip = host::strip_of(k);
    for (Index first = 0; first < g.cols; first += outputs_at_once) {
      const Index outputs = std::min(outputs_at_once, g.cols - first);
      std::array<double, host::strip_points * outputs_at_once> sums;
      for (Index c = 0; c < outputs; ++c) {
        host::weigh_strip(coefficients(first + c), strip.data(), sums.data() + c * host::strip_points);
      }
      for (Index i = 0; i < k.rows; ++i) {
        for (Index c = 0; c < outputs; ++c) g(i, first + c) = sums[usize(c * host::strip_points + i)];
      }
    }
  }

 private:
  [[nodiscard]] std::span<const host::Weighted> coefficients(Index output) const {
    const std::size_t begin = begin_[usize(output)];
    return {entries_.data() + begin, begin_[usize(output + 1)] - begin};
  }

  std::vector<host::Weighted> entries_;
  std::vector<std::size_t> begin_;
};

/// Number of outputs from which α may be sparse. In one-vs-one with k classes, a sample takes part in the outputs of
/// its own class only, a fraction 2/k of all.
constexpr Index many_outputs = 64;

bool is_sparse(const Matrix<double>& alpha) {
  if (alpha.cols() < many_outputs) return false;
  const Index entries = alpha.rows() * alpha.cols();
  return 16 * std::count_if(alpha.data(), alpha.data() + entries, [](double a) { return a != 0; }) < entries;
}

}  // namespace

Fit zero_fit(Index samples, Index outputs) {
  return {Matrix<double>(samples, outputs), std::vector<double>(usize(outputs)), {}};
}

bool all_finite(const Fit& fit) {
  const auto finite = [](double value) { return std::isfinite(value); };
  const double* alpha = fit.alpha.data();
  return std::all_of(alpha, alpha + fit.alpha.rows() * fit.alpha.cols(), finite) &&
         std::all_of(fit.bias.begin(), fit.bias.end(), finite);
}

Matrix<double> decision(const Fit& fit, const EngineMatrix& test_by_train, const Engine& engine) {
  if (test_by_train.cols() != fit.alpha.rows()) {
    fail(Code::input, "K(test, train) has {} columns, but the machine has {} training samples", test_by_train.cols(),
         fit.alpha.rows());
  }
  Matrix<double> g(test_by_train.rows(), fit.alpha.cols());
  const auto host = engine.algebra().host_view(test_by_train);
  if (host && is_sparse(fit.alpha)) {
    const SparseCoefficients coefficients(fit.alpha);
    std::visit(
        [&](const auto& k) {
          constexpr Index height = host::strip_points;
          engine.for_each((g.rows() + height - 1) / height, [&](Index strip) {
            const Index begin = strip * height;
            const Index rows = std::min(height, g.rows() - begin);
            coefficients.multiply(k.block(begin, 0, rows, k.cols), g.view().block(begin, 0, rows, g.cols()));
          });
        },
        *host);
  } else if (test_by_train.cols() > 0) {
    engine.algebra().multiply(Transpose::no, test_by_train, fit.alpha.view(), g.view());
  }
  for (Index i = 0; i < g.rows(); ++i) {
    for (Index j = 0; j < g.cols(); ++j) g(i, j) += fit.bias[usize(j)];
  }
  return g;
}

Matrix<double> decision(const Fit& fit, const AnyView& test_by_train, const Engine& engine) {
  check_finite(test_by_train);
  Matrix<double> g = decision(fit, engine.algebra().hold(test_by_train), engine);
  for (Index i = 0; i < g.rows(); ++i) {
    const double* row = g.view().row(i);
    if (!std::all_of(row, row + g.cols(), [](double value) { return std::isfinite(value); })) {
      fail(Code::numerical, "the output at test point {} exceeds the range of float64; scale the samples down", i);
    }
  }
  return g;
}

Matrix<double> decision(const Fit& fit, const AnyView& test_by_train) {
  return decision(fit, test_by_train, all_processors());
}

void check_targets(MatrixView<const double> targets, Index samples) {
  if (targets.rows != samples) {
    fail(Code::input, "there are targets for {} samples, but the Gram matrix has {}", targets.rows, samples);
  }
  if (targets.cols == 0) fail(Code::input, "the targets have no column; give at least one output");
  for (Index i = 0; i < targets.rows; ++i) {
    const double* row = targets.row(i);
    const double* bad = std::find_if(row, row + targets.cols, [](double value) { return !std::isfinite(value); });
    if (bad != row + targets.cols) fail(Code::input, "target {} of sample {} is {}", bad - row, i, *bad);
  }
}

void check_squares(MatrixView<const double> targets) {
  double sum = 0;
  for (Index i = 0; i < targets.rows; ++i) {
    for (Index j = 0; j < targets.cols; ++j) sum += targets(i, j) * targets(i, j);
  }
  if (!std::isfinite(sum)) {
    fail(Code::input, "the sum of squares of the targets exceeds the range of float64; divide them by a constant");
  }
}

void check_weights(std::span<const double> weights, Index samples) {
  if (weights.empty()) return;
  if (static_cast<Index>(weights.size()) != samples) {
    fail(Code::input, "there are {} weights for {} samples", weights.size(), samples);
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!std::isfinite(weights[i]) || weights[i] < 0) {
      fail(Code::input, "weight {} is {}; weights must be finite and not negative", i, weights[i]);
    }
  }
  if (std::all_of(weights.begin(), weights.end(), [](double w) { return w == 0; })) {
    fail(Code::input, "all weights are zero; nothing is left to fit");
  }
}

std::optional<std::vector<Index>> positive_weight_samples(std::span<const double> weights) {
  std::vector<Index> kept;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0) kept.push_back(static_cast<Index>(i));
  }
  return kept.size() == weights.size() ? std::nullopt : std::optional(std::move(kept));
}

Fit among_all(Fit fit, std::span<const Index> kept, Index samples) {
  Matrix<double> alpha(samples, fit.alpha.cols());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    std::copy_n(fit.alpha.view().row(static_cast<Index>(i)), fit.alpha.cols(), alpha.view().row(kept[i]));
  }
  fit.alpha = std::move(alpha);
  return fit;
}

}  // namespace widelimit
