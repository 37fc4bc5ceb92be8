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

/// Least squares on features of pairs, over all of them or a sketch of them. `keep`, where given, is the Gram matrix
/// itself: without a sketch its lower triangle becomes ‖x − x'‖₁ of the pairs.
[[nodiscard]] PairRegression fit_pair_regression(const GramMatrix& kernel, const KernelRange& range,
                                                 const PairSources& sources, std::span<const Index> labels,
                                                 PairTarget target, const LabelAwareOptions& options,
                                                 EngineMatrix* keep, Progress* progress);

/// What Z is to estimate for the pairs of a block, row by row.
void write_targets(std::span<const Index> labels, PairTarget target, const PairBlock& block, double* to);

/// A fitted Z on blocks of pairs. Borrows all it is given.
class PairEstimator {
 public:
  PairEstimator(const LabelAware& aware, KernelPart part, const PairSources& sources);
  /// As those of PairFeatures; kernel regression needs none.
  [[nodiscard]] host::PairPanel left_panel(Range rows, bool distances) const;
  [[nodiscard]] host::PairPanel right_panel(Range cols, bool distances) const;
  /// Z of a block from its panels and its Θ; the number of pairs beyond the range of kernel regression. Panels need no
  /// distances where those are given. Sequential.
  Index evaluate(const PairBlock& block, const host::PairPanel& left, const host::PairPanel& right,
                 MatrixView<const double> k, MatrixView<double> z,
                 std::optional<Matrix<double>> distances = std::nullopt) const;

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
/// What lies below the diagonal of a Gram matrix in the columns of one strip, while the upper triangle keeps Θ: numbers
/// of pairs that wait there for a later pass, in place of the mirror image.
class LowerStrip {
 public:
  /// Of an n × n matrix.
  LowerStrip(Range strip, Index n) : strip_(strip), turned_(n - strip.begin, strip.size(), Content::unset) {}
  /// Numbers of a block on or above the diagonal, row by row; from any thread.
  void put(const PairBlock& block, const double* values);
  /// Writes them; `upper` are the rows of the strip from its own columns on.
  void write(MatrixView<const double> upper, EngineMatrix& kernel, const Algebra& algebra);
  /// Reads what was written.
  void read(const EngineMatrix& kernel, const Algebra& algebra);
  /// Those of a block after `read`; of a sample with itself 0.
  [[nodiscard]] Matrix<double> get(const PairBlock& block) const;
  /// Of sample i of the strip with itself, before `write`.
  [[nodiscard]] double own(Index i) const { return turned_(i, i); }

 private:
  Range strip_;
  Matrix<double> turned_;
};

/// kernel += λZ of the training samples with λ = share/Σ|Z|, which it returns. Z is evaluated once: until λ is known it
/// lies in the lower triangle, the upper one holds Θ. With `kept` that held distances before.
double add_share(const PairEstimator& z, double share, bool kept, EngineMatrix& kernel, Index& beyond,
                 const Engine& engine, Progress* progress);

}  // namespace widelimit
