#pragma once

#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/kernel/label_aware/pair_features.hpp"
#include "widelimit/kernel/label_aware/spectrum_repair.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// Label-aware kernels by higher-order regression (Chen, He and Su 2020): K^HR = Θ + λ·Z, where Z(x, x') estimates from
/// all pairs of training samples whether two samples are of one class. [docs/theory/label_aware.md]
namespace widelimit {

/// How Z is estimated.
enum class LabelAwareMethod : std::uint8_t {
  linear1,  ///< least squares on ten features of a pair, exact
  linear2,  ///< the same with products and differences on five principal components
  kr1,      ///< kernel regression on Θ(x, x') alone
  kr2,      ///< the same of H⁻¹yyᵀH⁻¹ instead of yyᵀ, H = Θ of the training samples
  fjlt1,    ///< linear1 by a random sketch, as published
  fjlt2,    ///< linear2 by a random sketch
};
[[nodiscard]] std::string_view to_string(LabelAwareMethod method);
[[nodiscard]] LabelAwareMethod parse_label_aware_method(std::string_view text);  ///< "linear1", …
/// Whether a method reads the samples, besides their kernel.
[[nodiscard]] constexpr bool reads_samples(LabelAwareMethod method) {
  return method != LabelAwareMethod::kr1 && method != LabelAwareMethod::kr2;
}

/// What Z estimates for a pair.
enum class PairTarget : std::uint8_t {
  same,      ///< 1 where both are of one class, else 0
  opposite,  ///< 1 or −1: y·y' of two classes
};
[[nodiscard]] std::string_view to_string(PairTarget target);
[[nodiscard]] PairTarget parse_pair_target(std::string_view text);  ///< "same" or "signed"

struct LabelAwareOptions {
  LabelAwareMethod method = LabelAwareMethod::linear1;
  std::optional<PairTarget> target;  ///< absent: `opposite` for two classes, `same` for more
  double ratio = 0.1;                ///< λ = ratio·mean|Θ|/mean|Z| over training pairs
  double distortion = 0.01;          ///< ε of the sketch, which has ln(p + 1)/ε² rows for p features
  std::uint64_t seed = 0;            ///< of the sketch
  Psd psd = Psd::none;               ///< what becomes of negative eigenvalues, which K^HR has

  /// Error{usage} for numbers out of range.
  void validate() const;
};

/// Z as a ratio of two quadratics in t = (Θ − centre)/half_width: the kernel regression of Nadaraya and Watson with
/// weights 4 − (t − t_ij)², which are not negative for t in [−1, 1]. Pairs beyond take the nearest end.
struct PairSmoother {
  double centre = 0;
  double half_width = 1;
  std::array<double, 3> numerator{};  ///< by powers of t
  std::array<double, 3> denominator{};

  [[nodiscard]] bool covers(double kernel) const;
  [[nodiscard]] double operator()(double kernel) const;
};

/// Z as a sum of features of a pair.
struct PairRegression {
  PairBasis basis;
  double kernel_scale = 1;           ///< Θ enters as Θ/kernel_scale
  std::vector<double> coefficients;  ///< of the features in order
  std::vector<std::string> own;      ///< names of the last of them, which are the caller's
  Index rank = 0;                    ///< of the features over the training pairs; below their number some are redundant
  double explained = 0;  ///< 1 − Σ(z − Z)²/Σz² over the training pairs; of the sketch where there is one
};

/// A fitted Z with its λ: all that new samples need besides Θ and the training samples.
struct LabelAware {
  LabelAwareMethod method = LabelAwareMethod::linear1;
  PairTarget target = PairTarget::same;
  double ratio = 0;
  double lambda = 0;
  std::variant<PairSmoother, PairRegression> estimate;

  /// Error{input} for values that no fit gives.
  void validate() const;
};

/// What Z reads besides Θ; kernel regression reads nothing.
struct PairSources {
  std::optional<SampleView> train = std::nullopt;
  std::optional<SampleView> test = std::nullopt;  ///< the left samples of pairs, where they are others
  const PairFunctions* own = nullptr;             ///< more features, for `linear` and `fjlt`
};

/// Error{usage} where a caller's features are given to a kernel without labels, or to a method that reads Θ alone.
void check_pair_functions(const std::optional<LabelAwareOptions>& options, const PairFunctions* own);

/// Error{usage} unless the functions given have the names of those that Z was learned with; a kernel without labels,
/// null, has none.
void require_pair_functions(const LabelAware* aware, const PairFunctions* given);

/// Estimates Z from Θ and labels 0 … classes − 1 of the training samples. Strips of Θ are read one after the other,
/// wherever it lies, a few times; memory beside it is that of a strip, and does not depend on the number of pairs.
/// Error{input} for data that do not fit together, Error{numerical} where kr2 meets a singular Θ.
/// O(n²(d + p²)) for samples of d values and p features; kr1: O(n²); kr2: O(n³) and a copy of Θ.
[[nodiscard]] LabelAware fit_label_aware(const GramMatrix& kernel, const PairSources& sources,
                                         std::span<const Index> labels, Index classes, const LabelAwareOptions& options,
                                         Progress* progress = nullptr);

/// Whose kernel a matrix is: of training samples, or of test samples (rows) with them (columns).
enum class KernelPart : std::uint8_t { train, test };

/// kernel += λ·Z, in place. Both halves of that of the training samples become equal. Returns the number of pairs that
/// kernel regression took to the nearest end of its range. Error{input} for an entry that is not finite.
Index add_label_aware(const LabelAware& aware, KernelPart part, EngineMatrix& kernel, const PairSources& sources,
                      const Engine& engine, Progress* progress = nullptr);
/// The same of a matrix in host memory, on any engine.
Index add_label_aware(const LabelAware& aware, KernelPart part, AnyMatrix& kernel, const PairSources& sources,
                      const Engine& engine, Progress* progress = nullptr);

/// K^HR(x, x) = Θ(x, x) + λ·Z(x, x) of the samples of `x`, whose Θ(x, x) is given.
[[nodiscard]] std::vector<double> label_aware_diagonal(const LabelAware& aware, std::span<const double> theta,
                                                       const std::optional<SampleView>& x,
                                                       const PairFunctions* own = nullptr);

/// What was learned, and what was done to the spectrum.
struct LabelAwareKernels {
  LabelAware aware;
  SpectrumRepair repair;  ///< of Psd::none without its numbers: nobody asked for O(n³)
  Index beyond = 0;       ///< pairs that kernel regression took to the nearest end of its range
};

/// All of it: learns Z from the Gram matrix of the training samples, adds λ·Z to it and to that of test samples, where
/// there is one, and treats negative eigenvalues. In place, on any engine.
[[nodiscard]] LabelAwareKernels make_label_aware(EngineMatrix& train, EngineMatrix* test, const PairSources& sources,
                                                 std::span<const Index> labels, Index classes,
                                                 const LabelAwareOptions& options, const Engine& engine,
                                                 Progress* progress = nullptr);
/// The same of matrices in host memory.
[[nodiscard]] LabelAwareKernels make_label_aware(AnyMatrix& train, AnyMatrix* test, const PairSources& sources,
                                                 std::span<const Index> labels, Index classes,
                                                 const LabelAwareOptions& options, const Engine& engine,
                                                 Progress* progress = nullptr);

}  // namespace widelimit
