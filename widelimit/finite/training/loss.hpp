#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace widelimit {

/// log(1 + e^{−m}) without overflow, exact to the last digits where it is small.
[[nodiscard]] double logistic_loss(double m);
/// σ(−m) = 1/(1 + e^m), exact to the last digits where it is small.
[[nodiscard]] double logistic_tail(double m);

/// The losses l(z, y) of EQ Table 1 and of classes.                                      [docs/theory/machines.md]
enum class LossKind : std::uint8_t {
  squared,        ///< (y − z)²: without the ½, so that the limit of training is (K + λ/2·I)⁻¹y
  hinge,          ///< max(0, 1 − yz)
  squared_hinge,  ///< max(0, 1 − yz)²
  insensitive,    ///< max(0, |y − z| − ε)
  logistic,       ///< log(1 + e^{−yz})
  softmax,        ///< −log of the softmax probability of the class that is 1 in y; over all outputs of a sample
};
/// "squared", "hinge", "squared-hinge", "insensitive", "logistic", "softmax".
[[nodiscard]] std::string_view to_string(LossKind kind);
/// Error{usage} lists the choices.
[[nodiscard]] LossKind parse_loss(std::string_view text);

/// Whether it asks for yz large, y = ±1: hinge, squared hinge, logistic.
[[nodiscard]] bool has_margin(LossKind kind);

/// Largest second derivative of a loss in one output (for softmax the largest eigenvalue): 2 for squared and squared
/// hinge, ¼ for logistic, ½ for softmax; nothing for a loss with kinks, whose slope jumps.
[[nodiscard]] std::optional<double> largest_curvature(LossKind kind);

struct Loss {
  LossKind kind = LossKind::squared;
  double epsilon = 0.1;  ///< insensitive
  void validate() const;
};

/// One output. For softmax there is none: it needs all outputs of a sample, below.
[[nodiscard]] double loss_value(const Loss& loss, double z, double y);
/// ∂l/∂z; at a kink 0, the slope of the side that is satisfied.
[[nodiscard]] double loss_slope(const Loss& loss, double z, double y);

/// All outputs z of one sample with their targets y: the sum over outputs, or softmax with y of 0 and one 1.
[[nodiscard]] double loss_value(const Loss& loss, std::span<const double> z, std::span<const double> y);
/// ∂l/∂z of every output into `slope`.
void loss_slopes(const Loss& loss, std::span<const double> z, std::span<const double> y, std::span<double> slope);

}  // namespace widelimit
