#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/engine/host/pair_panel.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Functions of a pair of samples, on which pairwise regression estimates whether both are of one class.
/// [docs/theory/label_aware.md]
namespace widelimit {

/// A block of pairs: `rows` of the left samples with `cols` of the right ones.
struct PairBlock {
  Range rows;
  Range cols;

  [[nodiscard]] Index pairs() const { return rows.size() * cols.size(); }
};

/// Features that a caller adds: row f of `out` becomes feature f of all pairs of a sample of `left` with one of
/// `right`, row by row. They must be symmetric and finite, and depend on nothing but the two samples, so that folds,
/// and new samples of a model, have them, too. Called from several threads.
struct PairFunctions {
  std::vector<std::string> names;  ///< one for each; a model remembers them
  std::function<void(const SampleView& left, const SampleView& right, MatrixView<double> out)> evaluate;

  [[nodiscard]] Index count() const { return std::ssize(names); }
};

/// What the features of samples have learned from the training samples.
struct PairBasis {
  static constexpr Index most_components = 5;

  double mean_square = 1;      ///< of ‖x − x'‖² over all ordered pairs
  std::vector<double> centre;  ///< mean of the samples; empty where there are no components
  Matrix<double> components;   ///< leading principal directions, a row each: set 2 only

  /// The ten of set 1, and two for each component.
  [[nodiscard]] Index count() const { return 10 + 2 * components.rows(); }
};

/// Of set 1, or with up to five components those of set 2. Error{input} for graphs, which have no coordinates.
/// O(n d), and O(n d min(n, d) + min(n, d)³) for components.
[[nodiscard]] PairBasis pair_basis(const SampleView& x, bool components, const Engine& engine, Progress* progress);

/// Names of the features in order; those of a caller are "own 1", ….
[[nodiscard]] std::vector<std::string> pair_feature_names(const PairBasis& basis, Index own);

/// Samples as pair features read them, x with a constant 1 appended: norms, means, scores on components. Borrows both.
class PairSamples {
 public:
  PairSamples(const SampleView& x, const PairBasis& basis);
  [[nodiscard]] Index count() const { return x_.count(); }

 private:
  friend class PairFeatures;
  SampleView x_;
  Matrix<double> scores_;
  std::vector<double> norm_;     ///< ‖x‖
  std::vector<double> square_;   ///< ‖x‖²
  std::vector<double> mean_;     ///< of the entries of x
  std::vector<double> inverse_;  ///< of √Σ(x_k − mean)², or 0 where that is 0
};

/// Sums over the coordinates of the pairs of a block: what features cost most for.
struct CoordinateSums {
  Matrix<double> products;   ///< of rows less their means
  Matrix<double> distances;  ///< ‖x − x'‖₁
};

/// Features of blocks of pairs: Θ/scale and those of the basis, then those of the caller.
class PairFeatures {
 public:
  /// `left` is null where both sides are the training samples. All are borrowed.
  PairFeatures(const PairBasis& basis, const PairSamples* left, const PairSamples& right, const PairFunctions* own,
               double kernel_scale);
  [[nodiscard]] Index count() const { return basis_.count() + (own_ != nullptr ? own_->count() : 0); }

  /// Samples of one side, arranged for `sums`: O(samples·d), hence worth keeping for several blocks.
  [[nodiscard]] host::PairPanel left_panel(Range rows, bool distances) const;
  [[nodiscard]] host::PairPanel right_panel(Range cols, bool distances) const;
  /// Of the block of both panels; the second where its distances are known. Sequential.
  [[nodiscard]] static CoordinateSums sums(const host::PairPanel& left, const host::PairPanel& right);
  [[nodiscard]] static CoordinateSums sums(const host::PairPanel& left, const host::PairPanel& right,
                                           Matrix<double> distances);

  /// Some rows of the block from row `first` on: row f of `features` is feature f of their pairs, row by row; one row
  /// more is there for the receiver to use.
  using Take = std::function<void(Index first, MatrixView<double> features)>;
  /// All features of a block, a few rows at a time, which stay in the first-level cache; `k` is Θ of the block.
  /// Error{input} where a caller's feature is not finite, or in a block on the diagonal not symmetric. Sequential.
  void evaluate(const PairBlock& block, MatrixView<const double> k, const CoordinateSums& sums, const Take& take) const;

 private:
  [[nodiscard]] static host::PairPanel panel(const PairSamples& samples, Range range, host::PairPanel::Side side,
                                             bool distances);
  void of_samples(const PairBlock& part, const CoordinateSums& sums, Index first, MatrixView<double> out) const;
  void of_components(const PairBlock& part, MatrixView<double> out) const;
  [[nodiscard]] Matrix<double> of_caller(const PairBlock& block) const;

  const PairBasis& basis_;
  const PairSamples* left_;
  const PairSamples& right_;
  const PairFunctions* own_;
  double kernel_scale_;
};

}  // namespace widelimit
