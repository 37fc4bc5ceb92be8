#include "widelimit/engine/quadrature_error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace widelimit {

void DualError::add(const DualError& other) {
  value = std::max(value, other.value);
  slope = std::max(slope, other.slope);
  growth = std::max(growth, other.growth);
  slope_growth = std::max(slope_growth, other.slope_growth);
}

bool has_errors(const DualErrors& duals) {
  return std::any_of(duals.begin(), duals.end(),
                     [](const DualError& error) { return error.value > 0 || error.slope > 0; });
}

DualError closed_form_growth(const std::function<DualValue<long double>(long double q)>& self, long double q) {
  constexpr long double step = 1e-6L;
  const DualValue<long double> at = self(q);
  const DualValue<long double> above = self(q * (1 + step));
  const auto growth = [&](long double before, long double after) {
    const long double ratio = std::abs(after / before - 1) / step;
    return before != 0 && std::isfinite(ratio) ? static_cast<double>(ratio) : 0.0;
  };
  return {0, 0, growth(at.sigma, above.sigma), growth(at.dot, above.dot)};
}

double quadrature_error(const Recipe& recipe, const DualErrors& duals) {
  if (!has_errors(duals)) return 0;
  struct Errors {
    double sigma = 0.0;
    double theta = 0.0;
  };
  std::vector<Errors> stack{Errors{}};
  double worst = 0;
  auto dual = duals.begin();
  for (const Step& step : recipe.steps) {
    Errors& top = stack.back();
    switch (step.op) {
      case Op::dual:
        top.theta += dual->slope + (1 + dual->slope_growth) * top.sigma;
        top.sigma = dual->value + std::max(1.0, dual->growth) * top.sigma;
        ++dual;
        break;
      case Op::affine:
        if (step.channel_end > step.channel_begin) top.theta = std::max(top.theta, top.sigma);
        break;
      case Op::layer_norm:
        top.theta += top.sigma;
        break;
      case Op::fork:
        stack.push_back(Errors(top));
        break;
      case Op::swap:
        std::swap(top, stack[stack.size() - 2]);
        break;
      case Op::join: {
        const Errors other = top;
        stack.pop_back();
        stack.back().sigma = std::max(stack.back().sigma, other.sigma);
        stack.back().theta = std::max(stack.back().theta, other.theta);
        break;
      }
      case Op::emit:
        if (step.nngp_slot >= 0) worst = std::max(worst, top.sigma);
        if (step.ntk_count > 0) worst = std::max(worst, top.theta);
        break;
      default:  // averages over positions do not amplify errors
        break;
    }
  }
  return worst;
}

}  // namespace widelimit
