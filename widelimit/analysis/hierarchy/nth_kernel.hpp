#pragma once

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
  Index samples = 4096;  ///< hidden weight vectors that expectations are taken over, at least; ≥ 32
  /// Standard error that is wanted, of the correction, largest entry against largest entry; more hidden weights are
  /// drawn until it is met.
  std::optional<double> tolerance;
  Index max_samples = Index{1} << 18U;  ///< limit of that
  double width = 1;                     ///< m of the factor 1/m of the correction; > 0
  std::uint64_t seed = 0;
  std::optional<std::size_t> memory;  ///< bytes in all; default: the available memory
  Progress* progress = nullptr;

  /// Error{usage} where a number is out of range.
  void validate() const;
};

/// A kernel with the standard errors of its entries, which are those of the correction.
struct NthMatrix {
  Matrix<double> values;  ///< Θ + correction/m
  Matrix<double> error;
  Matrix<double> ntk;  ///< Θ
};

struct NthKernel {
  NthMatrix train;                ///< exactly symmetric
  std::optional<NthMatrix> test;  ///< test × train
  Index samples = 0;              ///< hidden weights used
  /// Largest standard error against the largest entry of the correction.
  double relative_error = 0;
  /// Largest entry of the correction, against that of Θ, at the width asked for.
  double relative_correction = 0;
  double quadrature_error = 0;       ///< of Θ
  std::vector<std::string> remarks;  ///< what a reader should know: kinks, missing rank, a tolerance that is not met
  double seconds = 0;
};

/// Kernel of the neural tangent hierarchy (Huang and Yau 2020; LA §2.2) for f(x) = m^{−1/2} Σ_r a_r σ(w_r·x), weights
/// standard normal, both layers trained from f₀ = 0 to the end on squared loss with labels y:
///
///     K^NTH = Θ + (1/m) Σ_ij M_ij E[K⁽⁴⁾(x,x',i,j)],   M of LabelWeights, K⁽⁴⁾ and its mean of FourthOrderSum.
///
/// [docs/theory/tangent-hierarchy.md]. Θ is exact; the mean is over quasi-random directions in 16 replicates or more,
/// which give the standard errors. Samples are read as they are, w·x without 1/√d: the network `dense σ dense` of width
/// m has this kernel on x/√d. For a kinked σ (relu) this is LA's definition, not the correction of networks, to which
/// the kinks add more; a remark says so.
/// O(n³ + n²·samples), and 12(n + test)n doubles.
[[nodiscard]] NthKernel nth_kernel(const Activation& activation, const SampleView& x, std::span<const double> y,
                                   const std::optional<SampleView>& test, const NthOptions& options,
                                   const Engine& engine);

/// One activation as networks write it: "erf", "rbf(gamma=0.5)". Error{input} where the text is something else.
[[nodiscard]] Activation parse_activation(std::string_view text);

}  // namespace widelimit
