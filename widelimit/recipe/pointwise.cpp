#include "widelimit/recipe/pointwise.hpp"

#include "widelimit/base/error.hpp"

#include <cmath>
#include <limits>

namespace widelimit {

namespace {

/// Applies a scalar function point by point.
template <typename F>
Function each_point(F f) {
  return [f = std::move(f)](std::span<const double> x, std::span<double> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = f(x[i]);
  };
}

}  // namespace

void Pointwise::value(std::span<const double> x, std::span<double> y) const {
  function_.value(x, y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(y[i])) {
      fail(Code::numerical, "activation {} is {} at {}; use an activation that is finite everywhere, or scale the data",
           name_, y[i], x[i]);
    }
  }
}

void Pointwise::slope(const Pieces& pieces, std::span<const double> x, std::span<double> y) const {
  if (function_.slope) return function_.slope(x, y);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = pieces.around(x[i]).at(x[i]).slope;
}

std::shared_ptr<const Pieces> Pointwise::pieces(double reach) const {
  const int exponent = reach > 0 ? std::ilogb(reach) + 1 : std::numeric_limits<double>::min_exponent;
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Pieces>& cut = pieces_[exponent];
  if (!cut) {
    const Differentiable checked{[this](auto x, auto y) { value(x, y); }, function_.slope};
    cut = std::make_shared<const Pieces>(cut_into_pieces(checked, std::ldexp(1.0, exponent)));
  }
  return cut;
}

std::shared_ptr<const Pointwise> make_pointwise(const Activation& activation) {
  if (activation.phi == Phi::custom) {
    const std::shared_ptr<const Function> registered = find_activation(activation.name);
    return std::make_shared<const Pointwise>(activation.name, Differentiable{*registered, nullptr});
  }
  return std::make_shared<const Pointwise>(
      std::string(to_string(activation.phi)),
      Differentiable{each_point([activation](double x) { return evaluate(activation, x); }),
                     each_point([activation](double x) { return derivative(activation, x); })});
}

}  // namespace widelimit
