#pragma once

#include "widelimit/engine/backend.hpp"

/// Networks on vectors: correlations of a tile of inputs by one matrix product, then all steps on strips of pairs while
/// they are in the first-level cache. T is the type of the strips.
namespace widelimit::cpu {

template <typename T>
[[nodiscard]] std::unique_ptr<Loaded> load_vectors(const Recipe& recipe, const SampleView& x, Precision precision,
                                                   int threads);

template <typename T, typename Out>
void vector_tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
                 std::span<const MatrixView<Out>> outputs);

/// The same, and its transpose: made in bands of rows that stay in the second-level cache, then streamed to both
/// places.
template <typename T, typename Out>
void mirrored_vector_tile(const Recipe& recipe, const Loaded& x, Range rows, Range cols,
                          std::span<const MatrixView<Out>> outputs, std::span<const MatrixView<Out>> mirrored);

}  // namespace widelimit::cpu
