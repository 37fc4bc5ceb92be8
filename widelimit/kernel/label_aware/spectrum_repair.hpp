#pragma once

#include "widelimit/engine/engine.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace widelimit {

/// Treatment of the negative eigenvalues of a kernel; label-aware kernels have them in general.
enum class Psd : std::uint8_t {
  none,    ///< keep them
  clip,    ///< set them to 0; test kernels are projected on the remaining eigenvectors
  shift,   ///< subtract the smallest one from the diagonal
  refuse,  ///< Error{numerical}
};
[[nodiscard]] std::string_view to_string(Psd psd);
[[nodiscard]] Psd parse_psd(std::string_view text);  ///< "none", "clip", "shift" or "refuse"

/// Spectrum before the repair, and the repair applied.
struct SpectrumRepair {
  Psd psd = Psd::none;
  Inertia inertia;      ///< eigenvalues within rounding, n ε ‖K‖, count as 0
  double smallest = 0;  ///< smallest eigenvalue
  double largest = 0;   ///< largest absolute eigenvalue
  double nearest = 0;   ///< smallest absolute eigenvalue
  double mean = 0;      ///< of the absolute eigenvalues: the mean diagonal if none is negative
  double shift = 0;     ///< added to the diagonal
  EngineMatrix kept;    ///< after clipping: eigenvectors of the positive eigenvalues, as rows
};

/// Makes the Gram matrix of training samples positive semi-definite, in place; Psd::none only computes the spectrum.
/// O(n³) and two copies in float64, three for `clip`. Throws Error{input} if the matrix is not square.
[[nodiscard]] SpectrumRepair repair_spectrum(EngineMatrix& kernel, Psd psd, const Engine& engine,
                                             Progress* progress = nullptr);

/// Returns a warning if eigenvalues are kept and one is below 10⁻⁶ of their mean magnitude: solutions without a ridge
/// term are then erratic. Empty otherwise.
[[nodiscard]] std::string near_zero_warning(const SpectrumRepair& repair);

/// kernel = kernel·VᵀV with the kept eigenvectors, for rows of test samples; maps the row of a training sample to its
/// row of the clipped matrix. No-op if nothing was clipped. Throws Error{input} unless the kernel is test × train.
void project_test(const SpectrumRepair& repair, EngineMatrix& kernel, const Engine& engine);
/// coefficients = VᵀV·coefficients: applied to the unprojected kernel, the result equals the projected kernel times the
/// original coefficients.
void project_coefficients(const SpectrumRepair& repair, MatrixView<double> coefficients, const Engine& engine);

}  // namespace widelimit
