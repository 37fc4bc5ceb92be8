#pragma once

#include <cstdint>
#include <string_view>

namespace widelimit {

/// How the gradient g of the objective becomes a step of the weights.                        [docs/theory/finite.md]
enum class OptimiserKind : std::uint8_t {
  sgd,       ///< v ← μv − ηg, w ← w + v; μ = 0 is plain descent
  nesterov,  ///< v ← μv − ηg, w ← w + μv − ηg (Sutskever, Martens, Dahl, Hinton, ICML 2013)
  adam,  ///< m ← β₁m + (1−β₁)g, s ← β₂s + (1−β₂)g², w ← w − η·m̂/(√ŝ + ε), m̂ = m/(1−β₁ᵗ), ŝ = s/(1−β₂ᵗ)
         ///< in step t = 1, 2, … (Kingma and Ba, ICLR 2015)
  adamw,  ///< the same with weight decay beside the gradient (Loshchilov and Hutter, ICLR 2019)
};
/// "sgd", "nesterov", "adam", "adamw".
[[nodiscard]] std::string_view to_string(OptimiserKind kind);
/// Error{usage} lists the choices.
[[nodiscard]] OptimiserKind parse_optimiser(std::string_view text);

/// An optimiser with its constants; the learning rate η belongs to the training.
struct Optimiser {
  OptimiserKind kind = OptimiserKind::sgd;
  double momentum = 0;    ///< μ of sgd and nesterov
  double beta1 = 0.9;     ///< adam, adamw
  double beta2 = 0.999;   ///< adam, adamw
  double epsilon = 1e-8;  ///< adam, adamw
  /// δ: the gradient becomes g + δw, that of δ/2·‖w‖² over all trained weights; of adamw g stays, and w ← w − ηδw
  /// besides.
  double weight_decay = 0;

  /// Error{usage} names what is wrong.
  void validate() const;
  /// Whether steps have the size of the rate, not of the gradient.
  [[nodiscard]] bool adaptive() const { return kind == OptimiserKind::adam || kind == OptimiserKind::adamw; }
  /// Whether a step is w ← w − ηg with g the gradient of the losses and the regulariser: what theorems speak of.
  [[nodiscard]] bool plain() const { return !adaptive() && momentum == 0 && weight_decay == 0; }
  /// Whether weights may move without a gradient of the losses.
  [[nodiscard]] bool drifts() const { return !plain(); }
  /// Numbers that it keeps for every weight from step to step.
  [[nodiscard]] int moments() const { return adaptive() ? 2 : (momentum > 0 ? 1 : 0); }
  bool operator==(const Optimiser&) const = default;
};

}  // namespace widelimit
