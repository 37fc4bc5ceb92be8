#pragma once

#include <cstdint>
#include <string_view>

namespace widelimit {

/// Update rule that maps the gradient g of the objective to a step of the weights.           [docs/theory/finite.md]
enum class OptimiserKind : std::uint8_t {
  sgd,       ///< v ← μv − ηg, w ← w + v; μ = 0 is plain descent
  nesterov,  ///< v ← μv − ηg, w ← w + μv − ηg (Sutskever, Martens, Dahl, Hinton, ICML 2013)
  adam,  ///< m ← β₁m + (1−β₁)g, s ← β₂s + (1−β₂)g², w ← w − η·m̂/(√ŝ + ε), m̂ = m/(1−β₁ᵗ), ŝ = s/(1−β₂ᵗ)
         ///< in step t = 1, 2, … (Kingma and Ba, ICLR 2015)
  adamw,  ///< Adam with decoupled weight decay (Loshchilov and Hutter, ICLR 2019)
};
/// Returns "sgd", "nesterov", "adam" or "adamw".
[[nodiscard]] std::string_view to_string(OptimiserKind kind);
/// Throws Error{usage} for an unknown name; lists the choices.
[[nodiscard]] OptimiserKind parse_optimiser(std::string_view text);

/// An optimiser with its constants; the learning rate η is part of the training options.
struct Optimiser {
  OptimiserKind kind = OptimiserKind::sgd;
  double momentum = 0;    ///< μ of sgd and nesterov
  double beta1 = 0.9;     ///< adam, adamw
  double beta2 = 0.999;   ///< adam, adamw
  double epsilon = 1e-8;  ///< adam, adamw
  /// δ: replaces the gradient by g + δw, the gradient with an additional penalty δ/2·‖w‖² of all trained weights; for
  /// adamw g is unchanged, and w ← w − ηδw is applied in addition.
  double weight_decay = 0;

  /// Throws Error{usage} for an invalid value.
  void validate() const;
  /// Returns whether step sizes are determined by the rate, not by the gradient.
  [[nodiscard]] bool adaptive() const { return kind == OptimiserKind::adam || kind == OptimiserKind::adamw; }
  /// Returns whether a step is w ← w − ηg with g the gradient of losses and regulariser, as theorems assume.
  [[nodiscard]] bool plain() const { return !adaptive() && momentum == 0 && weight_decay == 0; }
  /// Returns whether weights can change without a gradient of the losses.
  [[nodiscard]] bool drifts() const { return !plain(); }
  /// Returns the number of moment buffers per weight.
  [[nodiscard]] int moments() const { return adaptive() ? 2 : (momentum > 0 ? 1 : 0); }
  bool operator==(const Optimiser&) const = default;
};

}  // namespace widelimit
