#include "widelimit/certificate/convex/gradient.hpp"

#include "widelimit/certificate/chain/chain.hpp"
#include "widelimit/certificate/cone/geometry.hpp"
#include "widelimit/engine/cones.hpp"
#include "widelimit/engine/enclosure/chain_slopes.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/engine/host/host.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace widelimit {

using enclosure::inverse_or_zero;

bool unscaled(const EntryExponents& exponents) {
  return exponents.point == 0 && std::all_of(exponents.sample.begin(), exponents.sample.end(),
                                             [](int e) { return e == 0 || e == EntryExponents::no_entry; });
}

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
    return [steps = ChainSteps(chain, kind), norms, features](double norm, const double* inner, EntrySlopes& slopes) {
      const ChainView view = steps.view();
      for (Index i = 0; i < std::ssize(norms); ++i) {
        const Sloped<double> entry = sloped_entry(view, norm, norms[usize(i)], inner[i]);
        slopes.value[usize(i)] = entry.value;
        slopes.across[usize(i)] = entry.by_c / features;
        slopes.along[usize(i)] = 2 * entry.by_q / features;
      }
    };
  }
  return [steps = ChainSteps(chain, kind), norms, features, rows = std::move(rows), entries = std::move(entries)](
             double norm, const double* inner, EntrySlopes& slopes) {
    const auto real = [](double x, int exponent) { return std::ldexp(static_cast<long double>(x), exponent); };
    const auto of = [](const EntryExponents& exponents, Index i) {
      return exponents.sample.empty() ? 0 : exponents.sample[usize(i)];
    };
    const ChainView view = steps.view();
    for (Index i = 0; i < std::ssize(norms); ++i) {
      if (of(entries, i) == EntryExponents::no_entry) continue;
      const int row = of(rows, i), down = entries.point + of(entries, i);
      const Sloped<long double> entry =
          sloped_entry(view, real(norm, rows.point), real(norms[usize(i)], row), real(inner[i], rows.point + row));
      slopes.value[usize(i)] = static_cast<double>(std::ldexp(entry.value, -down));
      slopes.across[usize(i)] = static_cast<double>(std::ldexp(entry.by_c / features, rows.point + row - down));
      slopes.along[usize(i)] = static_cast<double>(std::ldexp(2 * entry.by_q / features, 2 * rows.point - down));
    }
  };
}

HeldRule cone_slopes(const ConeKernel& kernel) {
  return [&kernel](const Cones& cones, const HeldDescent& descent) {
    cones.slopes(kernel.chain(), largest_cosine, descent.weights, descent.which, descent.norms, descent.inner,
                 descent.values, descent.along);
  };
}

HeldRule chain_slopes(const Chain& chain, Kind kind, std::span<const double> norms) {
  return [steps = ChainSteps(chain, kind), norms](const Cones& cones, const HeldDescent& descent) {
    cones.chain_slopes(steps.view(), descent.weights, descent.which, descent.norms, norms, descent.inner,
                       descent.values, descent.along);
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

HeldGradient::HeldGradient(const HeldSupport& support, std::span<const Functional> functionals,
                           const std::function<FunctionalWeights(const Functional&)>& weights, HeldRule rule)
    : support_(support),
      functionals_(functionals),
      rule_(std::move(rule)),
      rows_(functionals, [&](const Functional& f) { return append(weights(f)); }) {
  const Index supports = support.directions.rows();
  weights_ =
      support.engine.algebra().hold(MatrixView<const double>{dense_.data(), std::ssize(bias_), supports, supports});
}

Index HeldGradient::append(const FunctionalWeights& weights) {
  dense_.insert(dense_.end(), weights.beta.begin(), weights.beta.end());
  bias_.push_back(weights.bias);
  return std::ssize(bias_) - 1;
}

void HeldGradient::evaluate(MatrixView<const double> x, std::span<const Index> which, double* values,
                            MatrixView<double> gradients) const {
  const Algebra& algebra = support_.engine.algebra();
  const Index supports = support_.directions.rows();
  std::vector<Index> rows;
  std::vector<double> norms, along(usize(x.rows));
  for (Index k = 0; k < x.rows; ++k) {
    rows.push_back(rows_.of(functionals_[usize(which[usize(k)])]));
    norms.push_back(euclidean_norm(x.row(k), x.cols));
  }
  EngineMatrix inner = algebra.allocate(x.rows, supports, Precision::f64);
  algebra.product(1, Transpose::no, algebra.hold(x), Transpose::yes, support_.directions, 0, inner);
  rule_(support_.cones, {weights_, rows, norms, inner, values, along.data()});
  EngineMatrix slopes = algebra.allocate(x.rows, x.cols, Precision::f64);
  algebra.product(1, Transpose::no, inner, Transpose::no, support_.directions, 0, slopes);
  algebra.read(slopes, gradients);
  for (Index k = 0; k < x.rows; ++k) {
    values[k] += bias_[usize(rows[usize(k)])];
    for (Index j = 0; j < x.cols; ++j) gradients(k, j) += along[usize(k)] * x(k, j);
  }
}

}  // namespace widelimit
