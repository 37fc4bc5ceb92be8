#include "widelimit/backend/cpu/apply.hpp"

#include "widelimit/backend/cpu/hermite_series.hpp"
#include "widelimit/recipe/rectified_monomial.hpp"

#include <algorithm>
#include <numbers>

namespace widelimit::cpu {

namespace {

/// J_n(ρ)/(π(2n−1)!!) and n²J_{n−1}(ρ)/(π(2n−1)!!), relative to the deviations.
void rectified_monomial(int n, const Strip<double>& strip) {
  const auto scaled = [](std::vector<double> coefficients, double factor, std::size_t size) {
    coefficients.resize(size, 0.0);
    for (double& c : coefficients) c *= factor;
    return coefficients;
  };
  const double scale = 1.0 / (std::numbers::pi * odd_factorial(n));
  const auto size = static_cast<std::size_t>(n) + 1;
  const ArcCosine j = arc_cosine(n);
  const ArcCosine j_dot = n > 0 ? arc_cosine(n - 1) : ArcCosine{};
  const double slope = static_cast<double>(n) * n * scale;
  const auto a = scaled(j.a, scale, size);
  const auto b = scaled(j.b, scale, size);
  const auto a_dot = scaled(j_dot.a, slope, size);
  const auto b_dot = scaled(j_dot.b, slope, size);
  arc_cosine_strip({a.data(), b.data(), a_dot.data(), b_dot.data(), n + 1}, strip);
}

/// ρ ← ρᵈ as a series with one coefficient, the same for all places.
void power(int degree, const Strip<double>& strip) {
  const auto stride = static_cast<std::size_t>(padded(strip.size));
  std::vector<double> coefficients((static_cast<std::size_t>(degree) + 1) * stride, 0.0);
  std::fill(coefficients.end() - static_cast<Index>(stride), coefficients.end(), 1.0);
  const auto step = static_cast<Index>(stride);
  series_strip({coefficients.data(), step, true, coefficients.data(), step, degree + 1}, strip);
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
      power(dual.degree, strip);
      break;
    case Phi::rectified_monomial:
      rectified_monomial(dual.degree, strip);
      break;
    default:
      series_strip(
          {f[0].row, f.row->stride(), f.row_varies, f[0].col, f.col->stride(), series_length(dual), f.row_in_groups},
          strip);
      break;
  }
}

template <typename T>
void apply_dual(const Dual& dual, const FeatureSides<T>& features, const Strip<T>& strip) {
  if (dual.phi == Phi::identity) {
    add_rho(strip.trained_begin, strip.trained_end, strip);
    return;
  }
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
  return std::all_of(recipe.steps.begin(), recipe.steps.end(), [](const Step& step) {
    return step.op != Op::dual || step.dual.phi == Phi::identity || rectifier_slope(step.dual);
  });
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
      break;  // layer_norm changes deviations only
  }
}

template void apply(const Step&, const FeatureSides<float>&, const Strip<float>&, const Strip<float>&);
template void apply(const Step&, const FeatureSides<double>&, const Strip<double>&, const Strip<double>&);

}  // namespace widelimit::cpu
