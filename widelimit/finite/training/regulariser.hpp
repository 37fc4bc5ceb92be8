#pragma once

#include <cstdint>
#include <string_view>

namespace widelimit {

/// Penalty on the weights of a network, added to Σ l(f(xᵢ), yᵢ). The penalties have different limits of infinite
/// width.                                             [docs/theory/finite.md]
enum class Regulariser : std::uint8_t {
  none,
  /// (i) λ/2‖W‖² of the output layer W = (w_std/√m)·w, with W itself as the trained variable (EQ): decays f at rate λ
  /// exactly at every width, but the output layer's part of the kernel is m times larger.
  output,
  /// (ii) the same penalty with w as the trained variable: decays f at rate λ·w_std²/m only, not at all in the limit.
  weights,
  /// (iii) λ/2‖w − w₀‖² of all weights, the distance to initialisation: the one whose limit is the kernel machine.
  init,
  /// An auxiliary √λ·bᵢ added to the output at each sample and trained with the weights, b = 0 initially; with
  /// the squared loss the limit is that of a ridge λ, where `init` has the ridge λ/2.
  aux,
};
/// "none", "output", "weights", "init", "aux".
[[nodiscard]] std::string_view to_string(Regulariser regulariser);
/// Error{usage} lists the choices.
[[nodiscard]] Regulariser parse_regulariser(std::string_view text);
/// Description for help and pages.
[[nodiscard]] std::string_view words(Regulariser regulariser);

}  // namespace widelimit
