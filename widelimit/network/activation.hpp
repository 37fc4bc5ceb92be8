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

/// Nonlinearities φ by name. Up to `identity`, the duals E[φφ], E[φ'φ'] have closed forms; after it, they are computed
/// by quadrature with an error bound.                                           [docs/theory/duals.md]
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
  custom,    ///< user-defined function, registered by name
};

/// An activation layer: φ with its parameters. φ determines which fields are used; the others keep their defaults, so
/// that equality of structs is equality of functions.
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

/// User-defined function, evaluated on many points at once: y[i] = φ(x[i]). Must be pure and thread-safe.
using Function = std::function<void(std::span<const double> x, std::span<double> y)>;

/// Registers this function as `custom(name=…)` for the rest of the process. Registering a name again replaces its
/// function for networks evaluated later. The name is a word: letters, digits, underscore.
void register_activation(const std::string& name, Function function);
/// Returns the registered function; throws Error{input} listing the registered names if there is none.
[[nodiscard]] std::shared_ptr<const Function> find_activation(const std::string& name);

/// φ(x) and φ'(x), evaluated directly; φ' is 0 at a jump and the right-hand derivative at a kink. `custom` looks up its
/// function on every call; its derivative throws Error{input}.
[[nodiscard]] double evaluate(const Activation& activation, double x);
[[nodiscard]] double derivative(const Activation& activation, double x);

}  // namespace widelimit
