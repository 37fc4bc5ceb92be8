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

/// Label-aware kernels by higher-order regression (Chen, He and Su 2020): K^HR = Θ + λ·Z, where Z(x, x') is regressed
/// on all pairs of training samples and estimates whether two samples have the same class. [docs/theory/label_aware.md]
namespace widelimit {

/// Estimator of Z.
enum class LabelAwareMethod : std::uint8_t {
  linear1,  ///< least squares on ten features of a pair, exact
  linear2,  ///< linear1 plus products and differences on five principal components
  kr1,      ///< kernel regression on Θ(x, x') only
  kr2,      ///< kr1 with target H⁻¹yyᵀH⁻¹ instead of yyᵀ, H = Θ of the training samples
  fjlt1,    ///< linear1 by a random sketch, as published
  fjlt2,    ///< linear2 by a random sketch
};
[[nodiscard]] std::string_view to_string(LabelAwareMethod method);
[[nodiscard]] LabelAwareMethod parse_label_aware_method(std::string_view text);  ///< "linear1", …
/// Whether a method uses the samples in addition to their kernel.
[[nodiscard]] constexpr bool reads_samples(LabelAwareMethod method) {
  return method != LabelAwareMethod::kr1 && method != LabelAwareMethod::kr2;
}

/// Regression target of Z for a pair.
enum class PairTarget : std::uint8_t {
  same,      ///< 1 if both have the same class, else 0
  opposite,  ///< 1 or −1: y·y' of two classes
};
[[nodiscard]] std::string_view to_string(PairTarget target);
[[nodiscard]] PairTarget parse_pair_target(std::string_view text);  ///< "same" or "signed"

struct LabelAwareOptions {
  LabelAwareMethod method = LabelAwareMethod::linear1;
  std::optional<PairTarget> target;  ///< absent: `opposite` for two classes, `same` for more
  double ratio = 0.1;                ///< λ = ratio·mean|Θ|/mean|Z| over training pairs
  double distortion = 0.01;          ///< error ε of the sketch, which has ln(p + 1)/ε² rows for p features
  std::uint64_t seed = 0;            ///< of the sketch
  Psd psd = Psd::none;               ///< treatment of the negative eigenvalues that K^HR has in general

  /// Throws Error{usage} for values out of range.
  void validate() const;
};

/// Z as a ratio of two quadratics in t = (Θ − centre)/half_width: Nadaraya–Watson kernel regression with weights
/// 4 − (t − t_ij)², which are non-negative for t in [−1, 1]. t is clamped to [−1, 1].
struct PairSmoother {
  double centre = 0;
  double half_width = 1;
  std::array<double, 3> numerator{};  ///< coefficients of powers of t
  std::array<double, 3> denominator{};

  [[nodiscard]] bool covers(double kernel) const;
  [[nodiscard]] double operator()(double kernel) const;
};

/// Z as a linear combination of features of a pair.
struct PairRegression {
  PairBasis basis;
  double kernel_scale = 1;           ///< Θ enters as Θ/kernel_scale
  std::vector<double> coefficients;  ///< of the features in order
  std::vector<std::string> own;      ///< names of the user-supplied features, which come last
  Index rank = 0;  ///< of the features over the training pairs; if it is less than their number, some are redundant
  double explained = 0;  ///< 1 − Σ(z − Z)²/Σz² over the training pairs; over the sketch, if there is one
};

/// A fitted Z with its λ: all that new samples need in addition to Θ and the training samples.
struct LabelAware {
  LabelAwareMethod method = LabelAwareMethod::linear1;
  PairTarget target = PairTarget::same;
  double ratio = 0;
  double lambda = 0;
  std::variant<PairSmoother, PairRegression> estimate;

  /// Throws Error{input} for values that no fit produces.
  void validate() const;
};

/// Inputs of Z in addition to Θ; not needed by kernel regression.
struct PairSources {
  std::optional<SampleView> train = std::nullopt;
  std::optional<SampleView> test = std::nullopt;  ///< left samples of the pairs, if they differ from the right ones
  const PairFunctions* own = nullptr;             ///< additional features, for `linear` and `fjlt`
};

/// Throws Error{usage} if user-supplied features are given for a kernel without labels, or for a method that uses Θ
/// only.
void check_pair_functions(const std::optional<LabelAwareOptions>& options, const PairFunctions* own);

/// Throws Error{usage} unless the functions given have the names of those that Z was fitted with; `aware` = null (a
/// kernel without labels) has none.
void require_pair_functions(const LabelAware* aware, const PairFunctions* given);

/// Estimates Z from Θ and labels 0 … classes − 1 of the training samples. Reads Θ a few times, strip by strip, from any
/// storage; additional memory is that of a strip, independent of the number of pairs. Throws Error{input} for
/// inconsistent data, Error{numerical} if kr2 finds a singular Θ. O(n²(d + p²)) for samples of d values and p features;
/// kr1: O(n²); kr2: O(n³) and a copy of Θ.
[[nodiscard]] LabelAware fit_label_aware(const GramMatrix& kernel, const PairSources& sources,
                                         std::span<const Index> labels, Index classes, const LabelAwareOptions& options,
                                         Progress* progress = nullptr);

/// Part of the kernel: training samples with themselves, or test samples (rows) with training samples (columns).
enum class KernelPart : std::uint8_t { train, test };

/// kernel += λ·Z, in place; the training kernel becomes exactly symmetric. Returns the number of pairs that kernel
/// regression clamped to its range. Throws Error{input} for a value or an entry that is not finite, and for a kernel of
/// another size than the samples in `sources`, if there are any.
Index add_label_aware(const LabelAware& aware, KernelPart part, EngineMatrix& kernel, const PairSources& sources,
                      const Engine& engine, Progress* progress = nullptr);
/// The same for a matrix in host memory, on any engine.
Index add_label_aware(const LabelAware& aware, KernelPart part, AnyMatrix& kernel, const PairSources& sources,
                      const Engine& engine, Progress* progress = nullptr);

/// Returns K^HR(x, x) = Θ(x, x) + λ·Z(x, x) for the samples of `x`, given Θ(x, x).
[[nodiscard]] std::vector<double> label_aware_diagonal(const LabelAware& aware, std::span<const double> theta,
                                                       const std::optional<SampleView>& x,
                                                       const PairFunctions* own = nullptr);

/// Fitted estimator and the treatment of the spectrum.
struct LabelAwareKernels {
  LabelAware aware;
  SpectrumRepair repair;  ///< for Psd::none without eigenvalues, which would cost O(n³)
  Index beyond = 0;       ///< pairs that kernel regression clamped to its range
};

/// Fits Z to the Gram matrix of the training samples, adds λ·Z to it and to the test × train kernel, if given, and
/// treats negative eigenvalues. In place, on any engine; the sizes of all matrices and samples are checked before any
/// is changed.
[[nodiscard]] LabelAwareKernels make_label_aware(EngineMatrix& train, EngineMatrix* test, const PairSources& sources,
                                                 std::span<const Index> labels, Index classes,
                                                 const LabelAwareOptions& options, const Engine& engine,
                                                 Progress* progress = nullptr);
/// The same for matrices in host memory.
[[nodiscard]] LabelAwareKernels make_label_aware(AnyMatrix& train, AnyMatrix* test, const PairSources& sources,
                                                 std::span<const Index> labels, Index classes,
                                                 const LabelAwareOptions& options, const Engine& engine,
                                                 Progress* progress = nullptr);

}  // namespace widelimit
