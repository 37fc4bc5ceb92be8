#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/engine/engine_matrix.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace widelimit {

/// Half-open range of samples.
struct Range {
  Index begin = 0;
  Index end = 0;
  [[nodiscard]] Index size() const { return end - begin; }
};

/// Samples in engine form with all per-sample quantities (norms after every step, spectra of activations), so that a
/// pair costs only the per-pair work. Opaque; made by Kernels::load and read by the same engine.
class Loaded {
 public:
  virtual ~Loaded() = default;
  [[nodiscard]] virtual Index count() const = 0;
  /// Estimates the largest relative error of a kernel entry due to quadrature; 0 for closed forms.
  [[nodiscard]] virtual double quadrature_error() const = 0;
};

/// Kernel evaluation of an engine, which sees recipes, never networks.
class Kernels {
 public:
  virtual ~Kernels() = default;

  /// Returns the reason why this engine cannot run a recipe, or an empty string if it can.
  [[nodiscard]] virtual std::string obstacle(const Recipe& recipe, Precision precision) const = 0;
  /// Describes how the recipe is evaluated, e.g. "strips of pairs, vectorised, float32".
  [[nodiscard]] virtual std::string route(const Recipe& recipe, Precision precision) const = 0;

  /// Computes the per-sample part of a recipe. O(n · steps), plus the self-covariance of each image if pooling needs
  /// it. `after` is called on the calling thread periodically with the number of samples done; it stops the work by
  /// throwing. Samples to be compared must all be dense or all be sparse. The result for a sample does not depend on
  /// the others, so a data set can be loaded in parts.
  [[nodiscard]] virtual std::unique_ptr<Loaded> load(const Recipe& recipe, const SampleView& x, Precision precision,
                                                     const std::function<void(Index done)>& after) const = 0;
  /// Upper bound of the peak memory of load per sample of `x`, used to split large data sets.
  [[nodiscard]] virtual std::size_t loaded_bytes(const Recipe& recipe, Precision precision,
                                                 const SampleView& x) const = 0;
  /// outputs[s] = output s on the pairs of `rows` of x1 and `cols` of x2, in engine matrices. If `symmetric`, x1 and x2
  /// are the same, as are the ranges: half the pairs are computed, and diagonal() gives the pairs of a sample with
  /// itself. `after` is called on the calling thread periodically with the number of pairs done; it stops the work by
  /// throwing.
  virtual void fill(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols, bool symmetric,
                    std::span<const EngineMatrix> outputs, const std::function<void(Index pairs)>& after) const = 0;
  /// outputs[s](i, j) = output s of the recipe on the pair (rows.begin + i, cols.begin + j), treated as two different
  /// samples. Sequential: Engine::for_each runs tiles in parallel.
  virtual void tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
                    std::span<const MatrixView<float>> outputs) const = 0;
  virtual void tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
                    std::span<const MatrixView<double>> outputs) const = 0;
  /// As tile, with x on both sides: writes outputs[s] and its transpose to mirrored[s]. If rows = cols (a diagonal
  /// tile), both are the same memory and the result is exactly symmetric. The default copies the output of tile.
  virtual void mirrored_tile(const Recipe& recipe, const Loaded& x, Range rows, Range cols,
                             std::span<const MatrixView<float>> outputs,
                             std::span<const MatrixView<float>> mirrored) const;
  virtual void mirrored_tile(const Recipe& recipe, const Loaded& x, Range rows, Range cols,
                             std::span<const MatrixView<double>> outputs,
                             std::span<const MatrixView<double>> mirrored) const;
  /// outputs(s, i) = output s of sample i with itself: the diagonal of a symmetric Gram matrix, where dropout divides
  /// by its rate. `after` as in load. Results are cached in the samples: a second call costs a copy.
  virtual void diagonal(const Recipe& recipe, const Loaded& x, MatrixView<double> outputs,
                        const std::function<void(Index done)>& after) const = 0;

  /// Preferred edge length of square tiles for a recipe.
  [[nodiscard]] virtual Index tile_edge(const Recipe& recipe) const = 0;
};

}  // namespace widelimit
