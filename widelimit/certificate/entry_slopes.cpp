#include "widelimit/certificate/entry_slopes.hpp"

#include "widelimit/recipe/dual.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace widelimit {

namespace {

constexpr double largest_cosine = 1 - 1e-9;  ///< beyond it slopes are those at this one

double inverse_or_zero(double value) { return value > 0 ? 1 / value : 0; }

/// A number with its derivatives by q and by c.
struct Sloped {
  double value = 0, by_q = 0, by_c = 0;
};

Sloped operator*(double factor, const Sloped& a) { return {factor * a.value, factor * a.by_q, factor * a.by_c}; }
Sloped operator+(const Sloped& a, const Sloped& b) { return {a.value + b.value, a.by_q + b.by_q, a.by_c + b.by_c}; }

/// Of one pair: variances, the first with its derivative by q, covariance and tangent kernel.
struct SlopedPair {
  double first = 0, first_by_q = 1, second = 0;
  Sloped sigma, theta;
};

void pass_affine(const ChainLayer& layer, SlopedPair& pair) {
  const double w = layer.w_std * layer.w_std, b = layer.b_std * layer.b_std;
  pair.first = w * pair.first + b;
  pair.first_by_q *= w;
  pair.second = w * pair.second + b;
  pair.sigma = w * pair.sigma;
  pair.sigma.value += b;
  pair.theta = w * pair.theta;
  if (layer.trained) pair.theta = pair.theta + pair.sigma;
}

/// S = E[φφ] has ∂S/∂c = D = E[φ'φ'] and ∂S/∂r = h√(1−ρ²)/π, r = √(q₁q₂), h = ½(1−s)²; D has dD/dρ = h/(π√(1−ρ²)).
void pass_rectifier(const ChainLayer& layer, SlopedPair& pair) {
  const double r = std::sqrt(pair.first * pair.second);
  const double rho = std::clamp(pair.sigma.value * inverse_or_zero(r), -largest_cosine, largest_cosine);
  const double root = std::sqrt((1 - rho) * (1 + rho));
  const double bend = (1 - layer.slope) * (1 - layer.slope) / 2 / std::numbers::pi;
  const double growth = pair.first_by_q * inverse_or_zero(pair.first) / 2;  // ∂(log r)/∂q
  const auto dual = rectifier_dual(layer.slope, pair.first, pair.second, rho * r);
  const Sloped dot{dual.dot, bend / root * (pair.sigma.by_q * inverse_or_zero(r) - rho * growth),
                   bend / root * pair.sigma.by_c * inverse_or_zero(r)};
  pair.sigma = {dual.sigma, dual.dot * pair.sigma.by_q + bend * root * r * growth, dual.dot * pair.sigma.by_c};
  pair.theta = {dot.value * pair.theta.value, dot.value * pair.theta.by_q + dot.by_q * pair.theta.value,
                dot.value * pair.theta.by_c + dot.by_c * pair.theta.value};
  const double power = (1 + layer.slope * layer.slope) / 2;
  pair.first *= power;
  pair.first_by_q *= power;
  pair.second *= power;
}

}  // namespace

EntryRule cone_entries(const ConeKernel& kernel, std::span<const double> norms) {
  return [&kernel, norms](double norm, const double* inner, EntrySlopes& slopes) {
    const Index supports = std::ssize(norms);
    const double inverse = inverse_or_zero(norm);
    std::vector<double> u(norms.size()), kappa(norms.size()), slope(norms.size());
    for (Index i = 0; i < supports; ++i) {
      u[at(i)] = std::clamp(inner[i] * inverse * inverse_or_zero(norms[at(i)]), -largest_cosine, largest_cosine);
    }
    kernel.evaluate(supports, {.u = u.data(), .value = kappa.data(), .slope = slope.data()});
    for (Index i = 0; i < supports; ++i) {
      const double length = kernel.scale() * norms[at(i)];
      slopes.value[at(i)] = length * norm * kappa[at(i)];
      slopes.across[at(i)] = kernel.scale() * slope[at(i)];
      slopes.along[at(i)] = length * inverse * (kappa[at(i)] - u[at(i)] * slope[at(i)]);
    }
  };
}

EntryRule chain_entries(const Chain& chain, Kind kind, std::span<const double> norms) {
  return [&chain, kind, norms](double norm, const double* inner, EntrySlopes& slopes) {
    const auto features = static_cast<double>(chain.features);
    for (Index i = 0; i < std::ssize(norms); ++i) {
      SlopedPair pair{.first = norm * norm / features,
                      .second = norms[at(i)] * norms[at(i)] / features,
                      .sigma = {.value = inner[i] / features, .by_c = 1},
                      .theta = {}};
      for (const ChainLayer& layer : chain.layers) {
        layer.rectifier ? pass_rectifier(layer, pair) : pass_affine(layer, pair);
      }
      const Sloped& entry = kind == Kind::ntk ? pair.theta : pair.sigma;
      slopes.value[at(i)] = entry.value;
      slopes.across[at(i)] = entry.by_c / features;
      slopes.along[at(i)] = 2 * entry.by_q / features;
    }
  };
}

}  // namespace widelimit
