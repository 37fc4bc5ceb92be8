#include "widelimit/machine/fit.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/engine/cpu/algebra/blas_calls.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Rows converted to float64 at a time: enough for a product to run at speed, little beside the matrix.
constexpr Index strip = 256;

void check_row(const double* row, Index cols, Index i) {
  const double* bad = std::find_if(row, row + cols, [](double value) { return !std::isfinite(value); });
  if (bad != row + cols) fail(Code::input, "entry ({}, {}) of K(test, train) is {}", i, bad - row, *bad);
}

}  // namespace

Matrix<double> decision(const Fit& fit, const AnyView& test_by_train) {
  return std::visit(
      [&](const auto& k) {
        if (k.cols != fit.alpha.rows()) {
          fail(Code::input, "K(test, train) has {} columns, the machine {} training samples", k.cols, fit.alpha.rows());
        }
        const Index outputs = fit.alpha.cols();
        Matrix<double> g(k.rows, outputs);
        Matrix<double> rows(std::min(strip, k.rows), k.cols, Content::unset);
        for (Index begin = 0; begin < k.rows; begin += strip) {
          const Index count = std::min(strip, k.rows - begin);
          for (Index i = 0; i < count; ++i) {
            std::copy_n(k.row(begin + i), k.cols, rows.view().row(i));
            check_row(rows.view().row(i), k.cols, begin + i);
            std::copy_n(fit.bias.data(), outputs, g.view().row(begin + i));
          }
          if (k.cols == 0) continue;
          cpu::gemm<double>(1, Transpose::no, rows.view().block(0, 0, count, k.cols), Transpose::no, fit.alpha.view(),
                            1, g.view().block(begin, 0, count, outputs));
        }
        return g;
      },
      test_by_train);
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
