#pragma once

#include "widelimit/certificate/chain/chain.hpp"
#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/certificate/cone/geometry.hpp"
#include "widelimit/certificate/lower_bound.hpp"

#include <functional>
#include <span>
#include <vector>

namespace widelimit {

/// For one x and every support sample: Θ(x,xᵢ), and ∇Θ(x,xᵢ) = across[i]·xᵢ + along[i]·x.
struct EntrySlopes {
  explicit EntrySlopes(Index supports) : value(usize(supports)), across(usize(supports)), along(usize(supports)) {}
  std::vector<double> value, across, along;
};

/// Fills EntrySlopes from ‖x‖ and all ⟨x,xᵢ⟩. If x is parallel to some xᵢ, slopes are infinite but cancel; they are
/// then evaluated at a nearby angle.
using EntryRule = std::function<void(double norm, const double* inner, EntrySlopes& slopes)>;

/// Θ = scale·N·Mᵢ·κ(u):  across = scale·κ'(u),  along = scale·(Mᵢ/N)·(κ − uκ')(u), without the kernel's exponent.
/// Borrows both.
[[nodiscard]] EntryRule cone_entries(const ConeKernel& kernel, std::span<const double> norms);

/// With q = ‖x‖²/d and c = ⟨x,xᵢ⟩/d as inputs of the layers:  across = ∂Θ/∂c / d,  along = 2·∂Θ/∂q / d.  Norms and
/// inner products are those of rows scaled by `rows`; Θ is scaled by `entries`, and slopes are with respect to the
/// scaled x. If any exponent is not 0, layers are evaluated in long double, whose range covers all products.
[[nodiscard]] EntryRule chain_entries(const Chain& chain, Kind kind, std::span<const double> norms,
                                      EntryExponents rows = {}, EntryExponents entries = {});

/// f and ∇f of functionals at any x:
///   f = Σ βᵢ Θ(x,xᵢ) + b,   ∇f = Σ βᵢ acrossᵢ·xᵢ + (Σ βᵢ alongᵢ)·x,   with entries and slopes from an EntryRule.
class FunctionalGradient {
 public:
  /// Borrows support and functionals. Weights multiply the entries of `rule`; f is in the units of the weights.
  FunctionalGradient(MatrixView<const double> support, std::span<const Functional> functionals,
                     const std::function<FunctionalWeights(const Functional&)>& weights, EntryRule rule);

  /// Evaluates functional which[k] at row k of `x`. Two matrix products; not thread-safe.
  void evaluate(MatrixView<const double> x, std::span<const Index> which, double* values,
                MatrixView<double> gradients) const;

 private:
  MatrixView<const double> support_;
  std::span<const Functional> functionals_;
  EntryRule rule_;
  ByOutputs<FunctionalWeights> weights_;
};

/// Returns whether all exponents are 0.
[[nodiscard]] bool unscaled(const EntryExponents& exponents);

/// Arguments of Cones::slopes and Cones::chain_slopes for an engine that holds the support.
struct HeldDescent {
  const EngineMatrix& weights;
  std::span<const Index> which;
  std::span<const double> norms;
  EngineMatrix& inner;
  double* values;
  double* along;
};
using HeldRule = std::function<void(const Cones& cones, const HeldDescent& descent)>;

/// Rule for weights βᵢ·scale·‖xᵢ‖. Borrows the kernel.
[[nodiscard]] HeldRule cone_slopes(const ConeKernel& kernel);
/// Rule for weights βᵢ. Borrows ‖xᵢ‖.
[[nodiscard]] HeldRule chain_slopes(const Chain& chain, Kind kind, std::span<const double> norms);

/// FunctionalGradient for an engine that holds the support.
class HeldGradient {
 public:
  /// Borrows support and functionals. Weights are as required by `rule`.
  HeldGradient(const HeldSupport& support, std::span<const Functional> functionals,
               const std::function<FunctionalWeights(const Functional&)>& weights, HeldRule rule);

  /// See FunctionalGradient::evaluate.
  void evaluate(MatrixView<const double> x, std::span<const Index> which, double* values,
                MatrixView<double> gradients) const;

 private:
  Index append(const FunctionalWeights& weights);

  const HeldSupport& support_;
  std::span<const Functional> functionals_;
  HeldRule rule_;
  std::vector<double> dense_, bias_;
  ByOutputs<Index> rows_;  ///< row indices in weights_
  EngineMatrix weights_;
};

}  // namespace widelimit
