#pragma once

#include "widelimit/kernel/gram.hpp"
#include "widelimit/machine/summary.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace widelimit {

struct MarginalLikelihoodOptions {
  Kind kind = Kind::nngp;  ///< of the covariance: nngp, the prior of the network itself, or ntk
  double noise = 0;        ///< variance σ² of the observation noise; finite, ≥ 0
  bool gradient = true;
  /// Also the error of quadrature and, where K + σ²I has no factor, what noise would give it one. False where only the
  /// number counts.
  bool diagnose = true;
  std::optional<std::size_t> memory;  ///< bytes that K and its factor may take; default: the available memory
  Progress* progress = nullptr;

  void validate() const;
};

/// log p(y) of a Gaussian process, all outputs together.
struct MarginalLikelihood {
  double value = 0;  ///< 0 where K + σ²I has no factor, or one of a condition number that leaves no digits
  /// By log w_std, log b_std and log σ²: what a common factor of the w_std of all weight layers changes, of their
  /// b_std, and of the noise. 0 where it was not asked for.
  std::array<double, 3> gradient{};
  double quadrature_error = 0;  ///< of the kernel, where diagnosed
  Summary summary;              ///< not_positive_definite, with the failing minor, where K + σ²I has no factor
};

/// log p(y) = −½ yᵀA⁻¹y − ½ log det A − n/2·log 2π of A = K + σ²I, K the kernel of the network on x, in float64, and
///
///     ∂ log p/∂θ = ½ Σ_ij (ααᵀ − A⁻¹)_ij ∂K_ij/∂θ,   α = A⁻¹y,
///
/// summed over the columns of y. ∂K/∂θ of the standard deviations by central differences of fourth order in log θ,
/// right to about 1e-12 relative to its natural size [docs/theory/machines.md]. n³/3 multiply-adds and one Gram matrix;
/// with the gradient 2n³ and nine of them. 2n² doubles.
[[nodiscard]] MarginalLikelihood marginal_likelihood(const Network& network, const SampleView& x,
                                                     MatrixView<const double> targets,
                                                     const MarginalLikelihoodOptions& options, const Engine& engine);

/// One w_std and one b_std of all weight layers of a network, and the variance of the noise.
struct ProcessParameters {
  double w_std = 1;
  double b_std = 0;
  double noise = 0;
  bool operator==(const ProcessParameters&) const = default;
};

/// Where a parameter may lie; it is fixed where both ends are equal.
struct ParameterRange {
  double lower = 0;
  double upper = 0;
};

struct LikelihoodSearchOptions {
  Kind kind = Kind::nngp;
  /// The first start. Default: w_std and b_std of the first weight layer, or 0.1 where that has no bias, and a tenth of
  /// the mean square of the targets for the noise.
  std::optional<double> w_std;
  std::optional<double> b_std;
  std::optional<double> noise;
  ParameterRange w_std_range{1e-2, 1e2};
  ParameterRange b_std_range{1e-3, 1e1};
  /// Default: 1e-6 to 10 times the mean square of the targets.
  std::optional<ParameterRange> noise_range;
  Index starts = 3;             ///< the first, and others drawn around it
  std::uint64_t seed = 0;       ///< of the others
  double tolerance = 1e-6;      ///< of the projected gradient, for each target
  Index most_iterations = 100;  ///< of each start
  std::optional<std::size_t> memory;
  Progress* progress = nullptr;

  void validate() const;
};

/// One start of the search, and where it ended.
struct LikelihoodStart {
  ProcessParameters from;
  ProcessParameters to;
  std::optional<double> from_value;  ///< log p(y); empty where K + σ²I has no factor there
  std::optional<double> value;
  double gradient = 0;  ///< largest entry of the projected gradient by log-parameters, for each target
  Index iterations = 0;
  Ending ending = Ending::converged;
  bool rounded = false;  ///< converged as far as rounding lets the likelihood and its gradient be seen
};

/// A local maximum of the marginal likelihood: the best of all starts.
struct LikelihoodOptimum {
  Network network;  ///< with the w_std and b_std found
  ProcessParameters parameters;
  double value = 0;
  std::array<double, 3> gradient{};  ///< as in MarginalLikelihood
  std::vector<LikelihoodStart> starts;
  double quadrature_error = 0;
  /// `gradient` is that of the best start, `iterations` those of all. not_positive_definite where no start has a
  /// likelihood.
  Summary summary;
};

/// Maximises log p(y) over one w_std and one b_std of all weight layers and over the noise, in their logarithms, by
/// projected quasi-Newton steps from several starts. An evaluation costs as much as marginal_likelihood; K is in
/// float64.
[[nodiscard]] LikelihoodOptimum optimise_marginal_likelihood(const Network& network, const SampleView& x,
                                                             MatrixView<const double> targets,
                                                             const LikelihoodSearchOptions& options,
                                                             const Engine& engine);

}  // namespace widelimit
