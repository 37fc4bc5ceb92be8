#include "widelimit/backend/cpu/features.hpp"

#include "widelimit/backend/cpu/hermite_series.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/recipe/dual.hpp"
#include "widelimit/recipe/rectified_monomial.hpp"

#include <cmath>
#include <limits>

namespace widelimit::cpu {

namespace {

using Real = long double;

/// Puts value into feature f of place i.
void put(Features& features, Index f, std::size_t i, Real value) {
  features.f64(f, static_cast<Index>(i)) = static_cast<double>(value);
}

/// E[φ(u)²] and E[φ'(u)²] where they have a closed form.
DualValue<Real> self_dual(const Dual& dual, Real q) {
  switch (dual.phi) {
    case Phi::relu:
      return {q / 2, Real(0.5)};
    case Phi::abs:
      return {q, 1};
    case Phi::leaky_relu: {
      const Real half = (1 + static_cast<Real>(dual.parameter) * static_cast<Real>(dual.parameter)) / 2;
      return {q * half, half};
    }
    case Phi::erf:
      return erf_dual(q, q, q);
    case Phi::gelu:
      return gelu_dual(q, q, q);
    case Phi::sin:
      return sin_dual(q, q, q);
    case Phi::cos:
      return cos_dual(q, q, q);
    case Phi::sign:
      return {q > 0 ? Real(1) : Real(0), 0};
    case Phi::exp:
      return exp_dual(q, q, q);
    case Phi::gaussian:
      return gaussian_dual(q, q, q);
    case Phi::rbf:
      return {1, 2 * static_cast<Real>(dual.parameter)};
    case Phi::hermite:
      return hermite_dual(dual.degree, q);
    case Phi::rectified_monomial: {
      const int n = dual.degree;
      const Real slope =
          n == 0 ? 0 : static_cast<Real>(n) * n * std::pow(q, n - 1) * static_cast<Real>(odd_factorial(n - 1)) / 2;
      return {std::pow(q, n) * static_cast<Real>(odd_factorial(n)) / 2, slope};
    }
    default:
      return {q, 1};
  }
}

/// The features of closed-form duals; r and r_new are the deviations before and after.            [strip.hpp]
void dual_features(const Dual& dual, Features& features, std::size_t i, Real q, Real q_new) {
  const Real r = std::sqrt(q);
  const Real r_new = std::sqrt(q_new);
  switch (dual.phi) {
    case Phi::erf:
    case Phi::gaussian: {
      const Real h = 1 / std::sqrt(1 + 2 * q);
      const Real e = std::sqrt(Real(2)) * r * h;
      put(features, 0, i, e);
      put(features, 1, i, h);
      if (dual.phi == Phi::erf) {
        put(features, 2, i, ratio(1, r_new));
        put(features, 3, i, ratio(2 / std::sqrt(std::numbers::pi_v<Real>) * h * r, r_new));
      } else {
        put(features, 2, i, ratio(h, r_new));
        put(features, 3, i, ratio(2 * q * h * h * h, r_new));
      }
      break;
    }
    case Phi::gelu: {
      const Real h = 1 / std::sqrt(1 + q);
      put(features, 0, i, r * h);
      put(features, 1, i, h);
      put(features, 2, i, ratio(r, r_new));
      break;
    }
    case Phi::sin:
    case Phi::cos:
      put(features, 0, i, r);
      put(features, 1, i, ratio(1, r_new));
      break;
    case Phi::exp:
    case Phi::rbf:
      put(features, 0, i, r);
      break;
    default:
      break;
  }
}

Index dual_feature_count(const Dual& dual) {
  switch (dual.phi) {
    case Phi::erf:
    case Phi::gaussian:
      return 4;
    case Phi::gelu:
      return 3;
    case Phi::sin:
    case Phi::cos:
      return 2;
    case Phi::exp:
    case Phi::rbf:
      return 1;
    default:
      return has_series(dual.phi) ? series_length(dual) : 0;
  }
}

Advance advance_dual(const Recipe& recipe, const Step& step, const Variances& variance) {
  const std::size_t places = variance.size();
  Advance result{Variances(places), Variances(places),
                 make_features(dual_feature_count(step.dual), static_cast<Index>(places)), 0.0};
  for (std::size_t i = 0; i < places; ++i) {
    const Real q = variance[i];
    if (!has_series(step.dual.phi)) {
      const DualValue<Real> self = self_dual(step.dual, q);
      result.variance[i] = self.sigma;
      result.dot[i] = self.dot;
      dual_features(step.dual, result.features, i, q, self.sigma);
      continue;
    }
    const HermiteSeries series = hermite_series(recipe, step.dual, std::sqrt(q));
    Real dot = 0;
    for (std::size_t k = 0; k < series.coefficients.size(); ++k) {
      const Real square = series.coefficients[k] * series.coefficients[k];
      result.variance[i] += square;
      dot += static_cast<Real>(k) * square;
    }
    result.dot[i] = q > 0 ? dot / q : 0;
    result.quadrature_error = std::max(result.quadrature_error, series.truncation);
    const Real r_new = std::sqrt(result.variance[i]);
    for (std::size_t k = 0; k < series.coefficients.size(); ++k) {
      put(result.features, static_cast<Index>(k), i, ratio(series.coefficients[k], r_new));
    }
  }
  return result;
}

Advance advance_affine(const Step& step, const Variances& variance) {
  const bool bias = step.b2 > 0;
  const std::size_t places = variance.size();
  Advance result{Variances(places), {}, make_features(bias ? 2 : 0, static_cast<Index>(places)), 0.0};
  const Real w = std::sqrt(static_cast<Real>(step.w2));
  const Real b = std::sqrt(static_cast<Real>(step.b2));
  for (std::size_t i = 0; i < places; ++i) {
    result.variance[i] = static_cast<Real>(step.w2) * variance[i] + static_cast<Real>(step.b2);
    if (!bias) continue;
    const Real r_new = std::sqrt(result.variance[i]);
    put(result.features, 0, i, ratio(w * std::sqrt(variance[i]), r_new));
    put(result.features, 1, i, ratio(b, r_new));
  }
  return result;
}

}  // namespace

double ratio(Real a, Real b) { return b > 0 ? static_cast<double>(a / b) : 0.0; }

Index feature_count(const Step& step) {
  switch (step.op) {
    case Op::affine:
      return step.b2 > 0 ? 2 : 0;
    case Op::dual:
      return dual_feature_count(step.dual);
    case Op::window:
    case Op::pool:
    case Op::flatten:
    case Op::attend:
    case Op::join:
      return 2;
    case Op::emit:
      return 1;
    default:
      return 0;
  }
}

Features make_features(Index count, Index places) {
  return {Matrix<double>(count, padded(places) + strip_padding), {}};
}

void Features::round_to_float() {
  f32 = Matrix<float>(f64.rows(), f64.cols());
  for (Index k = 0; k < f64.rows() * f64.cols(); ++k) f32.data()[k] = static_cast<float>(f64.data()[k]);
}

void check_variances(const Variances& variance) {
  for (std::size_t i = 0; i < variance.size(); ++i) {
    if (!(std::sqrt(variance[i]) <= static_cast<Real>(std::numeric_limits<double>::max()))) {
      fail(Code::numerical,
           "the variance of sample or position {} overflows inside the network; scale each sample to unit norm or use "
           "smaller w_std",
           i);
    }
  }
}

Advance advance(const Recipe& recipe, const Step& step, const Variances& variance) {
  Advance result;
  switch (step.op) {
    case Op::affine:
      result = advance_affine(step, variance);
      break;
    case Op::dual:
      result = advance_dual(recipe, step, variance);
      break;
    case Op::layer_norm:
      result.variance = variance;
      for (Real& q : result.variance) q = q > 0 ? 1 : 0;
      break;
    case Op::dropout:
      result.variance = variance;
      for (Real& q : result.variance) q /= static_cast<Real>(step.rate);
      break;
    default:
      result.variance = variance;
      break;
  }
  check_variances(result.variance);
  return result;
}

Advance advance_join(const Variances& first, const Variances& second) {
  const std::size_t places = first.size();
  Advance result{Variances(places), {}, make_features(2, static_cast<Index>(places)), 0.0};
  for (std::size_t i = 0; i < places; ++i) {
    result.variance[i] = first[i] + second[i];
    const Real r_new = std::sqrt(result.variance[i]);
    put(result.features, 0, i, ratio(std::sqrt(first[i]), r_new));
    put(result.features, 1, i, ratio(std::sqrt(second[i]), r_new));
  }
  check_variances(result.variance);
  return result;
}

}  // namespace widelimit::cpu
