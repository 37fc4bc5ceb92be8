#pragma once

#include "widelimit/engine/engine.hpp"

#include <cstdint>
#include <string_view>

namespace widelimit {

/// What becomes of the negative eigenvalues of a kernel, which label-aware kernels have.
enum class Psd : std::uint8_t {
  none,    ///< they stay
  clip,    ///< they become 0; kernels of test samples are projected on the other eigenvectors
  shift,   ///< the least of them is subtracted from the diagonal
  refuse,  ///< Error{numerical}
};
[[nodiscard]] std::string_view to_string(Psd psd);
[[nodiscard]] Psd parse_psd(std::string_view text);  ///< "none", "clip", "shift" or "refuse"

/// The spectrum before the repair, and what was done to it.
struct SpectrumRepair {
  Psd psd = Psd::none;
  Inertia inertia;      ///< eigenvalues within rounding, n ε ‖K‖, count as 0
  double smallest = 0;  ///< eigenvalue
  double largest = 0;   ///< eigenvalue in absolute value
  double shift = 0;     ///< added to the diagonal
  EngineMatrix kept;    ///< of what was clipped: the eigenvectors of positive eigenvalues, a row each
};

/// Makes the Gram matrix of training samples positive semi-definite, in place; Psd::none only looks.
/// O(n³) and two copies in float64, three for `clip`.
[[nodiscard]] SpectrumRepair repair_spectrum(EngineMatrix& kernel, Psd psd, const Engine& engine,
                                             Progress* progress = nullptr);

/// kernel = kernel·VᵀV over the kept eigenvectors, for rows of test samples: of a training sample it gives its row of
/// the clipped matrix. Does nothing where nothing was clipped.
void project_test(const SpectrumRepair& repair, EngineMatrix& kernel, const Engine& engine);
/// coefficients = VᵀV·coefficients: those that give with the kernel as it was what `coefficients` give with the
/// projected one.
void project_coefficients(const SpectrumRepair& repair, MatrixView<double> coefficients, const Engine& engine);

}  // namespace widelimit
