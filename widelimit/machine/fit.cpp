#include "widelimit/machine/fit.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/engine/select.hpp"

#include <algorithm>
#include <cmath>
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

/// The coefficients of each sample that are not 0, and the outputs they belong to.
class SparseCoefficients {
 public:
  explicit SparseCoefficients(const Matrix<double>& alpha) : begin_{0} {
    for (Index j = 0; j < alpha.rows(); ++j) {
      for (Index c = 0; c < alpha.cols(); ++c) {
        if (alpha(j, c) != 0) entries_.emplace_back(c, alpha(j, c));
      }
      begin_.push_back(entries_.size());
    }
  }
  /// g += k·α of one new point, whose kernel with the samples is k.
  template <typename T>
  void add(const T* k, double* g) const {
    for (std::size_t j = 0; j + 1 < begin_.size(); ++j) {
      const auto value = static_cast<double>(k[j]);
      for (std::size_t e = begin_[j]; e < begin_[j + 1]; ++e) g[entries_[e].first] += value * entries_[e].second;
    }
  }

 private:
  std::vector<std::pair<Index, double>> entries_;
  std::vector<std::size_t> begin_;
};

/// One-vs-one of many classes: a sample takes part in the outputs of its own class only, one in k/2 of all.
constexpr Index many_outputs = 64;

bool is_sparse(const Matrix<double>& alpha) {
  if (alpha.cols() < many_outputs) return false;
  const Index entries = alpha.rows() * alpha.cols();
  return 16 * std::count_if(alpha.data(), alpha.data() + entries, [](double a) { return a != 0; }) < entries;
}

}  // namespace

Matrix<double> decision(const Fit& fit, const EngineMatrix& test_by_train, const Engine& engine) {
  if (test_by_train.cols() != fit.alpha.rows()) {
    fail(Code::input, "K(test, train) has {} columns, the machine {} training samples", test_by_train.cols(),
         fit.alpha.rows());
  }
  Matrix<double> g(test_by_train.rows(), fit.alpha.cols());
  const auto host = engine.algebra().host_view(test_by_train);
  if (host && is_sparse(fit.alpha)) {
    const SparseCoefficients coefficients(fit.alpha);
    std::visit(
        [&](const auto& k) {
          engine.for_each(g.rows(), [&](Index i) { coefficients.add(k.row(i), g.view().row(i)); });
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
  return decision(fit, engine.algebra().hold(test_by_train), engine);
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

std::optional<std::vector<Index>> weighty_samples(std::span<const double> weights) {
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
