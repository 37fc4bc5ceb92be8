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

/// Which of the kernels Θ̂_kk(x,x') = ⟨∇f_k(x), ∇f_k(x')⟩ of K outputs to compute.
enum class KernelOutputs : std::uint8_t {
  trace,  ///< their mean over the outputs
  each,   ///< one kernel per output, i.e. per class for a classifier
};
/// Parses "trace" or "class". Throws Error{usage} for an unknown name; lists the choices.
[[nodiscard]] KernelOutputs parse_kernel_outputs(std::string_view text);
[[nodiscard]] std::string_view to_string(KernelOutputs outputs);

struct OutputKernelOptions {
  KernelOutputs outputs = KernelOutputs::trace;
  /// 0: exact. Otherwise the number S of random sign directions r that sketch the gradients:
  ///   Θ̂_kk ≈ (1/S) Σ_s (J_k r_s)(J_k r_s)ᵀ,   E[r rᵀ] = I,
  /// with one derivative along r for all outputs. Unbiased; the error decreases as S^−½, independent of the number of
  /// weights. At least 2.
  Index projections = 0;
  /// Seed of the signs. Sketches with the same seed have common errors, which cancel in differences.
  std::uint64_t seed = 0;
  Progress* progress = nullptr;
};

struct OutputKernels {
  std::vector<Matrix<double>> kernels;  ///< n × n: one, or one per output
  /// Standard error of a sketch: ‖·‖_F of the errors of all entries relative to ‖Θ̂‖_F; 0 if exact.
  double relative_error = 0;
};

/// Computes the kernels. Exact: K backward passes, and the contractions of empirical_ntk.hpp for one output at a time.
/// A sketch costs two forward passes per direction plus O(S·n²·K). Dropout is off. Throws Error{resource} if memory is
/// insufficient.
template <std::floating_point T>
[[nodiscard]] OutputKernels output_kernels(const Architecture& architecture, const Parameters<T>& parameters,
                                           const Tensor<T>& x, const OutputKernelOptions& options,
                                           const Engine& engine = all_processors());

}  // namespace widelimit
