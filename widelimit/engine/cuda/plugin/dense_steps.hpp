#pragma once

#include "widelimit/engine/cpu/vector/series_row.hpp"
#include "widelimit/engine/cuda/dense_program.hpp"
#include "widelimit/engine/cuda/plugin/dense_math.hpp"

/// The steps of a dense network on one pair, compiled for the device and, in tests, for the host.
namespace widelimit::cuda {

/// Features of a step for both samples of a pair: feature f is row[f·row_stride], col[f·col_stride].
template <typename T>
struct PairFeatures {
  const T* row;
  const T* col;
  Index row_stride;
  Index col_stride;
  WIDELIMIT_BOTH T first(Index f) const { return row[f * row_stride]; }
  WIDELIMIT_BOTH T second(Index f) const { return col[f * col_stride]; }
  WIDELIMIT_BOTH T product(Index f) const { return first(f) * second(f); }
};

/// x = ee'ρ with y = 1 − |x| = hh' + ½((e−e')² + (h−h')²) + ee't.           [widelimit/engine/cpu/vector/smooth.cpp]
struct Argument {
  double ee;
  double hh;
  double squares;  ///< h² + h'²
  double x;
  double y;
};
WIDELIMIT_BOTH inline Argument argument(double e, double e_col, double h, double h_col, double rho, double t) {
  const double ee = e * e_col;
  const double hh = h * h_col;
  const double at_one = hh + mismatch(e, e_col, h, h_col);
  return {ee, hh, std::fma(h, h, h_col * h_col), ee * rho, least(1.0, std::fma(ee, t, at_one))};
}
WIDELIMIT_BOTH inline double one_minus_square(double y) { return y * (2 - y); }

constexpr double half_pi = 1.57079632679489661923;
constexpr double whole_pi = 3.14159265358979323846;
constexpr double over_pi = 0.318309886183790671538;

WIDELIMIT_BOTH inline double arcsine(double x, double y) { return std::copysign(half_pi - arccos_of(y), x); }
/// The same with full relative accuracy for small x.
WIDELIMIT_BOTH inline double arcsine_signed(double x, double y) {
  return std::abs(x) < 0.45 ? std::asin(x) : arcsine(x, y);
}

WIDELIMIT_BOTH inline Moved<double> erf_step(const PairFeatures<double>& f, double rho, double t) {
  const Argument at = argument(f.first(0), f.second(0), f.first(1), f.second(1), rho, t);
  return correlation(2 * over_pi * arcsine_signed(at.x, at.y) * f.product(2),
                     f.product(3) / std::sqrt(one_minus_square(at.y)));
}

WIDELIMIT_BOTH inline Moved<double> gelu_step(const PairFeatures<double>& f, double rho, double t) {
  const Argument at = argument(f.first(0), f.second(0), f.first(1), f.second(1), rho, t);
  const double rest = one_minus_square(at.y);
  const double both = std::fma(0.5 * over_pi, arcsine_signed(at.x, at.y), 0.25);
  const double density = 0.5 * over_pi * at.ee / std::sqrt(rest);
  const double angular = std::fma(rho * rho, at.squares, one_minus_square(t));
  const double curvature = at.squares + at.hh * at.hh / rest;
  const double scale = f.product(2);
  return correlation(scale * std::fma(rho, both, density * angular), scale * std::fma(density * rho, curvature, both));
}

WIDELIMIT_BOTH inline Moved<double> gaussian_step(const PairFeatures<double>& f, double rho, double t) {
  const Argument at = argument(f.first(0), f.second(0), f.first(1), f.second(1), rho, t);
  const double rest = one_minus_square(at.y);
  const double root = std::sqrt(rest);
  return correlation(f.product(2) / root, f.product(3) * rho / (rest * root));
}

/// Returns (r−r')² + 2rr'·complement.
WIDELIMIT_BOTH inline double squared_distance(double difference, double rr, double complement) {
  return std::fma(difference, difference, 2 * rr * complement);
}

WIDELIMIT_BOTH inline Moved<double> radial_step(double gamma, const PairFeatures<double>& f, double rho, double t) {
  const double rr = f.product(0);
  const double value = std::exp(-gamma * squared_distance(f.first(0) - f.second(0), rr, one_minus(rho, t)));
  return correlation(value, 2 * gamma * rr * value);
}

WIDELIMIT_BOTH inline Moved<double> wave_step(bool odd, const PairFeatures<double>& f, double rho, double t) {
  const double rr = f.product(0);
  const double difference = f.first(0) - f.second(0);
  const double minus = std::exp(-0.5 * squared_distance(difference, rr, one_minus(rho, t)));
  const double plus = std::exp(-0.5 * squared_distance(difference, rr, one_plus(rho, t)));
  const double c = rr * rho;
  // Near c = 0 the difference of the exponentials cancels; e^{−(q+q')/2} is their geometric mean.
  const double sinh = std::abs(c) < 0.5 ? std::sqrt(minus * plus) * std::sinh(c) : 0.5 * (minus - plus);
  const double cosh = 0.5 * (minus + plus);
  const double scale = f.product(1);
  return correlation(scale * (odd ? sinh : cosh), scale * rr * (odd ? cosh : sinh));
}

WIDELIMIT_BOTH inline Moved<double> sign_step(double rho, double t) {
  return {2 * over_pi * arcsine_signed(rho, t), 2 * over_pi * arccos_of(t), 0};
}

/// aa'ρ + cc': a layer with bias, or any blend with a constant.
template <typename T>
WIDELIMIT_BOTH inline Moved<T> blend_constant(const PairFeatures<T>& f, T rho, T t) {
  const T delta = mismatch(f.first(0), f.second(0), f.first(1), f.second(1));
  return mix(delta, f.product(0), f.product(1), rho, t, T(0), T(2));
}

/// aa'ρ + bb'σ: the sum of two branches.
template <typename T>
WIDELIMIT_BOTH inline Moved<T> blend(const PairFeatures<T>& f, T rho, T t, T other, T other_t) {
  return mix(mismatch(f.first(0), f.second(0), f.first(1), f.second(1)), f.product(0), f.product(1), rho, t,
             one_minus(other, other_t), one_plus(other, other_t));
}

/// 1[x ≥ 0]: the correlation of the sign function, blended with the constant.
WIDELIMIT_BOTH inline Moved<double> step_function(const PairFeatures<double>& f, double rho, double t) {
  const Moved<double> sign = sign_step(rho, t);
  Moved<double> moved = blend_constant(f, sign.rho, sign.t);
  moved.factor = 0;
  return moved;
}

WIDELIMIT_BOTH inline double polynomial(const double* c, int count, double x) {
  double value = 0;
  for (int i = count - 1; i >= 0; --i) value = std::fma(value, x, c[i]);
  return value;
}

/// A(ρ)√(1−ρ²) + B(ρ)(π − arccos ρ); the factor of θ uses a second pair of polynomials.
WIDELIMIT_BOTH inline Moved<double> arc_cosine_step(const double* c, int count, double rho, double t) {
  const double sine = std::sqrt(one_minus_square(t));
  const double angle = arccos_of(t);
  const double opening = rho >= 0 ? whole_pi - angle : angle;
  return correlation(
      std::fma(polynomial(c, count, rho), sine, polynomial(c + count, count, rho) * opening),
      std::fma(polynomial(c + 2 * count, count, rho), sine, polynomial(c + 3 * count, count, rho) * opening));
}

/// ρᵈ, with 1 − xᵈ = (1 − x)(1 + x + … + xᵈ⁻¹), x = |ρ|.
WIDELIMIT_BOTH inline Moved<double> power_step(int degree, double rho, double t) {
  double before = 0;
  double value = 1;
  double quotient = 0;
  for (int i = 0; i < degree; ++i) {
    before = value;
    value *= rho;
    quotient = std::fma(quotient, std::abs(rho), 1.0);
  }
  const double rest = least(1.0, t * quotient);
  return {std::copysign(1 - rest, value), rest, degree * before};
}

struct MixtureSum {
  double value;
  double slope;
};

/// One term of the double sum over the logistic mixture.                     [widelimit/engine/cpu/vector/mixture.cpp]
WIDELIMIT_BOTH inline MixtureSum mixture_term(Phi phi, const Argument& at, double rho) {
  const double rest = one_minus_square(at.y);
  if (phi == Phi::tanh || phi == Phi::sigmoid) {
    return {2 * over_pi * arcsine(at.x, at.y), 2 * over_pi * at.ee / std::sqrt(rest)};
  }
  if (phi == Phi::softplus) {
    const double angle = arccos_of(at.y);
    const double opening = at.x >= 0 ? whole_pi - angle : angle;
    return {0.5 * over_pi * std::fma(opening, at.x, std::sqrt(rest)) / at.ee, 0.5 * over_pi * opening};
  }
  const double both = std::fma(0.5 * over_pi, arcsine(at.x, at.y), 0.25);
  const double over_root = 1 / std::sqrt(rest);
  const double density = 0.5 * over_pi * at.ee * over_root;
  const double square = rho * rho;
  const double angular = std::fma(square, at.squares, 1 - square);
  const double bend = at.hh * over_root;
  const double curvature = std::fma(bend, bend, at.squares);
  return {std::fma(rho, both, density * angular), std::fma(density * rho, curvature, both)};
}

/// Returns ρ and the factor of θ as Σ_jk w_j w_k·term(j, k), relative to the deviations n, n' after the step; nn = nn'.
WIDELIMIT_BOTH inline MixtureSum mixture_at(Phi phi, const DenseMixture* mixture, int count, double rho, double t,
                                            double r, double r_col, double nn) {
  const double scale = phi == Phi::tanh ? 0.5 : 1.0;
  MixtureSum sum{0, 0};
  for (int j = 0; j < count; ++j) {
    const double sigma = scale * mixture[j].deviation;
    const double over = 1 / std::sqrt(std::fma(r, r, sigma * sigma));
    for (int k = 0; k < count; ++k) {
      const double weight = mixture[j].weight * mixture[k].weight;
      if (weight < 1e-17) continue;
      const double sigma_col = scale * mixture[k].deviation;
      const double over_col = 1 / std::sqrt(std::fma(r_col, r_col, sigma_col * sigma_col));
      const Argument at = argument(r * over, r_col * over_col, sigma * over, sigma_col * over_col, rho, t);
      const MixtureSum term = mixture_term(phi, at, rho);
      sum.value = std::fma(weight, term.value, sum.value);
      sum.slope = std::fma(weight, term.slope, sum.slope);
    }
  }
  if (phi == Phi::tanh) return {nn * sum.value, nn * sum.slope};
  if (phi == Phi::sigmoid) return {0.25 * nn * (sum.value + 1), 0.25 * nn * sum.slope};
  return {nn * r * r_col * sum.value, nn * r * r_col * sum.slope};
}

/// Returns 1 − ρ_new near ρ = 1 accurately: its value at ρ = 1 plus ∫ dρ_new/dρ, by Gauss–Legendre quadrature in √t.
WIDELIMIT_BOTH inline double left_to_one(Phi phi, const DenseMixture* mixture, int count, double t, double r,
                                         double r_col, double nn, double stretch) {
  constexpr Coefficients<double, 5> nodes{
      {0.04691007703066802, 0.23076534494715845, 0.5, 0.7692346550528415, 0.9530899229693319}};
  constexpr Coefficients<double, 5> weights{
      {0.11846344252809454, 0.23931433524968324, 0.28444444444444444, 0.23931433524968324, 0.11846344252809454}};
  const double delta = (r_col - r) / std::sqrt(r * r_col);
  double left = 0.5 * delta * delta * stretch;
  if (!(std::abs(delta) < 1e-4)) {
    left = most(0.0, 1 - mixture_at(phi, mixture, count, 1, 0, r, r_col, nn).value);
  }
  for (int i = 0; i < 5; ++i) {
    const double part = t * nodes.value[i] * nodes.value[i];
    const double slope = mixture_at(phi, mixture, count, 1 - part, part, r, r_col, nn).slope;
    left = std::fma(2 * weights.value[i] * nodes.value[i] * t, slope, left);
  }
  return left;
}

/// Returns whether the Mehler series has too few terms for a pair. [SeriesRemainders, cpu/vector/strip.hpp]
WIDELIMIT_BOTH inline bool is_unresolved(const PairFeatures<double>& f, double rho) {
  double power = std::abs(rho);
  for (int i = 0; i < 8; ++i) power *= power;
  const double first = most(f.product(cpu::rest_row), f.product(cpu::slope_rest_row));
  const double second = most(f.product(cpu::long_rest_row), f.product(cpu::long_slope_rest_row));
  return power * first > 1 && power * power * power * power * second > 1;
}

/// Horner's rule on c_k = A_k A'_k, with 1 − Σ c_k xᵏ = ½Σ(A_k − A'_k)² + (1 − x)·Σ_j C_j xʲ, C_j = Σ_{k>j} c_k.
/// [widelimit/engine/cpu/vector/series.cpp]
WIDELIMIT_BOTH inline Moved<double> series_sum(const DenseStep& step, const PairFeatures<double>& f, double rho,
                                               double t) {
  const double sufficient_terms = most(f.first(cpu::sufficient_terms_row), f.second(cpu::sufficient_terms_row));
  const double maximal_terms = least(f.first(cpu::maximal_terms_row), f.second(cpu::maximal_terms_row));
  const bool complete = sufficient_terms <= maximal_terms && f.first(cpu::rest_row) + f.second(cpu::rest_row) == 0;
  const int terms = static_cast<int>(least(sufficient_terms, maximal_terms));
  const double x = std::abs(rho);
  double value = 0;
  double slope = 0;
  double sum = 0;
  double quotient = 0;
  double apart = 0;
  for (int i = terms - 1; i >= 0; --i) {
    const double a = i < step.row_terms ? f.first(cpu::series_rows + i) : 0.0;
    const double a_col = i < step.col_terms ? f.second(cpu::series_rows + i) : 0.0;
    const double c = a * a_col;
    slope = std::fma(slope, rho, value);
    value = std::fma(value, rho, c);
    if (i > 0) {
      sum += c;
      quotient = std::fma(quotient, x, sum);
    }
    apart = std::fma(a - a_col, a - a_col, apart);
  }
  const bool near = complete && (step.odd ? std::abs(value) >= 0.5 : value >= 0.5 && rho >= 0);
  if (!near) return {value, 1 - std::abs(value), slope};
  const double digits = std::fma(t, quotient, 0.5 * apart);
  return {std::copysign(1 - digits, value), digits, slope};
}

WIDELIMIT_BOTH inline Moved<double> series_step(const DenseStep& step, const DenseMixture* mixture, int count,
                                                const PairFeatures<double>& f, double rho, double t) {
  Moved<double> moved = series_sum(step, f, rho, t);
  if (count > 0 && is_unresolved(f, rho)) {
    const double r = f.first(cpu::deviation_row);
    const double r_col = f.second(cpu::deviation_row);
    const double nn = f.product(cpu::inverse_row);
    const MixtureSum found = mixture_at(step.phi, mixture, count, rho, t, r, r_col, nn);
    moved = {found.value, 1 - std::abs(found.value), found.slope};
    if (moved.t < 1e-6 && (step.phi == Phi::tanh || rho >= 0)) {
      moved.t = left_to_one(step.phi, mixture, count, t, r, r_col, nn, f.product(cpu::stretch_row));
      moved.rho = std::copysign(1 - moved.t, found.value);
    }
  }
  return {most(-1.0, least(1.0, moved.rho)), most(0.0, moved.t), moved.factor};
}

/// Steps outside the rectifier family, all in double. `tables` provides `constants`, `mixture` and `mixture_count`.
template <class Tables>
WIDELIMIT_BOTH inline Moved<double> smooth_step(const DenseStep& step, const Tables& tables,
                                                const PairFeatures<double>& f, double rho, double t) {
  switch (step.op) {
    case DenseOp::erf:
      return erf_step(f, rho, t);
    case DenseOp::gelu:
      return gelu_step(f, rho, t);
    case DenseOp::gaussian:
      return gaussian_step(f, rho, t);
    case DenseOp::radial:
      return radial_step(step.a, f, rho, t);
    case DenseOp::sine:
      return wave_step(true, f, rho, t);
    case DenseOp::cosine:
      return wave_step(false, f, rho, t);
    case DenseOp::sign:
      return sign_step(rho, t);
    case DenseOp::step_function:
      return step_function(f, rho, t);
    case DenseOp::arc_cosine:
      return arc_cosine_step(tables.constants + step.first_constant, step.degree + 1, rho, t);
    case DenseOp::power:
      return power_step(step.degree, rho, t);
    default:
      return series_step(step, tables.mixture, tables.mixture_count, f, rho, t);
  }
}

}  // namespace widelimit::cuda
