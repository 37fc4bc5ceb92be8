#pragma once

#include "widelimit/certificate/by_outputs.hpp"
#include "widelimit/certificate/chain/chain.hpp"
#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/certificate/cone/geometry.hpp"
#include "widelimit/certificate/lower_bound.hpp"

#include <functional>
#include <span>
#include <vector>

namespace widelimit {

/// Of one x with every sample of a support: Θ(x,xᵢ), and ∇Θ(x,xᵢ) = across[i]·xᵢ + along[i]·x.
struct EntrySlopes {
  explicit EntrySlopes(Index supports) : value(usize(supports)), across(usize(supports)), along(usize(supports)) {}
  std::vector<double> value, across, along;
};

/// Fills them from ‖x‖ and all ⟨x,xᵢ⟩. Where x is parallel to some xᵢ slopes are infinite and cancel: there they are
/// those of an angle nearby.
using EntryRule = std::function<void(double norm, const double* inner, EntrySlopes& slopes)>;

/// Θ = scale·N·Mᵢ·κ(u):  across = scale·κ'(u),  along = scale·(Mᵢ/N)·(κ − uκ')(u), without the kernel's exponent.
/// Borrows both.
[[nodiscard]] EntryRule cone_entries(const ConeKernel& kernel, std::span<const double> norms);

/// With q = ‖x‖²/d and c = ⟨x,xᵢ⟩/d, from which the layers go on:  across = ∂Θ/∂c / d,  along = 2·∂Θ/∂q / d.  Norms and
/// inner products are those of rows that were divided by `rows`; Θ is divided by `entries`, and slopes are those by the
/// scaled x. Where there is anything to scale, layers are passed in long double, whose range is that of all products.
[[nodiscard]] EntryRule chain_entries(const Chain& chain, Kind kind, std::span<const double> norms,
                                      EntryExponents rows = {}, EntryExponents entries = {});

/// f and ∇f of functionals at any x:
///   f = Σ βᵢ Θ(x,xᵢ) + b,   ∇f = Σ βᵢ acrossᵢ·xᵢ + (Σ βᵢ alongᵢ)·x,   entries and their slopes by a rule.
class FunctionalGradient {
 public:
  /// Borrows support and functionals. Weights are those of entries as the rule gives them; f is in the units of these.
  FunctionalGradient(MatrixView<const double> support, std::span<const Functional> functionals,
                     const std::function<FunctionalWeights(const Functional&)>& weights, EntryRule rule);

  /// Row k of `x` by functional which[k]. Two matrix products; for one thread.
  void evaluate(MatrixView<const double> x, std::span<const Index> which, double* values,
                MatrixView<double> gradients) const;

 private:
  MatrixView<const double> support_;
  std::span<const Functional> functionals_;
  EntryRule rule_;
  ByOutputs<FunctionalWeights> weights_;
};

/// Whether all exponents are 0.
[[nodiscard]] bool unscaled(const EntryExponents& exponents);

/// Rows of a descent where an engine holds the support: Cones::slopes and Cones::chain_slopes.
struct HeldDescent {
  const EngineMatrix& weights;
  std::span<const Index> which;
  std::span<const double> norms;
  EngineMatrix& inner;
  double* values;
  double* along;
};
using HeldRule = std::function<void(const Cones& cones, const HeldDescent& descent)>;

/// Weights are βᵢ·scale·‖xᵢ‖. Borrows the kernel.
[[nodiscard]] HeldRule cone_slopes(const ConeKernel& kernel);
/// Weights are βᵢ. Borrows ‖xᵢ‖.
[[nodiscard]] HeldRule chain_slopes(const Chain& chain, Kind kind, std::span<const double> norms);

/// FunctionalGradient where an engine holds the support.
class HeldGradient {
 public:
  /// Borrows support and functionals. Weights are those of the rule.
  HeldGradient(const HeldSupport& support, std::span<const Functional> functionals,
               const std::function<FunctionalWeights(const Functional&)>& weights, HeldRule rule);

  /// As FunctionalGradient's.
  void evaluate(MatrixView<const double> x, std::span<const Index> which, double* values,
                MatrixView<double> gradients) const;

 private:
  Index append(const FunctionalWeights& weights);

  const HeldSupport& support_;
  std::span<const Functional> functionals_;
  HeldRule rule_;
  std::vector<double> dense_, bias_;
  ByOutputs<Index> rows_;  ///< of the weights
  EngineMatrix weights_;
};

}  // namespace widelimit
