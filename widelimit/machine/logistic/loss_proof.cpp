#include "widelimit/machine/logistic/loss_proof.hpp"

#include "widelimit/machine/gram/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>

namespace widelimit {

namespace {

/// Rounding error of the few operations of one term, with a margin.
constexpr double term_rounding = 32 * unit_rounding;

/// Kv with its error, per column.
struct CountedProduct {
  Matrix<double> values;
  std::vector<ProductError> errors;

  /// Returns the error of an entry, including its final rounding.
  [[nodiscard]] double error(Index i, Index c) const {
    return errors[usize(c)].at(usize(i)) + 2 * unit_rounding * std::abs(values(i, c));
  }
};

CountedProduct counted_product(const ProofSetting& setting, const Matrix<double>& v, bool precise) {
  CountedProduct product{Matrix<double>(v.rows(), v.cols(), Content::unset), {}};
  if (precise) {
    setting.k.multiply_precisely(v.view(), product.values.view(), setting.progress);
  } else {
    setting.k.multiply(v.view(), product.values.view());
  }
  for (Index c = 0; c < v.cols(); ++c) product.errors.push_back(setting.rounding.error_of(v.view(), c, precise));
  return product;
}

/// vᵀKv of one column with its error.
struct CountedSquare {
  double value = 0;
  double error = 0;
};

CountedSquare square_of(const Matrix<double>& v, const CountedProduct& product, Index c) {
  CompensatedSum sum;
  CountedSquare square;
  for (Index i = 0; i < v.rows(); ++i) {
    sum.add_product(v(i, c), product.values(i, c));
    square.error += std::abs(v(i, c)) * product.error(i, c);
  }
  square.value = sum.value();
  square.error = square.error * (1 + rounding_of(v.rows())) + 2 * unit_rounding * std::abs(square.value);
  return square;
}

/// Returns v = α − r/λ; sets `size` to Σ√K_ii times the error of v, per output.
Matrix<double> remainder(const ProofSetting& setting, const Matrix<double>& alpha, const DualPoint& point,
                         std::vector<double>& size) {
  Matrix<double> v(alpha.rows(), alpha.cols(), Content::unset);
  size.assign(usize(alpha.cols()), 0.0);
  for (Index i = 0; i < v.rows(); ++i) {
    for (Index c = 0; c < v.cols(); ++c) {
      const double multiplier = point.r(i, c) / setting.lambda;
      v(i, c) = alpha(i, c) - multiplier;
      const double off = (2 * unit_rounding + point.relative) * std::abs(multiplier) +
                         unit_rounding * std::abs(v(i, c)) + point.absolute * point.weight[usize(i)] / setting.lambda;
      size[usize(c)] += setting.rounding.lengths()[usize(i)] * off;
    }
  }
  return v;
}

struct ProvedValues {
  double primal = 0;  ///< the objective, accurate to `error`
  double error = 0;
  double gap = 0;  ///< upper bound of the distance to the minimum
};

/// Outputs, and the largest error per sample.
struct Outputs {
  Matrix<double> g;
  std::vector<double> off;
};

Outputs outputs_of(const CountedProduct& h, std::span<const double> bias) {
  const Index n = h.values.rows();
  Outputs outputs{Matrix<double>(n, h.values.cols(), Content::unset), std::vector<double>(usize(n))};
  for (Index i = 0; i < n; ++i) {
    for (Index c = 0; c < h.values.cols(); ++c) {
      outputs.g(i, c) = h.values(i, c) + bias[usize(c)];
      const double off = h.error(i, c) + unit_rounding * std::abs(outputs.g(i, c));
      outputs.off[usize(i)] = std::max(outputs.off[usize(i)], off);
    }
  }
  return outputs;
}

double bend(const DualPoint& point, const Outputs& outputs, std::size_t i) {
  return point.weight[i] * point.curvature * outputs.off[i] * outputs.off[i];
}

/// Returns the gap: λ/2 Σ_c ‖α_c − r_c/λ‖² from Σ√K_ii or, if `by_product`, from a product with K, plus the gaps of the
/// losses.
double gap_of(const ProofSetting& setting, const Matrix<double>& alpha, const Outputs& outputs, const DualPoint& point,
              bool by_product, bool precise) {
  std::vector<double> off;
  const Matrix<double> v = remainder(setting, alpha, point, off);
  std::optional<CountedProduct> product;
  if (by_product) product = counted_product(setting, v, precise);
  const double root = std::sqrt(setting.lambda);
  double gap = 0;
  for (Index c = 0; c < alpha.cols(); ++c) {
    double length = setting.rounding.size_of(v.view(), c);
    if (product) {
      const CountedSquare square = square_of(v, *product, c);
      length = std::sqrt(std::max(0.0, square.value) + square.error);
    }
    length = root * (length + off[usize(c)]);
    gap += length / 2 * length;
  }
  for (std::size_t i = 0; i < outputs.off.size(); ++i) {
    gap += point.gap[i] + point.deviation[i] * outputs.off[i] + bend(point, outputs, i);
  }
  return gap * (1 + term_rounding + rounding_of(alpha.rows() + alpha.cols()));
}

Matrix<double> multipliers(const Matrix<double>& alpha, double lambda) {
  Matrix<double> result(alpha.rows(), alpha.cols(), Content::unset);
  std::transform(alpha.data(), alpha.data() + alpha.rows() * alpha.cols(), result.data(),
                 [&](double a) { return lambda * a; });
  return result;
}

ProvedValues values_of(const ProofSetting& setting, const Fit& fit, bool precise) {
  const CountedProduct h = counted_product(setting, fit.alpha, precise);
  const Outputs outputs = outputs_of(h, fit.bias);
  const DualPoint point = setting.losses.dual_point(outputs.g, setting.bias);
  ProvedValues values;
  CompensatedSum primal;
  for (Index c = 0; c < fit.alpha.cols(); ++c) {
    const CountedSquare norm = square_of(fit.alpha, h, c);
    // A negative squared norm disproves semi-definiteness; nothing can then be proved.
    if (norm.value + norm.error < setting.rounding.least_square(fit.alpha.view(), c))
      values.gap = std::numeric_limits<double>::infinity();
    primal.add(setting.lambda / 2 * norm.value);
    values.error += setting.lambda / 2 * norm.error;
  }
  for (std::size_t i = 0; i < outputs.off.size(); ++i) {
    primal.add(point.loss[i]);
    values.error += point.loss_error[i] + point.steepness[i] * outputs.off[i] + bend(point, outputs, i);
  }
  values.primal = primal.value();
  values.error =
      values.error * (1 + term_rounding + rounding_of(fit.alpha.rows())) + 2 * unit_rounding * std::abs(values.primal);
  if (!std::isfinite(values.gap)) return values;
  values.gap = gap_of(setting, fit.alpha, outputs, point, true, precise);
  const Matrix<double> own = multipliers(fit.alpha, setting.lambda);
  if (const auto near = setting.losses.dual_point_near(own, outputs.g, setting.bias)) {
    const double other = gap_of(setting, fit.alpha, outputs, *near, false, precise);
    if (!(values.gap <= other)) values.gap = other;
  }
  return values;
}

}  // namespace

bool prove(const ProofSetting& setting, Fit& fit) {
  for (const bool precise : {false, true}) {
    const ProvedValues values = values_of(setting, fit, precise);
    const double dual = values.primal - values.error - values.gap;
    const bool finite = std::isfinite(values.primal) && std::isfinite(dual);
    fit.summary.primal = finite ? std::optional(values.primal) : std::nullopt;
    fit.summary.dual = finite ? std::optional(dual) : std::nullopt;
    fit.summary.gap = finite ? std::optional(relative_gap(values.primal, dual)) : std::nullopt;
    if (finite && *fit.summary.gap <= setting.tolerance) return true;
  }
  return false;
}

bool BestProved::offer(Fit fit) {
  if (!all_finite(fit)) return false;
  const auto gap_of = [](const Fit& one) { return one.summary.gap.value_or(std::numeric_limits<double>::infinity()); };
  const bool proved = prove(setting_, fit);
  if (proved || !best_ || gap_of(fit) < gap_of(*best_)) best_ = std::move(fit);
  proved_ = proved_ || proved;
  return proved;
}

Fit BestProved::take(Index samples, Index outputs, Index max_iterations) && {
  if (!best_) best_ = zero_fit(samples, outputs);
  Summary& summary = best_->summary;
  if (!proved_) {
    summary.ending = Ending::iteration_limit;
    const std::string gap = summary.gap ? fmt::format("a relative duality gap of {:.2g}", *summary.gap)
                                        : std::string("no finite bound in float64");
    summary.message = summary.iterations >= max_iterations
                          ? fmt::format("{} iterations left {}; increase the iteration limit, λ or the tolerance",
                                        summary.iterations, gap)
                          : fmt::format("rounding leaves {}; increase λ or the tolerance", gap);
  }
  return std::move(*best_);
}

double divergence_term(double q, double p, double log_p, double eta) {
  if (q == 0) return p * (1 + eta) + underflow_unit;
  const double difference = std::abs(q - p) + eta * std::max(q, p);
  if (difference <= p / 2) return difference / p * difference * (1 + term_rounding) + underflow_unit;
  const double log_q = std::log(q);
  const double exact = q * (log_q - log_p) - q + p;
  const double rounded = q * (std::abs(log_q) + std::abs(log_p) + 2) + p;
  return std::max(0.0, exact) + (eta + term_rounding) * rounded;
}

double divergence_term(double q, double p, double log_p, double eta, double absolute) {
  if (absolute == 0) return divergence_term(q, p, log_p, eta);
  return std::max(divergence_term(std::max(0.0, q - absolute), p, log_p, eta),
                  divergence_term(q + absolute, p, log_p, eta));
}

}  // namespace widelimit
