#pragma once

#include "widelimit/engine/cuda/device_memory.hpp"
#include "widelimit/engine/kernels.hpp"

namespace widelimit::cuda {

/// Networks on vectors: correlations of a tile by one matrix product, then all steps on its pairs in one pass.

/// Why a recipe on vectors does not run on a device; empty where it does.
[[nodiscard]] std::string dense_obstacle(const Recipe& recipe);
[[nodiscard]] std::string dense_route(const Recipe& recipe, Precision precision);
/// Samples in device memory. The per-sample part is computed on `threads` threads of the host.
[[nodiscard]] std::unique_ptr<Loaded> load_dense(const std::shared_ptr<Device>& device, const Recipe& recipe,
                                                 const SampleView& x, Precision precision, int threads);
[[nodiscard]] std::size_t dense_loaded_bytes(const Recipe& recipe, const SampleView& x);

/// outputs[s] on the pairs of rows × cols; Kernels::fill says more.
void fill_dense(const std::shared_ptr<Device>& device, const Recipe& recipe, const Loaded& x1, Range rows,
                const Loaded& x2, Range cols, bool symmetric, std::span<const Array> outputs,
                const std::function<void(Index pairs)>& after);
void dense_diagonal(const Loaded& x, MatrixView<double> outputs);

/// Edge of the tiles: products of this size keep all multiprocessors busy, and squares on the diagonal, of which half
/// is computed twice, are few.
constexpr Index dense_tile_edge = 2048;

}  // namespace widelimit::cuda
