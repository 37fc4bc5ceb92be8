#pragma once

#include "widelimit/recipe/quadrature/pieces.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace widelimit {

/// A function without closed-form dual: its values, its derivative if known, and a piecewise polynomial approximation.
/// Thread-safe if the function is.
class Pointwise {
 public:
  /// The derivative of a function with jumps excludes point masses, as in back-propagation.
  Pointwise(std::string name, Differentiable function) : name_(std::move(name)), function_(std::move(function)) {}

  [[nodiscard]] const std::string& name() const { return name_; }

  /// y = φ(x). Throws Error{numerical} naming the first point at which φ is not finite.
  void value(std::span<const double> x, std::span<double> y) const;
  /// y = φ'(x); evaluated from the pieces if φ' is not known.
  void slope(const Pieces& pieces, std::span<const double> x, std::span<double> y) const;

  /// Pieces of φ on [−2ᵏ, 2ᵏ], the smallest power of two above `reach`; cached.
  [[nodiscard]] std::shared_ptr<const Pieces> pieces(double reach) const;

 private:
  std::string name_;
  Differentiable function_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::shared_ptr<const Pieces>> pieces_;
};

/// Creates an activation without closed form; `custom` is looked up by its name.
[[nodiscard]] std::shared_ptr<const Pointwise> make_pointwise(const Activation& activation);

}  // namespace widelimit
