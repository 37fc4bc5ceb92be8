#include "widelimit/network/activation.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/network/value.hpp"

#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <shared_mutex>
#include <utility>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 21> phi_names{"relu",
                                                     "leaky_relu",
                                                     "abs",
                                                     "erf",
                                                     "gelu",
                                                     "sin",
                                                     "cos",
                                                     "sign",
                                                     "exp",
                                                     "gaussian",
                                                     "rbf",
                                                     "monomial",
                                                     "rectified_monomial",
                                                     "hermite",
                                                     "polynomial",
                                                     "identity",
                                                     "tanh",
                                                     "sigmoid",
                                                     "swish",
                                                     "softplus",
                                                     "custom"};
static_assert(phi_names.size() == static_cast<std::size_t>(Phi::custom) + 1);

struct Registry {
  std::shared_mutex mutex;
  std::map<std::string, std::shared_ptr<const Function>, std::less<>> functions;
};

Registry& registry() {
  static Registry all;
  return all;
}

double power(double x, Index degree) {
  double product = 1;
  for (Index i = 0; i < degree; ++i) product *= x;
  return product;
}

/// 1/(1 + e^{−x}) without overflow for either sign.
double logistic(double x) {
  const double e = std::exp(-std::abs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

/// σ(1 − σ) without cancellation in 1 − σ.
double logistic_slope(double x) {
  const double e = std::exp(-std::abs(x));
  return e / ((1 + e) * (1 + e));
}

double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }
/// erfc is accurate in the lower tail.
double normal_probability(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

/// h_n = He_n/√n!, by √(n+1)·h_{n+1} = x·h_n − √n·h_{n−1}.
double hermite(Index degree, double x) {
  double previous = 0;
  double current = 1;
  for (Index n = 0; n < degree; ++n) {
    const auto order = static_cast<double>(n);
    previous = std::exchange(current, (x * current - std::sqrt(order) * previous) / std::sqrt(order + 1));
  }
  return current;
}

double polynomial(const std::vector<double>& coef, double x) {
  double sum = 0;
  for (std::size_t i = coef.size(); i-- > 0;) sum = sum * x + coef[i];
  return sum;
}

double polynomial_slope(const std::vector<double>& coef, double x) {
  double sum = 0;
  for (std::size_t i = coef.size(); i-- > 1;) sum = sum * x + static_cast<double>(i) * coef[i];
  return sum;
}

double monomial_slope(Index degree, double x) {
  return degree == 0 ? 0.0 : static_cast<double>(degree) * power(x, degree - 1);
}

double evaluate_custom(const std::string& name, double x) {
  double y = 0;
  (*find_activation(name))(std::span<const double>(&x, 1), std::span<double>(&y, 1));
  return y;
}

}  // namespace

std::string_view to_string(Phi phi) { return phi_names[static_cast<std::size_t>(phi)]; }

void register_activation(const std::string& name, Function function) {
  if (!is_word(name)) {
    fail(Code::input, "activation name '{}' must be a word of letters, digits and underscores", name);
  }
  if (!function) fail(Code::input, "activation '{}' needs a function", name);
  auto shared = std::make_shared<const Function>(std::move(function));
  const std::unique_lock lock(registry().mutex);
  registry().functions[name].swap(shared);
}

std::shared_ptr<const Function> find_activation(const std::string& name) {
  const std::shared_lock lock(registry().mutex);
  const auto& functions = registry().functions;
  if (const auto found = functions.find(name); found != functions.end()) return found->second;
  std::vector<std::string_view> known;
  for (const auto& entry : functions) known.emplace_back(entry.first);
  fail(Code::input, "no activation is registered as '{}'; registered: {}. Register it before evaluating the network",
       name, known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
}

double evaluate(const Activation& activation, double x) {
  switch (activation.phi) {
    case Phi::relu:
      return std::max(x, 0.0);
    case Phi::leaky_relu:
      return x >= 0 ? x : activation.slope * x;
    case Phi::abs:
      return std::abs(x);
    case Phi::erf:
      return std::erf(x);
    case Phi::gelu:
      return x * normal_probability(x);
    case Phi::sin:
      return std::sin(x);
    case Phi::cos:
      return std::cos(x);
    case Phi::sign:
      return static_cast<double>((x > 0) - (x < 0));
    case Phi::exp:
      return std::exp(x);
    case Phi::gaussian:
      return std::exp(-x * x);
    case Phi::rbf:
      return std::numbers::sqrt2 * std::sin(std::sqrt(2 * activation.gamma) * x + std::numbers::pi / 4);
    case Phi::monomial:
      return power(x, activation.degree);
    case Phi::rectified_monomial:
      return x >= 0 ? power(x, activation.degree) : 0.0;
    case Phi::hermite:
      return hermite(activation.degree, x);
    case Phi::polynomial:
      return polynomial(activation.coef, x);
    case Phi::identity:
      return x;
    case Phi::tanh:
      return std::tanh(x);
    case Phi::sigmoid:
      return logistic(x);
    case Phi::swish:
      return x * logistic(x);
    case Phi::softplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    case Phi::custom:
      return evaluate_custom(activation.name, x);
  }
  return 0;
}

double derivative(const Activation& activation, double x) {
  switch (activation.phi) {
    case Phi::relu:
      return x >= 0 ? 1.0 : 0.0;
    case Phi::leaky_relu:
      return x >= 0 ? 1.0 : activation.slope;
    case Phi::abs:
      return x >= 0 ? 1.0 : -1.0;
    case Phi::erf:
      return 2 * std::numbers::inv_sqrtpi * std::exp(-x * x);
    case Phi::gelu:
      return normal_probability(x) + x * normal_density(x);
    case Phi::sin:
      return std::cos(x);
    case Phi::cos:
      return -std::sin(x);
    case Phi::sign:
      return 0;
    case Phi::exp:
      return std::exp(x);
    case Phi::gaussian:
      return -2 * x * std::exp(-x * x);
    case Phi::rbf:
      return 2 * std::sqrt(activation.gamma) * std::cos(std::sqrt(2 * activation.gamma) * x + std::numbers::pi / 4);
    case Phi::monomial:
      return monomial_slope(activation.degree, x);
    case Phi::rectified_monomial:
      return x >= 0 ? monomial_slope(activation.degree, x) : 0.0;
    case Phi::hermite:  // h_n' = √n·h_{n−1}
      return activation.degree == 0
                 ? 0.0
                 : std::sqrt(static_cast<double>(activation.degree)) * hermite(activation.degree - 1, x);
    case Phi::polynomial:
      return polynomial_slope(activation.coef, x);
    case Phi::identity:
      return 1;
    case Phi::tanh: {
      const double cosh = std::cosh(x);
      return 1 / cosh / cosh;
    }
    case Phi::sigmoid:
      return logistic_slope(x);
    case Phi::swish:
      return logistic(x) + x * logistic_slope(x);
    case Phi::softplus:
      return logistic(x);
    case Phi::custom:
      fail(Code::input, "custom activation '{}' has no derivative of its own", activation.name);
  }
  return 0;
}

}  // namespace widelimit
