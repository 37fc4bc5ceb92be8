#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace widelimit {

/// log(1 + e^{−m}) without overflow, with full relative accuracy for small values.
[[nodiscard]] double logistic_loss(double m);
/// σ(−m) = 1/(1 + e^m), with full relative accuracy for small values.
[[nodiscard]] double logistic_tail(double m);

/// The losses l(z, y) of EQ Table 1 and of classification.                               [docs/theory/machines.md]
enum class LossKind : std::uint8_t {
  squared,        ///< (y − z)²: without the factor ½, so that the limit of training is (K + λ/2·I)⁻¹y
  hinge,          ///< max(0, 1 − yz)
  squared_hinge,  ///< max(0, 1 − yz)²
  insensitive,    ///< max(0, |y − z| − ε)
  logistic,       ///< log(1 + e^{−yz})
  softmax,  ///< cross-entropy: −log of the softmax probability of the class with y = 1; over all outputs of a sample
};
/// Returns "squared", "hinge", "squared-hinge", "insensitive", "logistic" or "softmax".
[[nodiscard]] std::string_view to_string(LossKind kind);
/// Throws Error{usage} for an unknown name; lists the choices.
[[nodiscard]] LossKind parse_loss(std::string_view text);

/// Returns whether the loss is a function of the margin yz, y = ±1: hinge, squared hinge, logistic.
[[nodiscard]] bool has_margin(LossKind kind);

/// Returns the largest second derivative of a loss in one output (for softmax the largest eigenvalue): 2 for squared
/// and squared hinge, ¼ for logistic, ½ for softmax; std::nullopt for a loss with kinks.
[[nodiscard]] std::optional<double> largest_curvature(LossKind kind);

struct Loss {
  LossKind kind = LossKind::squared;
  double epsilon = 0.1;  ///< insensitive
  void validate() const;
};

/// Loss of one output. Not defined for softmax, which needs all outputs of a sample (see below).
[[nodiscard]] double loss_value(const Loss& loss, double z, double y);
/// ∂l/∂z; at a kink 0, the slope of the satisfied side.
[[nodiscard]] double loss_slope(const Loss& loss, double z, double y);

/// Loss of all outputs z of one sample with targets y: the sum over outputs, or softmax with one-hot y.
[[nodiscard]] double loss_value(const Loss& loss, std::span<const double> z, std::span<const double> y);
/// Computes ∂l/∂z of every output.
void loss_slopes(const Loss& loss, std::span<const double> z, std::span<const double> y, std::span<double> slope);

}  // namespace widelimit
