#include "widelimit/machine/fit.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/engine/select.hpp"

#include <algorithm>
#include <cmath>

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

}  // namespace

Matrix<double> decision(const Fit& fit, const EngineMatrix& test_by_train, const Engine& engine) {
  if (test_by_train.cols() != fit.alpha.rows()) {
    fail(Code::input, "K(test, train) has {} columns, the machine {} training samples", test_by_train.cols(),
         fit.alpha.rows());
  }
  Matrix<double> g(test_by_train.rows(), fit.alpha.cols());
  if (test_by_train.cols() > 0) engine.algebra().multiply(Transpose::no, test_by_train, fit.alpha.view(), g.view());
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
