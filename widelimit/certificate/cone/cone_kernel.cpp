#include "widelimit/certificate/cone/cone_kernel.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/engine/enclosure/interval.hpp"

#include <cmath>

namespace widelimit {

namespace {

/// Lower bound of t = 1 − ρ after a relu. t_new/t = 1 − w(t)/t decreases with t, so among all t before the layers the
/// reduction is largest from t = 1. Other rectifiers reduce t less.
double after_relu(double t) { return (t - bend_at(t)) * (1 - 1e-9); }

}  // namespace

ConeKernel::ConeKernel(const Network& network, Kind kind, const Shape& shape)
    : ConeKernel(read_chain(network, shape), kind) {}

ConeKernel::ConeKernel(const Chain& chain, Kind kind) : tangent_(kind == Kind::ntk) {
  read(chain);
  bound_errors();
  convex_ = convex_on(-1, 1);
  if (convex_) find_extremes();
}

/// φ(x) = s·x + (1−s)·relu(x) has E[φφ] = (1+s²)/2·rr'(aρ + bκ₁), a = 2s/(1+s²), b = (1−s)²/(1+s²).
void ConeKernel::read(const Chain& chain) {
  long double scale = 1.0L / static_cast<long double>(chain.features);
  for (const ChainLayer& layer : chain.layers) {
    if (layer.rectifier) {
      const long double s = layer.slope;
      const long double power = 1 + s * s;
      scale *= power / 2;
      layers_.push_back({.linear = static_cast<double>(2 * s / power),
                         .bend = static_cast<double>((1 - s) * (1 - s) / power),
                         .trained = 0});
      continue;
    }
    if (layer.b_std != 0) {
      fail(Code::usage,
           "{} has a bias, so that the kernel does not depend on norms and the angle alone; use method interval, or a "
           "network without b_std",
           layer.place);
    }
    scale *= static_cast<long double>(layer.w_std) * layer.w_std;
    if (layer.trained) (layers_.empty() ? trained_ : layers_.back().trained) += 1;
  }
  largest_ = trained_;
  for (const host::ConeLayer& layer : layers_) largest_ += layer.trained;
  if (!tangent_) largest_ = 1;
  if (largest_ == 0) scale = 0;
  if (!(scale > 0) || !std::isfinite(scale)) {
    fail(Code::usage, "the kernel of this network is {} for all pairs; there is nothing to certify",
         static_cast<double>(scale));
  }
  exponent_ = static_cast<int>(64 * std::lround(std::ilogb(scale) / 64.0));
  scale_ = static_cast<double>(std::ldexp(scale, -exponent_));
  // Products in long double, rounded once.
  scale_error_ = (4 + static_cast<double>(chain.layers.size()) * 0x1p-8) * unit_roundoff;
}

double ConeKernel::value(double u) const {
  double kappa = 0;
  evaluate(1, {.u = &u, .value = &kappa});
  return kappa;
}

double ConeKernel::slope(double u) const {
  double kappa = 0, derivative = 0;
  evaluate(1, {.u = &u, .value = &kappa, .slope = &derivative});
  return derivative;
}

ConeProfile ConeKernel::profile() const {
  return {.chain = chain(),
          .largest = largest_,
          .opposite = value(-1),
          .lowest = lowest_,
          .fall_end = fall_end_,
          .growth_begin = growth_begin_,
          .lowest_value = lowest_value_,
          .ray_above = ray_above_,
          .ray_below = ray_below_};
}

/// Propagates error bounds along the recursion, see docs/theory/certificates-proof.md: `rest` is relative to
/// t = 1 − |ρ|, the others are absolute, those of slopes in units of 1 + 1/√(1−|u|).
void ConeKernel::bound_errors() {
  constexpr double fit = 1e-15;  // relative error of the polynomials for arccos
  double rest = unit_roundoff, theta = unit_roundoff * trained_, size = trained_, steep = 1 / 3.0;
  double rho_slope = 0, theta_slope = 0, size_slope = trained_;
  double rho = 0, shrunk = 1;
  bool signs = false;  // whether rounding can change the sign of ρ, which is positive after a relu
  for (const host::ConeLayer& layer : layers_) {
    const double turned = signs ? 2 * (rho + rest) : 0;
    const double factor = (rest + fit) / 2 + 18 * unit_roundoff + turned;
    const double new_rho = 1.6 * rest + fit + 16 * unit_roundoff + turned;
    const double factor_slope = steep * (rest + 8 * unit_roundoff + rho_slope);
    const double new_rho_slope = rho_slope + factor + unit_roundoff;
    const double new_size_slope = size_slope + size * steep + layer.trained;
    theta_slope += size_slope * factor + size * factor_slope + theta * steep + layer.trained * new_rho_slope +
                   6 * unit_roundoff * new_size_slope;
    theta += size * factor + layer.trained * new_rho + 6 * unit_roundoff * (size + layer.trained);
    rest += fit + 20 * unit_roundoff + 2 * turned;
    signs = layer.linear > 0;
    rho = new_rho;
    rho_slope = new_rho_slope;
    size += layer.trained;
    size_slope = new_size_slope;
    shrunk = after_relu(shrunk);
    steep = 1 / (3 * std::sqrt(shrunk));
  }
  value_error_ = tangent_ ? theta : rho;
  slope_error_ = tangent_ ? theta_slope : rho_slope;
}

}  // namespace widelimit
