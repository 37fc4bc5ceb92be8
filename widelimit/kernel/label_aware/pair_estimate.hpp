#pragma once

#include "widelimit/kernel/label_aware/label_aware.hpp"

#include <memory>
#include <optional>
#include <span>

namespace widelimit {

/// Extremes of the entries of a Gram matrix, and the sum of their magnitudes.
struct KernelRange {
  double least = 0;
  double largest = 0;
  double magnitude = 0;
};
/// Error{input} where all entries are 0.
[[nodiscard]] KernelRange kernel_range(const GramMatrix& kernel, Progress* progress);

/// Kernel regression on Θ; of H⁻¹yyᵀH⁻¹ where `inverse`.
[[nodiscard]] PairSmoother fit_smoother(const GramMatrix& kernel, const KernelRange& range,
                                        std::span<const Index> labels, PairTarget target, bool inverse,
                                        Progress* progress);

/// Least squares on features of pairs, over all of them or a sketch of them.
[[nodiscard]] PairRegression fit_pair_regression(const GramMatrix& kernel, const KernelRange& range,
                                                 const PairSources& sources, std::span<const Index> labels,
                                                 PairTarget target, const LabelAwareOptions& options,
                                                 Progress* progress);

/// What Z is to estimate for the pairs of a block, row by row.
void write_targets(std::span<const Index> labels, PairTarget target, const PairBlock& block, double* to);

/// A fitted Z on blocks of pairs. Borrows all it is given.
class PairEstimator {
 public:
  PairEstimator(const LabelAware& aware, KernelPart part, const PairSources& sources);
  /// Z of a block from its Θ; the number of pairs beyond the range of kernel regression. Sequential.
  Index evaluate(const PairBlock& block, MatrixView<const double> k, MatrixView<double> z) const;

 private:
  const LabelAware& aware_;
  std::optional<PairSamples> train_;
  std::optional<PairSamples> test_;
  std::optional<PairFeatures> features_;
};

/// Error{usage} or Error{input} unless `sources` are those of a kernel of that size.
void check_sources(const LabelAware& aware, KernelPart part, const PairSources& sources, Index rows, Index cols);

/// The sum of |Z| that λ divides by; Error{numerical} where it is 0 or not finite.
double checked_magnitude(double sum);

/// One strip of rows, from column `first` on, in host memory: its blocks gain λZ. Of training samples only those on and
/// above the diagonal. The number of pairs beyond the range of kernel regression.
Index add_to_strip(const PairEstimator& z, double lambda, Range strip, Index first, bool test, MatrixView<double> k,
                   const Engine& engine);
/// kernel += λZ of the training samples, both halves of it, and of test samples.
Index add_symmetric(const PairEstimator& z, double lambda, EngineMatrix& kernel, const Engine& engine,
                    Progress* progress);
Index add_rows(const PairEstimator& z, double lambda, EngineMatrix& kernel, const Engine& engine, Progress* progress);
/// kernel += λZ of the training samples with λ = share/Σ|Z|, which it returns. Z, whose features cost most, is
/// evaluated once: until λ is known it lies in the lower triangle, the upper one holds Θ.
double add_share(const PairEstimator& z, double share, EngineMatrix& kernel, Index& beyond, const Engine& engine,
                 Progress* progress);

}  // namespace widelimit
