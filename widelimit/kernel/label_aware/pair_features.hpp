#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/engine/host/pair_products.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Features of a pair of samples, from which pairwise regression estimates whether both have the same class.
/// [docs/theory/label_aware.md]
namespace widelimit {

/// A block of pairs: `rows` of the left samples with `cols` of the right ones.
struct PairBlock {
  Range rows;
  Range cols;

  [[nodiscard]] Index pairs() const { return rows.size() * cols.size(); }
};

/// User-supplied features: row f of `out` is set to feature f of all pairs of a sample of `left` with one of `right`,
/// row-major. They must be symmetric and finite, and depend only on the two samples, so that they are defined for folds
/// and for new samples as well. Called from several threads.
struct PairFunctions {
  std::vector<std::string> names;  ///< one per feature; stored in the model
  std::function<void(const SampleView& left, const SampleView& right, MatrixView<double> out)> evaluate;

  [[nodiscard]] Index count() const { return std::ssize(names); }
};

/// Parameters of the features that are estimated from the training samples.
struct PairBasis {
  static constexpr Index most_components = 5;

  double mean_square = 1;      ///< of ‖x − x'‖² over all ordered pairs
  std::vector<double> centre;  ///< mean of the samples; empty if there are no components
  Matrix<double> components;   ///< leading principal directions as rows; set 2 only

  /// Number of features: ten of set 1, and two per component.
  [[nodiscard]] Index count() const { return 10 + 2 * components.rows(); }
};

/// Basis of set 1, or of set 2 with up to five components. Throws Error{input} for graphs, which have no coordinates.
/// O(n d), and O(n d min(n, d) + min(n, d)³) for components.
[[nodiscard]] PairBasis pair_basis(const SampleView& x, bool components, const Engine& engine, Progress* progress);

/// Names of the features in order; user-supplied ones are "own 1", ….
[[nodiscard]] std::vector<std::string> pair_feature_names(const PairBasis& basis, Index own);

/// Samples x with a constant 1 appended, and their norms, means and scores on the components. Holds references to x and
/// basis.
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
  std::vector<double> mean_;     ///< mean of the entries of x
  std::vector<double> inverse_;  ///< 1/√Σ(x_k − mean)², or 0 if the sum is 0
};

/// Sums over the coordinates for the pairs of a block, the most expensive part of the features.
struct CoordinateSums {
  Matrix<double> products;   ///< of centred rows
  Matrix<double> distances;  ///< ‖x − x'‖₁
};

/// Features of blocks of pairs: Θ/scale and those of the basis, then the user-supplied ones.
class PairFeatures {
 public:
  /// `left` is null if both sides are the training samples. Holds references to its arguments.
  PairFeatures(const PairBasis& basis, const PairSamples* left, const PairSamples& right, const PairFunctions* own,
               double kernel_scale);
  [[nodiscard]] Index count() const { return basis_.count() + (own_ != nullptr ? own_->count() : 0); }

  /// Samples of one side, packed for `sums`: O(samples·d), so reuse them for several blocks.
  [[nodiscard]] host::PairPanel left_panel(Range rows, bool distances) const;
  [[nodiscard]] host::PairPanel right_panel(Range cols, bool distances) const;
  /// Coordinate sums of the block of both panels; the second overload takes known distances. Single-threaded.
  [[nodiscard]] static CoordinateSums sums(const host::PairPanel& left, const host::PairPanel& right);
  [[nodiscard]] static CoordinateSums sums(const host::PairPanel& left, const host::PairPanel& right,
                                           Matrix<double> distances);

  /// Receives some rows of the block, from row `first` on: row f of `features` is feature f of their pairs, row-major;
  /// one additional row is scratch space for the receiver.
  using Take = std::function<void(Index first, MatrixView<double> features)>;
  /// Evaluates all features of a block, a few rows at a time, which fit into the L1 cache; `k` is Θ of the block.
  /// Throws Error{input} if a user-supplied feature is not finite, or not symmetric in a diagonal block.
  /// Single-threaded.
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
