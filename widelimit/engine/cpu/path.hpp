#pragma once

#include "widelimit/engine/kernels.hpp"

/// Inside the cpu engine: four ways to evaluate recipes, behind one interface.
namespace widelimit::cpu {

/// Samples as a path holds them. They know how to fill the tiles of their pairs (Kernels says what each call does).
struct CpuLoaded : Loaded {
  Matrix<double> diagonal_values;  ///< outputs × n, of each sample with itself
  double error = 0.0;              ///< of quadrature

  [[nodiscard]] Index count() const override { return diagonal_values.cols(); }
  [[nodiscard]] double quadrature_error() const override { return error; }

  virtual void tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
                    std::span<const MatrixView<float>> outputs) const = 0;
  virtual void tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
                    std::span<const MatrixView<double>> outputs) const = 0;
  /// False where the path has no way of its own: tile and a transposition do.
  virtual bool mirrored_tile(const Recipe& recipe, Range rows, Range cols, std::span<const MatrixView<float>> outputs,
                             std::span<const MatrixView<float>> mirrored) const;
  virtual bool mirrored_tile(const Recipe& recipe, Range rows, Range cols, std::span<const MatrixView<double>> outputs,
                             std::span<const MatrixView<double>> mirrored) const;
  virtual void diagonal(const Recipe& recipe, int threads, MatrixView<double> outputs,
                        const std::function<void(Index done)>& after) const;
};

/// The allocator rounds sizes, and keeps words of its own beside every array.
inline constexpr std::size_t allocation_overhead = 2 * 64;

/// One way to evaluate one recipe in one precision.
class Path {
 public:
  virtual ~Path() = default;
  [[nodiscard]] virtual std::string route() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Loaded> load(const SampleView& x, int threads,
                                                     const std::function<void(Index done)>& after) const = 0;
  /// What load takes for one sample: what is kept, and what is alive beside it while it is made.
  [[nodiscard]] virtual std::size_t loaded_bytes(const SampleView& x) const = 0;
  [[nodiscard]] virtual Index tile_edge() const = 0;
};

/// Networks on vectors: correlations of a tile of inputs by one matrix product, then all steps on strips of pairs while
/// they are in the first-level cache.
[[nodiscard]] std::unique_ptr<Path> vector_path(const Recipe& recipe, Precision precision);
/// Networks on images by displacement planes, 16 pairs of images at a time. Where planes cannot do it, nothing, and
/// `obstacle` says why.
[[nodiscard]] std::unique_ptr<Path> plane_path(const Recipe& recipe, Precision precision, std::string& obstacle);
/// Networks on images, the general path: pair by pair, all position pairs where pooling or attention ask for them,
/// otherwise equal positions. In double; every layer. `obstacle` is what keeps planes from it.
[[nodiscard]] std::unique_ptr<Path> image_path(const Recipe& recipe, Precision precision, std::string obstacle);
/// Networks on graphs: all pairs of nodes of some graphs with some others at a time, nodes of equal colour as one.
[[nodiscard]] std::unique_ptr<Path> graph_path(const Recipe& recipe, Precision precision);

}  // namespace widelimit::cpu
