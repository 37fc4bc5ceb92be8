#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/finite/layers/tensor.hpp"
#include "widelimit/finite/parameters.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace widelimit {

/// What is kept of the kernels Θ̂_kk(x,x') = ⟨∇f_k(x), ∇f_k(x')⟩ of K outputs.
enum class KernelOutputs : std::uint8_t {
  trace,  ///< their mean over the outputs
  each,   ///< all of them, that of each class where outputs are classes
};
/// "trace", "class". Error{usage} lists the choices.
[[nodiscard]] KernelOutputs parse_kernel_outputs(std::string_view text);
[[nodiscard]] std::string_view to_string(KernelOutputs outputs);

struct OutputKernelOptions {
  KernelOutputs outputs = KernelOutputs::trace;
  /// 0: exact. Else the gradients are sketched by so many directions r of random signs:
  ///   Θ̂_kk ≈ (1/S) Σ_s (J_k r_s)(J_k r_s)ᵀ,   E[r rᵀ] = I,
  /// one derivative along r for all outputs at once. Without bias; the error falls as S^−½ whatever the number of
  /// weights. At least 2.
  Index projections = 0;
  std::uint64_t seed = 0;  ///< of the signs: sketches by one seed have errors in common, which differences cancel
  Progress* progress = nullptr;
};

struct OutputKernels {
  std::vector<Matrix<double>> kernels;  ///< n × n: one, or one for each output
  /// Standard error of a sketch, ‖·‖_F of the errors of all entries relative to ‖Θ̂‖_F; 0 where exact.
  double relative_error = 0;
};

/// Exact: K passes back, and the contractions of empirical_ntk.hpp for one output at a time. A sketch takes two forward
/// passes for each direction, and O(S·n²·K). Dropout is off. Error{resource} where memory ends.
template <std::floating_point T>
[[nodiscard]] OutputKernels output_kernels(const Architecture& architecture, const Parameters<T>& parameters,
                                           const Tensor<T>& x, const OutputKernelOptions& options,
                                           const Engine& engine = all_processors());

}  // namespace widelimit
