#include "widelimit/certificate/cone_kernel.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/network/shape.hpp"

#include <cmath>
#include <limits>
#include <string>

namespace widelimit {

namespace {

constexpr double unit = 0x1p-53;  // of rounding

/// Reads a chain layer by layer; the first that does not belong ends it with a message.
class ConeReader {
 public:
  ConeReader(bool positions, Index features) : positions_(positions), scale_(1.0L / features) {}

  void read(const Layers& list) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      place_ = fmt::format("layer {} ({})", k + 1, to_text(list[k]));
      std::visit([this](const auto& layer) { (*this)(layer); }, list[k].value);
    }
    if (!(scale_ > 0) || !std::isfinite(static_cast<double>(scale_))) {
      fail(Code::usage, "the kernel of this network is 0 or overflows at every pair; there is nothing to certify");
    }
  }

  void operator()(const Dense& dense) {
    if (dense.b_std != 0) {
      fail(Code::usage,
           "{} has a bias, so that the kernel depends on more than norms and an angle; use method interval, or a "
           "network "
           "without b_std",
           place_);
    }
    scale_ *= static_cast<long double>(dense.w_std) * dense.w_std;
    (layers.empty() ? trained : layers.back().trained) += 1;
  }
  void operator()(const Scale& scale) { scale_ *= static_cast<long double>(scale.by) * scale.by; }
  void operator()(const Flatten&) { positions_ = false; }

  /// φ(x) = s·x + (1−s)·relu(x): E[φφ] = (1+s²)/2·rr'(aρ + bκ₁), a = 2s/(1+s²), b = (1−s)²/(1+s²).
  void operator()(const Activation& activation) {
    if (positions_) refuse("acts on positions of an image; flatten first");
    double slope = 0;
    if (activation.phi == Phi::leaky_relu) {
      slope = activation.slope;
      if (slope < 0) refuse("falls for negative values, and its kernel is no growing function of the angle");
    } else if (activation.phi == Phi::identity) {
      slope = 1;
    } else if (activation.phi != Phi::relu) {
      refuse("is no rectifier; certificates know relu, leaky_relu with a slope ≥ 0 and identity");
    }
    const long double s = slope;
    const long double power = 1 + s * s;
    scale_ *= power / 2;
    layers.push_back({.linear = static_cast<double>(2 * s / power),
                      .bend = static_cast<double>((1 - s) * (1 - s) / power),
                      .trained = 0});
  }

  template <typename Other>
  void operator()(const Other&) {
    refuse("has no certificate; fully connected networks do: dense layers with relu between them, such as fc:2 or eq2");
  }

  [[nodiscard]] double scale() const { return static_cast<double>(scale_); }

  std::vector<cpu::ConeLayer> layers;
  double trained = 0;

 private:
  [[noreturn]] void refuse(std::string_view why) const { fail(Code::usage, "{} {}", place_, why); }

  bool positions_;
  long double scale_;
  std::string place_;
};

}  // namespace

ConeKernel::ConeKernel(const Network& network, Kind kind, const Shape& shape) {
  read(network, kind, shape);
  bound_errors();
  convex_ = convex_on(-1, 1) && find_extremes();
}

void ConeKernel::read(const Network& network, Kind kind, const Shape& shape) {
  static_cast<void>(infer_shapes(network, shape));
  const Shape input = effective_input(network, shape);
  ConeReader reader(!input.is_vector(), input.size());
  reader.read(network.layers);
  layers_ = std::move(reader.layers);
  trained_ = reader.trained;
  tangent_ = kind == Kind::ntk;
  scale_ = reader.scale();
  scale_error_ = 8 * unit;
  largest_ = trained_;
  for (const cpu::ConeLayer& layer : layers_) largest_ += layer.trained;
  if (!tangent_) largest_ = 1;
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

/// Carries bounds of all errors along the recursion, as derived in docs/theory/certificates.md: `rest` relative of
/// t = 1 − |ρ|, the others absolute, those of slopes in units of 1 + 1/√(1−|u|).
void ConeKernel::bound_errors() {
  constexpr double fit = 1e-15;       // relative, of the polynomials for arccos
  constexpr double shrinkage = 0.68;  // t_new ≥ (1 − 1/π)·t
  double rest = unit, theta = unit * trained_, size = trained_, steep = 1 / 3.0;
  double rho_slope = 0, theta_slope = 0, size_slope = trained_;
  double rho = 0;
  for (const cpu::ConeLayer& layer : layers_) {
    const double turned = rho + rest;  // where rounding decided on the sign of ρ
    const double factor = (rest + fit) / 2 + 18 * unit + turned;
    const double new_rho = 1.6 * rest + fit + 16 * unit + turned;
    const double factor_slope = steep * (rest + 8 * unit + rho_slope);
    const double new_rho_slope = rho_slope + factor + unit;
    const double new_size_slope = size_slope + size * steep + layer.trained;
    theta_slope += size_slope * factor + size * factor_slope + theta * steep + layer.trained * new_rho_slope +
                   6 * unit * new_size_slope;
    theta += size * factor + layer.trained * new_rho + 6 * unit * (size + layer.trained);
    rest += fit + 20 * unit;
    rho = new_rho;
    rho_slope = new_rho_slope;
    size += layer.trained;
    size_slope = new_size_slope;
    steep /= std::sqrt(shrinkage);
  }
  value_error_ = tangent_ ? theta : rho;
  slope_error_ = tangent_ ? theta_slope : rho_slope;
}

}  // namespace widelimit
