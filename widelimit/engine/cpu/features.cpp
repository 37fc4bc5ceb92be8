#include "widelimit/engine/cpu/features.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/engine/cpu/vector/hermite_series.hpp"
#include "widelimit/recipe/dual.hpp"
#include "widelimit/recipe/rectified_monomial.hpp"

#include <cmath>
#include <limits>

namespace widelimit::cpu {

namespace {

using Real = long double;

/// Stores value as feature f of place i.
void put(Features& features, Index f, std::size_t i, Real value) {
  features.f64(f, static_cast<Index>(i)) = static_cast<double>(value);
}

/// Closed forms of E[φ(u)²] and E[φ'(u)²].
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
      return erf_dual<Real>({q, q, q});
    case Phi::gelu:
      return gelu_dual<Real>({q, q, q});
    case Phi::sin:
      return sin_dual<Real>({q, q, q});
    case Phi::cos:
      return cos_dual<Real>({q, q, q});
    case Phi::sign:
      return {q > 0 ? Real(1) : Real(0), 0};
    case Phi::exp:
      return exp_dual<Real>({q, q, q});
    case Phi::gaussian:
      return gaussian_dual<Real>({q, q, q});
    case Phi::rbf:
      return {1, 2 * static_cast<Real>(dual.parameter)};
    case Phi::hermite:
      return hermite_dual(dual.degree, q);
    case Phi::rectified_monomial: {
      const int n = dual.degree;
      if (n == 0) return {q > 0 ? Real(0.5) : Real(1), 0};  // φ(0) = 1
      const Real slope = static_cast<Real>(n) * n * std::pow(q, n - 1) * static_cast<Real>(odd_factorial(n - 1)) / 2;
      return {std::pow(q, n) * static_cast<Real>(odd_factorial(n)) / 2, slope};
    }
    default:
      return {q, 1};
  }
}

/// Features of closed-form duals; r and r_new are the standard deviations before and after.            [strip.hpp]
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
    case Phi::rectified_monomial:
      // 1[x ≥ 0] = ½ + ½·sign x except at 0, where it is 1: weights of the sign and of the constant.
      if (dual.degree == 0) {
        put(features, 0, i, q > 0 ? std::sqrt(Real(0.5)) : Real(0));
        put(features, 1, i, q > 0 ? std::sqrt(Real(0.5)) : Real(1));
      }
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
    case Phi::rectified_monomial:
      return dual.degree == 0 ? 2 : 0;
    default:
      return has_series(dual.phi) ? series_rows + (has_slope_series(dual) ? 2 : 1) * series_length(dual) : 0;
  }
}

Advance advance_closed(const Step& step, const Variances& variance, bool follow) {
  const std::size_t places = variance.size();
  Advance result{Variances(places),
                 Variances(places),
                 make_features(dual_feature_count(step.dual), static_cast<Index>(places)),
                 {}};
  for (std::size_t i = 0; i < places; ++i) {
    const Real q = variance[i];
    const DualValue<Real> self = self_dual(step.dual, q);
    result.variance[i] = self.sigma;
    result.dot[i] = self.dot;
    dual_features(step.dual, result.features, i, q, self.sigma);
    if (follow) result.error.add(closed_form_growth([&](Real at) { return self_dual(step.dual, at); }, q));
  }
  return result;
}

/// Stores coefficients in as many rows as the longest series; the coefficients of a place do not depend on the others.
Advance advance_series(const Recipe& recipe, const Step& step, const Variances& variance, double tolerance) {
  const std::size_t places = variance.size();
  std::vector<HermiteSeries> all(places);
  std::size_t length = 0;
  for (std::size_t i = 0; i < places; ++i) {
    all[i] = hermite_series(recipe, step.dual, std::sqrt(variance[i]), tolerance);
    length = std::max(length, all[i].coefficients.size());
  }
  const bool own_slopes = has_slope_series(step.dual);
  const auto rows = static_cast<Index>(length);
  Advance result{Variances(places),
                 Variances(places),
                 make_features(series_rows + (own_slopes ? 2 : 1) * rows, static_cast<Index>(places)),
                 {}};
  result.features.terms = rows;
  if (step.dual.function >= 0) {
    result.features.function = recipe.functions[static_cast<std::size_t>(step.dual.function)];
  }
  const Real unit = 1 / std::sqrt(static_cast<Real>(tolerance));
  for (std::size_t i = 0; i < places; ++i) {
    const HermiteSeries& series = all[i];
    result.variance[i] = series.square;
    result.dot[i] = series.slope_square;
    Features& features = result.features;
    put(features, deviation_row, i, std::sqrt(variance[i]));
    put(features, inverse_row, i, ratio(1, std::sqrt(series.square)));
    put(features, sufficient_terms_row, i, series.sufficient_terms);
    put(features, maximal_terms_row, i, series.maximal_terms);
    put(features, rest_row, i, unit * series.rest);
    put(features, slope_rest_row, i, unit * series.slope_rest);
    put(features, long_rest_row, i, unit * series.long_rest);
    put(features, long_slope_rest_row, i, unit * series.long_slope_rest);
    put(features, stretch_row, i, std::sqrt(static_cast<Real>(series.stretch)));
    for (std::size_t k = 0; k < series.coefficients.size(); ++k) {
      put(features, series_rows + static_cast<Index>(k), i, series.coefficients[k]);
      if (own_slopes) put(features, series_rows + rows + static_cast<Index>(k), i, series.slopes[k]);
    }
    const double left = step.dual.function >= 0 ? tolerance : 0.0;
    result.error.add(
        {2 * series.error + left, 2 * series.slope_error + left, series.growth / 2, series.slope_growth / 2});
  }
  return result;
}

Advance advance_dual(const Recipe& recipe, const Step& step, const Variances& variance, const Accuracy& accuracy) {
  return has_series(step.dual.phi) ? advance_series(recipe, step, variance, accuracy.tolerance)
                                   : advance_closed(step, variance, accuracy.follow);
}

Advance advance_affine(const Step& step, const Variances& variance) {
  const bool bias = step.b2 > 0;
  const std::size_t places = variance.size();
  Advance result{Variances(places), {}, make_features(bias ? 2 : 0, static_cast<Index>(places)), {}};
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
  return {Matrix<double>(count, padded(places) + strip_padding), {}, 0, nullptr};
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

double quadrature_tolerance(Precision precision) { return precision == Precision::f32 ? 0x1p-34 : 0x1p-50; }

Advance advance(const Recipe& recipe, const Step& step, const Variances& variance, const Accuracy& accuracy) {
  Advance result;
  switch (step.op) {
    case Op::affine:
      result = advance_affine(step, variance);
      break;
    case Op::dual:
      result = advance_dual(recipe, step, variance, accuracy);
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
  Advance result{Variances(places), {}, make_features(2, static_cast<Index>(places)), {}};
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
