#pragma once

#include "widelimit/engine/kernels.hpp"

/// Internals of the cpu engine: four evaluation paths for recipes behind one interface.
namespace widelimit::cpu {

/// Samples in the form of a path, with the methods that fill tiles of pairs (specified by Kernels).
struct CpuLoaded : Loaded {
  Matrix<double> diagonal_values;  ///< outputs × n, each sample with itself
  double error = 0.0;              ///< quadrature error

  [[nodiscard]] Index count() const override { return diagonal_values.cols(); }
  [[nodiscard]] double quadrature_error() const override { return error; }

  virtual void tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
                    std::span<const MatrixView<float>> outputs) const = 0;
  virtual void tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
                    std::span<const MatrixView<double>> outputs) const = 0;
  /// Returns false if the path has no specialisation; the caller then uses tile and a transposition.
  virtual bool mirrored_tile(const Recipe& recipe, Range rows, Range cols, std::span<const MatrixView<float>> outputs,
                             std::span<const MatrixView<float>> mirrored) const;
  virtual bool mirrored_tile(const Recipe& recipe, Range rows, Range cols, std::span<const MatrixView<double>> outputs,
                             std::span<const MatrixView<double>> mirrored) const;
  virtual void diagonal(const Recipe& recipe, int threads, MatrixView<double> outputs,
                        const std::function<void(Index done)>& after) const;
};

/// Upper bound of the allocator overhead per array: size rounding and bookkeeping.
inline constexpr std::size_t allocation_overhead = 2 * 64;

/// An evaluation path for one recipe in one precision.
class Path {
 public:
  virtual ~Path() = default;
  [[nodiscard]] virtual std::string route() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Loaded> load(const SampleView& x, int threads,
                                                     const std::function<void(Index done)>& after) const = 0;
  /// Returns the memory of load per sample: the result and temporaries.
  [[nodiscard]] virtual std::size_t loaded_bytes(const SampleView& x) const = 0;
  [[nodiscard]] virtual Index tile_edge() const = 0;
};

/// Path for networks on vectors: computes correlations of a tile of inputs by one matrix product, then applies all
/// steps to strips of pairs in the first-level cache.
[[nodiscard]] std::unique_ptr<Path> vector_path(const Recipe& recipe, Precision precision);
/// Path for networks on images by displacement planes, 16 pairs of images at a time. Returns null with the reason in
/// `obstacle` if planes do not apply.
[[nodiscard]] std::unique_ptr<Path> plane_path(const Recipe& recipe, Precision precision, std::string& obstacle);
/// General path for networks on images: one pair at a time; all position pairs if pooling or attention need them,
/// otherwise equal positions. In double; supports every layer. `obstacle` is the reason why planes do not apply.
[[nodiscard]] std::unique_ptr<Path> image_path(const Recipe& recipe, Precision precision, std::string obstacle);
/// Path for networks on graphs: all pairs of nodes of two groups of graphs at a time, with nodes of equal colour
/// merged.
[[nodiscard]] std::unique_ptr<Path> graph_path(const Recipe& recipe, Precision precision);

}  // namespace widelimit::cpu
