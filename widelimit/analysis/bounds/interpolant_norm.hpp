#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <optional>
#include <span>
#include <string>

namespace widelimit {

/// yᵀH⁻¹y = ‖f‖², f the function of least norm in the space of the kernel with f(xᵢ) = yᵢ for all samples.
struct InterpolantNorm {
  std::optional<double> square;     ///< nothing: no function of the kernel takes these values, the norm is infinite
  std::optional<double> condition;  ///< estimate for H; nothing where H is singular
  std::string message;              ///< why there is none, or how sure the value is; else empty
};

/// By Cholesky with refinement. Where H is singular, by its factor of full rank, H = LLᵀ: the norm is that of β with
/// Lβ = y where there is such a β, and infinite else, as for two equal samples with different values; the message then
/// names a sample. Error{input} for y that does not fit H or is not finite, and for H with negative eigenvalues.
/// O(n³/3) and n² doubles.
[[nodiscard]] InterpolantNorm interpolant_norm(const GramMatrix& h, std::span<const double> y,
                                               Progress* progress = nullptr);

}  // namespace widelimit
