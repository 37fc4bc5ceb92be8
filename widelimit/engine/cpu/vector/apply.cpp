#include "widelimit/engine/cpu/vector/apply.hpp"

#include "widelimit/engine/cpu/vector/hermite_series.hpp"
#include "widelimit/recipe/quadrature/logistic_mixture.hpp"
#include "widelimit/recipe/quadrature/pair_mean.hpp"
#include "widelimit/recipe/rectified_monomial.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace widelimit::cpu {

namespace {

/// J_n(ρ)/(π(2n−1)!!) and n²J_{n−1}(ρ)/(π(2n−1)!!), relative to the standard deviations.
void rectified_monomial(int n, const Strip<double>& strip) {
  const auto scaled = [](std::vector<double> coefficients, double factor, std::size_t size) {
    coefficients.resize(size, 0.0);
    for (double& c : coefficients) c *= factor;
    return coefficients;
  };
  const double scale = 1.0 / (std::numbers::pi * odd_factorial(n));
  const auto size = static_cast<std::size_t>(n) + 1;
  const ArccosinePolynomials j = arccosine_polynomials(n);
  const ArccosinePolynomials j_dot = arccosine_polynomials(n - 1);
  const double slope = static_cast<double>(n) * n * scale;
  const auto a = scaled(j.a, scale, size);
  const auto b = scaled(j.b, scale, size);
  const auto a_dot = scaled(j_dot.a, slope, size);
  const auto b_dot = scaled(j_dot.b, slope, size);
  arc_cosine_strip({a.data(), b.data(), a_dot.data(), b_dot.data(), n + 1}, strip);
}

bool is_odd(const Dual& dual) { return dual.phi == Phi::tanh || (dual.phi == Phi::monomial && dual.degree % 2 == 1); }

/// 1[x ≥ 0]: the correlation of the sign, blended with the constant.
void step_function(const FeatureSides<double>& f, const Strip<double>& strip) {
  Strip<double> untrained = strip;
  untrained.trained_begin = untrained.trained_end = 0;
  sign_strip(untrained);
  blend_constant(f[0], f[1], strip.trained_begin, strip.trained_end, strip);
}

/// Scratch buffer for duals by series; one per thread.
DualStrip dual_scratch(Index size) {
  thread_local Matrix<double> memory;
  const Index stride = padded(size);
  if (memory.cols() < stride) memory = Matrix<double>(3, stride);
  return {memory.data(), memory.data() + memory.cols(), memory.data() + 2 * memory.cols()};
}

/// Evaluates unresolved pairs of a function without mixture one by one.
void mean_pairs(const FeatureSides<double>& f, const SeriesRemainders& rests, const Strip<double>& strip,
                const DualStrip& dual) {
  const auto side = [&](const Sides<double>& sides, Index k) {
    return sides.row[sides.row_varies ? k : (sides.row_in_groups ? k / strip_padding : 0)];
  };
  const Sides<double> r = f[deviation_row];
  const Sides<double> n = f[inverse_row];
  GaussianSample first;
  for (Index k = 0; k < strip.size; ++k) {
    if (!is_unresolved(rests, strip, k)) continue;
    if (const double s = side(r, k); s != first.deviation) first = sample_pieces(*f.row->function, s);
    const GaussianSample second = sample_pieces(*f.col->function, r.col[k]);
    const PairMean mean = pair_mean(first, second, strip.t[k], strip.rho[k] >= 0);
    const double nn = side(n, k) * n.col[k];
    dual.t[k] = mean.apart;
    dual.rho[k] = std::copysign(1 - mean.apart, mean.sigma);
    dual.slope[k] = nn * first.deviation * second.deviation * mean.dot;
  }
}

void series_dual(const Dual& phi, const FeatureSides<double>& f, const Strip<double>& strip) {
  const DualStrip dual = dual_scratch(strip.size);
  const Sides<double> first = f[series_rows];
  Series series{f[sufficient_terms_row],
                f[maximal_terms_row],
                f[rest_row],
                first.row,
                nullptr,
                f.row->stride(),
                first.col,
                nullptr,
                f.col->stride(),
                is_odd(phi)};
  if (has_slope_series(phi)) {
    series.slope_row = series.row + f.row->terms * series.row_stride;
    series.slope_col = series.col + f.col->terms * series.col_stride;
  }
  series_strip(series, strip, dual);
  const SeriesRemainders rests{f[rest_row], f[slope_rest_row], f[long_rest_row], f[long_slope_rest_row]};
  if (any_unresolved(rests, strip)) {
    if (is_logistic(phi.phi)) {
      mixture_strip(phi.phi, {f[deviation_row], f[inverse_row], f[stretch_row]}, rests, strip, dual);
    } else {
      mean_pairs(f, rests, strip, dual);
    }
  }
  store_dual(dual, strip);
}

void smooth_dual(const Dual& dual, const FeatureSides<double>& f, const Strip<double>& strip) {
  switch (dual.phi) {
    case Phi::erf:
      erf_strip(f[0], f[1], f[2], f[3], strip);
      break;
    case Phi::gelu:
      gelu_strip(f[0], f[1], f[2], strip);
      break;
    case Phi::gaussian:
      gaussian_strip(f[0], f[1], f[2], f[3], strip);
      break;
    case Phi::exp:
      radial_strip(0.5, f[0], strip);
      break;
    case Phi::rbf:
      radial_strip(dual.parameter, f[0], strip);
      break;
    case Phi::sin:
      wave_strip(true, f[0], f[1], strip);
      break;
    case Phi::cos:
      wave_strip(false, f[0], f[1], strip);
      break;
    case Phi::sign:
      sign_strip(strip);
      break;
    case Phi::hermite:
      power_strip(dual.degree, strip);
      break;
    case Phi::rectified_monomial:
      if (dual.degree == 0) {
        step_function(f, strip);
      } else {
        rectified_monomial(dual.degree, strip);
      }
      break;
    default:
      series_dual(dual, f, strip);
      break;
  }
}

template <typename T>
void apply_dual(const Dual& dual, const FeatureSides<T>& features, const Strip<T>& strip) {
  if (const auto slope = rectifier_slope(dual)) {
    const double norm = 1 + *slope * *slope;
    rectifier(static_cast<T>(2 * *slope / norm), static_cast<T>((1 - *slope) * (1 - *slope) / norm), strip);
    return;
  }
  if constexpr (std::is_same_v<T, double>) smooth_dual(dual, features, strip);
}

}  // namespace

std::optional<double> rectifier_slope(const Dual& dual) {
  switch (dual.phi) {
    case Phi::relu:
      return 0.0;
    case Phi::abs:
      return -1.0;
    case Phi::leaky_relu:
      return dual.parameter;
    default:
      return std::nullopt;
  }
}

bool runs_in_float(const Recipe& recipe) {
  return std::all_of(recipe.steps.begin(), recipe.steps.end(),
                     [](const Step& step) { return step.op != Op::dual || rectifier_slope(step.dual); });
}

template <typename T>
void apply(const Step& step, const FeatureSides<T>& features, const Strip<T>& other, const Strip<T>& strip) {
  switch (step.op) {
    case Op::affine:
      if (step.b2 > 0) {
        blend_constant(features[0], features[1], step.channel_begin, step.channel_end, strip);
      } else {
        add_rho(step.channel_begin, step.channel_end, strip);
      }
      break;
    case Op::dual:
      apply_dual(step.dual, features, strip);
      break;
    case Op::dropout:
      shrink(static_cast<T>(step.rate), strip);
      break;
    case Op::join:
      blend(features[0], features[1], other, strip);
      break;
    default:
      break;  // layer_norm changes standard deviations only
  }
}

template void apply(const Step&, const FeatureSides<float>&, const Strip<float>&, const Strip<float>&);
template void apply(const Step&, const FeatureSides<double>&, const Strip<double>&, const Strip<double>&);

}  // namespace widelimit::cpu
