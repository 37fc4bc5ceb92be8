#pragma once

#include "widelimit/recipe/quadrature/pieces.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace widelimit {

/// A function without closed-form dual as a recipe holds it: its values, its derivative where that is known, and the
/// pieces in which it is smooth. Thread-safe where the function is.
class Pointwise {
 public:
  /// A function with jumps has the derivative that it has between them: what back-propagation sees of it.
  Pointwise(std::string name, Differentiable function) : name_(std::move(name)), function_(std::move(function)) {}

  [[nodiscard]] const std::string& name() const { return name_; }

  /// y = φ(x). Error{numerical} names the first point where φ is not finite.
  void value(std::span<const double> x, std::span<double> y) const;
  /// y = φ'(x), from the pieces where φ' is not known.
  void slope(const Pieces& pieces, std::span<const double> x, std::span<double> y) const;

  /// φ on [−2ᵏ, 2ᵏ], the least power of two above `reach`; cut once.
  [[nodiscard]] std::shared_ptr<const Pieces> pieces(double reach) const;

 private:
  std::string name_;
  Differentiable function_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::shared_ptr<const Pieces>> pieces_;
};

/// One of the activations of networks that have no closed form; `custom` is looked up by its name.
[[nodiscard]] std::shared_ptr<const Pointwise> make_pointwise(const Activation& activation);

}  // namespace widelimit
