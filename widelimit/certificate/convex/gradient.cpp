#include "widelimit/certificate/convex/gradient.hpp"

#include "widelimit/certificate/cone/geometry.hpp"
#include "widelimit/engine/cones.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/engine/host/host.hpp"
#include "widelimit/recipe/dual.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace widelimit {

namespace {

constexpr double largest_cosine = 1 - 1e-9;  ///< beyond it slopes are those at this one

template <std::floating_point T>
T inverse_or_zero(T value) {
  return value > 0 ? 1 / value : 0;
}

/// A number with its derivatives by q and by c.
template <std::floating_point T>
struct Sloped {
  T value = 0, by_q = 0, by_c = 0;
};

template <std::floating_point T>
Sloped<T> operator*(T factor, const Sloped<T>& a) {
  return {factor * a.value, factor * a.by_q, factor * a.by_c};
}
template <std::floating_point T>
Sloped<T> operator+(const Sloped<T>& a, const Sloped<T>& b) {
  return {a.value + b.value, a.by_q + b.by_q, a.by_c + b.by_c};
}

/// Of one pair: variances, the first with its derivative by q, covariance and tangent kernel.
template <std::floating_point T>
struct SlopedPair {
  T first = 0, first_by_q = 1, second = 0;
  Sloped<T> sigma, theta;
};

template <std::floating_point T>
void pass_affine(const ChainLayer& layer, SlopedPair<T>& pair) {
  const T w = static_cast<T>(layer.w_std) * layer.w_std, b = static_cast<T>(layer.b_std) * layer.b_std;
  pair.first = w * pair.first + b;
  pair.first_by_q *= w;
  pair.second = w * pair.second + b;
  pair.sigma = w * pair.sigma;
  pair.sigma.value += b;
  pair.theta = w * pair.theta;
  if (layer.trained) pair.theta = pair.theta + pair.sigma;
}

/// S = E[φφ] has ∂S/∂c = D = E[φ'φ'] and ∂S/∂r = h√(1−ρ²)/π, r = √(q₁q₂), h = ½(1−s)²; D has dD/dρ = h/(π√(1−ρ²)).
template <std::floating_point T>
void pass_rectifier(const ChainLayer& layer, SlopedPair<T>& pair) {
  const T slope = layer.slope, r = std::sqrt(pair.first * pair.second), cosine = largest_cosine;
  const T rho = std::clamp(pair.sigma.value * inverse_or_zero(r), -cosine, cosine);
  const T root = std::sqrt((1 - rho) * (1 + rho));
  const T bend = (1 - slope) * (1 - slope) / 2 / std::numbers::pi_v<T>;
  const T growth = pair.first_by_q * inverse_or_zero(pair.first) / 2;  // ∂(log r)/∂q
  const auto dual = rectifier_dual<T>(slope, {pair.first, pair.second, rho * r});
  const Sloped<T> dot{dual.dot, bend / root * (pair.sigma.by_q * inverse_or_zero(r) - rho * growth),
                      bend / root * pair.sigma.by_c * inverse_or_zero(r)};
  pair.sigma = {dual.sigma, dual.dot * pair.sigma.by_q + bend * root * r * growth, dual.dot * pair.sigma.by_c};
  pair.theta = {dot.value * pair.theta.value, dot.value * pair.theta.by_q + dot.by_q * pair.theta.value,
                dot.value * pair.theta.by_c + dot.by_c * pair.theta.value};
  const T power = (1 + slope * slope) / 2;
  pair.first *= power;
  pair.first_by_q *= power;
  pair.second *= power;
}

/// An entry from ‖x‖, ‖xᵢ‖ and ⟨x, xᵢ⟩.
template <std::floating_point T>
Sloped<T> chain_entry(const Chain& chain, Kind kind, T norm, T other, T inner) {
  const T features = static_cast<T>(chain.features);
  SlopedPair<T> pair{.first = norm * norm / features,
                     .second = other * other / features,
                     .sigma = {.value = inner / features, .by_c = 1},
                     .theta = {}};
  for (const ChainLayer& layer : chain.layers) layer.rectifier ? pass_rectifier(layer, pair) : pass_affine(layer, pair);
  return kind == Kind::ntk ? pair.theta : pair.sigma;
}

/// Whether all exponents are 0.
bool unscaled(const EntryExponents& exponents) {
  return exponents.point == 0 && std::all_of(exponents.sample.begin(), exponents.sample.end(),
                                             [](int e) { return e == 0 || e == EntryExponents::no_entry; });
}

}  // namespace

EntryRule cone_entries(const ConeKernel& kernel, std::span<const double> norms) {
  return [&kernel, norms](double norm, const double* inner, EntrySlopes& slopes) {
    const Index supports = std::ssize(norms);
    const double inverse = inverse_or_zero(norm);
    std::vector<double> u(norms.size()), kappa(norms.size()), slope(norms.size());
    for (Index i = 0; i < supports; ++i) {
      u[usize(i)] = std::clamp(inner[i] * inverse * inverse_or_zero(norms[usize(i)]), -largest_cosine, largest_cosine);
    }
    kernel.evaluate(supports, {.u = u.data(), .value = kappa.data(), .slope = slope.data()});
    for (Index i = 0; i < supports; ++i) {
      const double length = kernel.scale() * norms[usize(i)];
      slopes.value[usize(i)] = length * norm * kappa[usize(i)];
      slopes.across[usize(i)] = kernel.scale() * slope[usize(i)];
      slopes.along[usize(i)] = length * inverse * (kappa[usize(i)] - u[usize(i)] * slope[usize(i)]);
    }
  };
}

EntryRule chain_entries(const Chain& chain, Kind kind, std::span<const double> norms, EntryExponents rows,
                        EntryExponents entries) {
  const auto features = static_cast<double>(chain.features);
  if (unscaled(rows) && unscaled(entries)) {
    return [&chain, kind, norms, features](double norm, const double* inner, EntrySlopes& slopes) {
      for (Index i = 0; i < std::ssize(norms); ++i) {
        const Sloped<double> entry = chain_entry(chain, kind, norm, norms[usize(i)], inner[i]);
        slopes.value[usize(i)] = entry.value;
        slopes.across[usize(i)] = entry.by_c / features;
        slopes.along[usize(i)] = 2 * entry.by_q / features;
      }
    };
  }
  return [&chain, kind, norms, features, rows = std::move(rows), entries = std::move(entries)](
             double norm, const double* inner, EntrySlopes& slopes) {
    const auto real = [](double x, int exponent) { return std::ldexp(static_cast<long double>(x), exponent); };
    const auto of = [](const EntryExponents& exponents, Index i) {
      return exponents.sample.empty() ? 0 : exponents.sample[usize(i)];
    };
    for (Index i = 0; i < std::ssize(norms); ++i) {
      if (of(entries, i) == EntryExponents::no_entry) continue;
      const int row = of(rows, i), down = entries.point + of(entries, i);
      const Sloped<long double> entry = chain_entry(chain, kind, real(norm, rows.point), real(norms[usize(i)], row),
                                                    real(inner[i], rows.point + row));
      slopes.value[usize(i)] = static_cast<double>(std::ldexp(entry.value, -down));
      slopes.across[usize(i)] = static_cast<double>(std::ldexp(entry.by_c / features, rows.point + row - down));
      slopes.along[usize(i)] = static_cast<double>(std::ldexp(2 * entry.by_q / features, 2 * rows.point - down));
    }
  };
}

FunctionalGradient::FunctionalGradient(MatrixView<const double> support, std::span<const Functional> functionals,
                                       const std::function<FunctionalWeights(const Functional&)>& weights,
                                       EntryRule rule)
    : support_(support), functionals_(functionals), rule_(std::move(rule)), weights_(functionals, weights) {}

void FunctionalGradient::evaluate(MatrixView<const double> x, std::span<const Index> which, double* values,
                                  MatrixView<double> gradients) const {
  const Index supports = support_.rows;
  std::vector<double> memory(usize(x.rows * supports)), along(usize(x.rows));
  const MatrixView<double> pairs{memory.data(), x.rows, supports, supports};
  host::product<double>(1, Transpose::no, x, Transpose::yes, support_, 0, pairs);
  EntrySlopes slopes(supports);
  for (Index k = 0; k < x.rows; ++k) {
    double* row = pairs.row(k);
    rule_(euclidean_norm(x.row(k), x.cols), row, slopes);
    const FunctionalWeights& weights = weights_.of(functionals_[usize(which[usize(k)])]);
    values[k] = weights.bias;
    for (Index i = 0; i < supports; ++i) {
      const double beta = weights.beta[usize(i)];
      values[k] += beta * slopes.value[usize(i)];
      along[usize(k)] += beta * slopes.along[usize(i)];
      row[i] = beta * slopes.across[usize(i)];
    }
  }
  host::product<double>(1, Transpose::no, pairs, Transpose::no, support_, 0, gradients);
  for (Index k = 0; k < x.rows; ++k) {
    for (Index j = 0; j < x.cols; ++j) gradients(k, j) += along[usize(k)] * x(k, j);
  }
}

HeldGradient::HeldGradient(const ConeKernel& kernel, const SupportGeometry& support,
                           std::span<const Functional> functionals,
                           const std::function<FunctionalWeights(const Functional&)>& weights)
    : kernel_(kernel),
      support_(support),
      functionals_(functionals),
      rows_(functionals, [&](const Functional& f) { return append(weights(f)); }) {
  const Index supports = std::ssize(support.norms);
  weights_ = support.held->engine.algebra().hold(
      MatrixView<const double>{dense_.data(), std::ssize(bias_), supports, supports});
}

Index HeldGradient::append(const FunctionalWeights& weights) {
  for (std::size_t i = 0; i < weights.beta.size(); ++i) {
    dense_.push_back(weights.beta[i] * support_.norms[i] * kernel_.scale());
  }
  bias_.push_back(weights.bias);
  return std::ssize(bias_) - 1;
}

void HeldGradient::evaluate(MatrixView<const double> x, std::span<const Index> which, double* values,
                            MatrixView<double> gradients) const {
  const HeldSupport& held = *support_.held;
  const Algebra& algebra = held.engine.algebra();
  const Index supports = std::ssize(support_.norms);
  std::vector<Index> rows;
  std::vector<double> norms, along(usize(x.rows));
  for (Index k = 0; k < x.rows; ++k) {
    rows.push_back(rows_.of(functionals_[usize(which[usize(k)])]));
    norms.push_back(euclidean_norm(x.row(k), x.cols));
  }
  EngineMatrix inner = algebra.allocate(x.rows, supports, Precision::f64);
  algebra.product(1, Transpose::no, algebra.hold(x), Transpose::yes, held.directions, 0, inner);
  held.cones.slopes(kernel_.chain(), largest_cosine, weights_, rows, norms, inner, values, along.data());
  EngineMatrix slopes = algebra.allocate(x.rows, x.cols, Precision::f64);
  algebra.product(1, Transpose::no, inner, Transpose::no, held.directions, 0, slopes);
  algebra.read(slopes, gradients);
  for (Index k = 0; k < x.rows; ++k) {
    values[k] += bias_[usize(rows[usize(k)])];
    for (Index j = 0; j < x.cols; ++j) gradients(k, j) += along[usize(k)] * x(k, j);
  }
}

}  // namespace widelimit
