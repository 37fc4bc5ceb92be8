#pragma once

#include "widelimit/base/error.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/network/activation.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

struct NthOptions {
  static constexpr Index default_max_samples = Index{1} << 18U;

  /// Number of hidden weight vectors for expectations, rounded up to equal replicates; ≥ 32. Powers of 2 are best.
  Index samples = 4096;
  /// Target for the standard error of the correction, largest error relative to largest entry: `samples` is doubled
  /// until it is reached. The result is that of a run with the final number, bit for bit.
  std::optional<double> tolerance;
  std::optional<Index> max_samples;  ///< no doubling beyond it, default_max_samples if absent; requires a tolerance
  double width = 1;                  ///< m of the factor 1/m of the correction; > 0
  std::uint64_t seed = 0;
  std::optional<std::size_t> memory;  ///< total memory limit in bytes; default: the available memory
  Progress* progress = nullptr;

  /// Throws Error{usage} if a value is out of range or has no effect.
  void validate() const;
};

/// Kernel with standard errors per entry, which are those of the correction.
struct NthMatrix {
  Matrix<double> values;  ///< Θ + correction/m
  Matrix<double> error;
  Matrix<double> ntk;  ///< Θ
};

/// Remark on a result, with the options that change it.
struct NthRemark {
  std::string text;
  std::vector<Remedy> remedies = {};
};

struct NthKernel {
  NthMatrix train;                ///< exactly symmetric
  std::optional<NthMatrix> test;  ///< test × train
  Index samples = 0;              ///< number of hidden weights used
  /// Largest standard error relative to the largest entry of the correction.
  double relative_error = 0;
  /// Largest entry of the correction relative to that of Θ, at the given width.
  double relative_correction = 0;
  double quadrature_error = 0;     ///< of Θ
  std::vector<NthRemark> remarks;  ///< remarks on kinks, rank deficiency, or a missed tolerance
  double seconds = 0;
};

/// Computes the kernel of the neural tangent hierarchy (Huang and Yau 2020; LA §2.2) for f(x) = m^{−1/2} Σ_r a_r
/// σ(w_r·x), weights standard normal, both layers trained from f₀ = 0 to convergence on the squared loss with labels y:
///
///     K^NTH = Θ + (1/m) Σ_ij M_ij E[K⁽⁴⁾(x,x',i,j)],   M of LabelWeights, K⁽⁴⁾ and its mean of FourthOrderSum.
///
/// [docs/theory/tangent-hierarchy.md]. Θ is exact; the mean is over quasi-random directions in 16 replicates, which
/// give the standard errors, themselves uncertain by 18 %. Samples enter as w·x without 1/√d: the network `dense σ
/// dense` of width m has this kernel on x/√d. For a kinked σ (relu) this is LA's definition, not the finite-width
/// correction, which has additional terms from the kinks; a remark states this. O(n³ + n²·samples) time, 12(n + test)n
/// doubles; with a tolerance, 16 more such matrices if memory suffices, which saves half of the directions.
[[nodiscard]] NthKernel nth_kernel(const Activation& activation, const SampleView& x, std::span<const double> y,
                                   const std::optional<SampleView>& test, const NthOptions& options,
                                   const Engine& engine);

/// Parses one activation in network syntax, e.g. "erf" or "rbf(gamma=0.5)". Throws Error{usage} otherwise.
[[nodiscard]] Activation parse_activation(std::string_view text);

}  // namespace widelimit
