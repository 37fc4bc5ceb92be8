#pragma once

#include "widelimit/engine/engine.hpp"

#include <optional>
#include <string>

/// The benchmarks of bench_cuda. Each compares its results with the CPU before it prints a time.
namespace widelimit::bench {

/// Kernels of convolutional networks on an engine; `only` one of them, or all if it is empty. Returns false if results
/// differ from those of the CPU.
[[nodiscard]] bool planes(const Engine& engine, const std::string& only, int repeats);

/// The graph NTK of `count` graphs on an engine, compared with the CPU. Returns false if results differ.
[[nodiscard]] bool graphs(const Engine& engine, Index count, int repeats);

struct CertificateSizes {
  Index train = 12'665;
  Index tests = 2'115;
  Index convex_tests = 64;  ///< points of the methods that take the CPU seconds per point
  int repeats = 3;
  std::optional<Index> width = {};  ///< if set, only trained networks of this width are certified
};

/// Certified radii of ridge on MNIST 0 and 1 (synthetic samples of that shape if it is absent) on an engine, compared
/// with the CPU of the same machine, for some networks or for `only` one, and those of trained networks of finite
/// width. Returns false if radii differ by more than one step of their grid.
[[nodiscard]] bool certificates(const Engine& engine, const std::string& only, const CertificateSizes& sizes);

/// One product of a kernel matrix that is never stored with ten columns, compared with the cpu engine on two cores.
[[nodiscard]] bool unstored_product(const Engine& engine, Index rows, Index cols, int repeats);

/// Support vector machines of ten classes, one against one, from samples to coefficients, compared with the cpu engine
/// on all cores: the path of bench/svm.cpp on 5,000 digits, then one value of C on `rows`.
[[nodiscard]] bool support_vectors(const Engine& engine, Index rows);

struct FiniteSizes {
  Index rows = 0;
  Index cols = 784;
  Index width = 0;
  int repeats = 5;
};

/// A training step of two hidden layers in float32, compared with its cuBLAS products alone. Returns false if losses
/// differ from those of the CPU.
[[nodiscard]] bool training_steps(const Engine& engine, const FiniteSizes& sizes);

/// The empirical NTK of three hidden layers, compared with Jacobians of torch.func on the same device: `python` runs
/// the script in the folder `peers`; if empty, only the CPU is compared. Returns false if results differ.
[[nodiscard]] bool empirical_kernels(const Engine& engine, const FiniteSizes& sizes, const std::string& python,
                                     const std::string& peers);

/// Computes the NTK of `inputs` on a device into host memory: filled as a whole and then copied, and tile by tile, as
/// if it did not fit into device memory. Both must have the same bits.
[[nodiscard]] bool host_gram(const Matrix<double>& inputs, int repeats, const Engine& engine);

}  // namespace widelimit::bench
