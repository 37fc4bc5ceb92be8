#pragma once

#include "widelimit/base/types.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// The nonlinearities φ by name. Down to `identity` their duals E[φφ], E[φ'φ'] are closed forms; after it, they are
/// computed by quadrature with an error bound.                                           [docs/theory/duals.md]
enum class Phi : std::uint8_t {
  relu,
  leaky_relu,  ///< slope·min(x,0) + max(x,0)
  abs,
  erf,
  gelu,  ///< x·Φ(x), exact erf form
  sin,
  cos,
  sign,
  exp,
  gaussian,            ///< exp(−x²)
  rbf,                 ///< √2·sin(√(2γ)·x + π/4)
  monomial,            ///< x^degree
  rectified_monomial,  ///< x^degree · 1[x ≥ 0]
  hermite,             ///< normalised Hermite polynomial, kernel formula of unit-variance input
  polynomial,          ///< Σ coef_i x^i
  identity,
  tanh,
  sigmoid,
  swish,     ///< x·sigmoid(x)
  softplus,  ///< log(1 + e^x)
  custom,    ///< a user's own function, registered by name
};

/// An activation layer: φ with its parameters. Which of the fields count follows from φ; the others keep their
/// defaults, so that equality is the equality of functions.
struct Activation {
  Phi phi = Phi::relu;
  double slope = 0.01;       ///< leaky_relu
  double gamma = 1.0;        ///< rbf
  Index degree = 2;          ///< monomial, rectified_monomial, hermite
  std::vector<double> coef;  ///< polynomial, lowest power first
  std::string name;          ///< custom: the registered name
  bool operator==(const Activation&) const = default;
};

[[nodiscard]] std::string_view to_string(Phi phi);

/// A user's function, evaluated on many points at once: y[i] = φ(x[i]). Must be pure and thread-safe.
using Function = std::function<void(std::span<const double> x, std::span<double> y)>;

/// Makes `custom(name=…)` mean this function for the rest of the process. A name can be given once; registering it
/// again replaces the function for networks evaluated later. The name is a word: letters, digits, underscore.
void register_activation(const std::string& name, Function function);
/// The registered function, or Error{input} that lists the names there are.
[[nodiscard]] std::shared_ptr<const Function> find_activation(const std::string& name);

/// φ(x), and φ'(x) (0 where it jumps; at a kink the right-hand value), by the plain formula. `custom` looks its
/// function up on every call and has no φ'.
[[nodiscard]] double evaluate(const Activation& activation, double x);
[[nodiscard]] double derivative(const Activation& activation, double x);

}  // namespace widelimit
