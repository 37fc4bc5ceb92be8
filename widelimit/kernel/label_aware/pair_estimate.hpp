#pragma once

#include "widelimit/kernel/label_aware/label_aware.hpp"

#include <memory>
#include <optional>
#include <span>

namespace widelimit {

/// Minimum and maximum of the entries of a Gram matrix, and the sum of their magnitudes.
struct KernelRange {
  double least = 0;
  double largest = 0;
  double magnitude = 0;
};
/// Throws Error{input} if all entries are 0.
[[nodiscard]] KernelRange kernel_range(const GramMatrix& kernel, Progress* progress);

/// Kernel regression on Θ; with target H⁻¹yyᵀH⁻¹ if `inverse`.
[[nodiscard]] PairSmoother fit_smoother(const GramMatrix& kernel, const KernelRange& range,
                                        std::span<const Index> labels, PairTarget target, bool inverse,
                                        Progress* progress);

/// Least squares on features of pairs, over all pairs or a sketch of them. `keep`, if given, is the Gram matrix itself:
/// without a sketch, its lower triangle is overwritten by ‖x − x'‖₁ of the pairs.
[[nodiscard]] PairRegression fit_pair_regression(const GramMatrix& kernel, const KernelRange& range,
                                                 const PairSources& sources, std::span<const Index> labels,
                                                 PairTarget target, const LabelAwareOptions& options,
                                                 EngineMatrix* keep, Progress* progress);

/// Writes the regression targets of the pairs of a block, row-major.
void write_targets(std::span<const Index> labels, PairTarget target, const PairBlock& block, double* to);

/// A fitted Z, evaluated on blocks of pairs. Holds references to its arguments.
class PairEstimator {
 public:
  PairEstimator(const LabelAware& aware, KernelPart part, const PairSources& sources);
  /// Panels of PairFeatures; empty for kernel regression.
  [[nodiscard]] host::PairPanel left_panel(Range rows, bool distances) const;
  [[nodiscard]] host::PairPanel right_panel(Range cols, bool distances) const;
  /// Computes Z of a block from its panels and its Θ; returns the number of pairs that kernel regression clamped to its
  /// range. Panels need no distances if `distances` is given. Single-threaded.
  Index evaluate(const PairBlock& block, const host::PairPanel& left, const host::PairPanel& right,
                 MatrixView<const double> k, MatrixView<double> z,
                 std::optional<Matrix<double>> distances = std::nullopt) const;

 private:
  const LabelAware& aware_;
  std::optional<PairSamples> train_;
  std::optional<PairSamples> test_;
  std::optional<PairFeatures> features_;
};

/// Throws Error{usage} or Error{input} unless `sources` match a kernel of that size.
void check_sources(const LabelAware& aware, KernelPart part, const PairSources& sources, Index rows, Index cols);
/// The same for a kernel of test samples before Z is fitted, so that a wrong one costs no fit: it has one column for
/// each of `samples` training samples.
void check_test_kernel(LabelAwareMethod method, const PairSources& sources, Index rows, Index cols, Index samples);

/// Returns the sum of |Z|, the divisor of λ; throws Error{numerical} if it is 0 or not finite.
double checked_magnitude(double sum);

/// Adds λZ to one strip of rows in host memory, from column `first` on; for training samples, only to its blocks on and
/// above the diagonal. Returns the number of pairs that kernel regression clamped to its range.
Index add_to_strip(const PairEstimator& z, double lambda, Range strip, Index first, bool test, MatrixView<double> k,
                   const Engine& engine);
/// kernel += λZ: add_symmetric for the training samples, both triangles; add_rows for test samples.
Index add_symmetric(const PairEstimator& z, double lambda, EngineMatrix& kernel, const Engine& engine,
                    Progress* progress);
Index add_rows(const PairEstimator& z, double lambda, EngineMatrix& kernel, const Engine& engine, Progress* progress);
/// Scratch storage in the lower triangle of a Gram matrix: values of the pairs of one strip, kept in the columns of the
/// strip for a later pass, while the upper triangle holds Θ.
class LowerStrip {
 public:
  /// For an n × n matrix.
  LowerStrip(Range strip, Index n) : strip_(strip), turned_(n - strip.begin, strip.size(), Content::unset) {}
  /// Stores the values of a block on or above the diagonal, row-major. Thread-safe.
  void put(const PairBlock& block, const double* values);
  /// Writes the strip to the kernel; `upper` are the rows of the strip, from its own columns on.
  void write(MatrixView<const double> upper, EngineMatrix& kernel, const Algebra& algebra);
  /// Reads the strip from the kernel.
  void read(const EngineMatrix& kernel, const Algebra& algebra);
  /// Values of a block, after `read`; 0 for a sample with itself.
  [[nodiscard]] Matrix<double> get(const PairBlock& block) const;
  /// Value of sample i of the strip with itself, before `write`.
  [[nodiscard]] double own(Index i) const { return turned_(i, i); }

 private:
  Range strip_;
  Matrix<double> turned_;
};

/// kernel += λZ of the training samples with λ = share/Σ|Z|; returns λ. Z is evaluated once: until λ is known, it is
/// stored in the lower triangle, while the upper one holds Θ. If `kept`, the lower triangle holds the distances on
/// entry.
double add_share(const PairEstimator& z, double share, bool kept, EngineMatrix& kernel, Index& beyond,
                 const Engine& engine, Progress* progress);

}  // namespace widelimit
