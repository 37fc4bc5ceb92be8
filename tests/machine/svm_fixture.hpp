#pragma once

#include "tests/machine/box_fixture.hpp"
#include "widelimit/machine/svm/svm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace widelimit {

inline double svm_loss(SvmLoss loss, double margin) {
  const double slack = std::max(0.0, 1 - margin);
  return loss == SvmLoss::squared_hinge ? slack * slack : slack;
}

/// Checks primal and dual objective of EQ (7) by definition, and the box.
inline void expect_optimal(const Matrix<double>& gram, std::span<const double> y, const Fit& fit,
                           const SvmOptions& options, SvmLoss loss, double tolerance = 1.1e-6) {
  ASSERT_TRUE(fit.summary.converged()) << fit.summary.message;
  const auto g = values(gram, fit);
  const double norm = squared_norm(gram, fit);
  double primal = options.lambda / 2 * norm;
  double dual = -options.lambda / 2 * norm;
  double sum = 0;
  double size = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double weight = options.weights.empty() ? 1 : options.weights[i];
    const double a = y[i] * fit.alpha(static_cast<Index>(i), 0);
    primal += weight * svm_loss(loss, y[i] * g[i]);
    dual += options.lambda * a;
    if (loss == SvmLoss::squared_hinge && weight > 0) {
      dual -= options.lambda * options.lambda * a * a / (4 * weight);
    }
    sum += fit.alpha(static_cast<Index>(i), 0);
    size += std::abs(a);
    ASSERT_GE(a, 0);
    if (loss == SvmLoss::hinge) {
      ASSERT_LE(a, weight / options.lambda * (1 + 1e-12));
    }
  }
  if (options.bias) {
    EXPECT_NEAR(sum, 0, 1e-12 * size);
  } else {
    EXPECT_EQ(fit.bias[0], 0);
  }
  // A margin is a sum of terms up to |α|K: its rounding enters each loss and the norm λ/2 αᵀKα.
  const double noise = 1e-15 * size * (static_cast<double>(y.size()) + options.lambda * size);
  EXPECT_LE(primal - dual, tolerance * std::max(std::abs(primal), std::abs(dual)) + noise);
  EXPECT_GE(primal - dual, -1e-9 * std::abs(primal) - noise);
  EXPECT_NEAR(*fit.summary.primal, primal, 1e-9 * std::abs(primal) + noise);
  // A lower bound: rounding is included and takes at most a fraction of the tolerance.
  EXPECT_LE(*fit.summary.dual, dual + 1e-13 * std::abs(primal) + noise);
  EXPECT_GE(*fit.summary.dual, dual - 1e-7 * std::abs(primal) - noise);
  EXPECT_GE(*fit.summary.gap * std::abs(primal), primal - dual - noise - 1e-13 * std::abs(primal));
}

}  // namespace widelimit
