#pragma once

#include "widelimit/kernel/gram.hpp"
#include "widelimit/machine/summary.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace widelimit {

struct MarginalLikelihoodOptions {
  Kind kind = Kind::nngp;  ///< covariance: nngp, the prior of the network, or ntk
  double noise = 0;        ///< variance σ² of the observation noise; finite, ≥ 0
  bool gradient = true;
  /// Also compute the quadrature error and, if K + σ²I has no factor, the noise variance that would make it positive
  /// definite. Set to false if only the value is needed.
  bool diagnose = true;
  std::optional<std::size_t> memory;  ///< memory limit of K and its factor in bytes; default: the available memory
  Progress* progress = nullptr;

  void validate() const;
};

/// log p(y) of a Gaussian process, summed over outputs.
struct MarginalLikelihood {
  double value = 0;  ///< 0 if K + σ²I has no factor or is too ill-conditioned for accurate digits
  /// Derivatives with respect to log w_std, log b_std and log σ²: a common factor of the w_std of all weight layers,
  /// one of their b_std, and the noise. 0 unless requested.
  std::array<double, 3> gradient{};
  double quadrature_error = 0;  ///< quadrature error of the kernel, if `diagnose` is set
  Summary summary;              ///< not_positive_definite, with the failing minor, if `value` is undefined
};

/// Computes log p(y) = −½ yᵀA⁻¹y − ½ log det A − n/2·log 2π with A = K + σ²I, K the kernel of the network on x, in
/// float64, and
///
///     ∂ log p/∂θ = ½ Σ_ij (ααᵀ − A⁻¹)_ij ∂K_ij/∂θ,   α = A⁻¹y,
///
/// summed over the columns of y. ∂K/∂θ of the standard deviations is computed by fourth-order central differences in
/// log θ, with an error of about 1e-12·2D·|K_ij| for D weight layers [docs/theory/machines.md]. n³/3 multiply-adds and
/// one Gram matrix; with the gradient 2n³ and nine Gram matrices. 2n² doubles.
[[nodiscard]] MarginalLikelihood marginal_likelihood(const Network& network, const SampleView& x,
                                                     MatrixView<const double> targets,
                                                     const MarginalLikelihoodOptions& options, const Engine& engine);

/// Shared w_std and b_std of all weight layers of a network, and the noise variance.
struct ProcessParameters {
  double w_std = 1;
  double b_std = 0;
  double noise = 0;
  bool operator==(const ProcessParameters&) const = default;
};

/// Bounds of a parameter; it is fixed if both are equal.
struct ParameterRange {
  double lower = 0;
  double upper = 0;
};

struct LikelihoodSearchOptions {
  Kind kind = Kind::nngp;
  /// First starting point. Default: w_std and b_std of the first weight layer (0.1 if it has no bias), and a tenth of
  /// the mean square of the targets for the noise.
  std::optional<double> w_std;
  std::optional<double> b_std;
  std::optional<double> noise;
  ParameterRange w_std_range{1e-2, 1e2};
  ParameterRange b_std_range{1e-3, 1e1};
  /// Default: 1e-6 to 10 times the mean square of the targets.
  std::optional<ParameterRange> noise_range;
  Index starts = 3;            ///< number of starts: the first, and random ones around it
  std::uint64_t seed = 0;      ///< seed of the random starts
  double tolerance = 1e-6;     ///< on the projected gradient, per target
  Index max_iterations = 100;  ///< per start
  std::optional<std::size_t> memory;
  Progress* progress = nullptr;

  void validate() const;
};

/// Result of one start of the search.
struct LikelihoodStart {
  ProcessParameters from;
  ProcessParameters to;
  std::optional<double> from_value;  ///< log p(y) at `from`; empty if K + σ²I has no factor
  std::optional<double> value;
  double gradient = 0;  ///< largest entry of the projected gradient in log-parameters, per target
  Index iterations = 0;
  Ending ending = Ending::converged;
  bool rounded = false;  ///< converged to the rounding error of the likelihood and its gradient
};

/// Local maximum of the marginal likelihood: the best of all starts.
struct LikelihoodOptimum {
  Network network;  ///< with the optimal w_std and b_std
  ProcessParameters parameters;
  double value = 0;
  std::array<double, 3> gradient{};  ///< as in MarginalLikelihood
  std::vector<LikelihoodStart> starts;
  double quadrature_error = 0;
  /// `gradient` is that of the best start, `iterations` the total. not_positive_definite if no start has a likelihood.
  Summary summary;
};

/// Maximises log p(y) over a shared w_std and b_std of all weight layers and the noise, in logarithms, by projected
/// quasi-Newton steps from several starts. Each evaluation costs as much as marginal_likelihood; K is in float64.
[[nodiscard]] LikelihoodOptimum optimise_marginal_likelihood(const Network& network, const SampleView& x,
                                                             MatrixView<const double> targets,
                                                             const LikelihoodSearchOptions& options,
                                                             const Engine& engine);

}  // namespace widelimit
