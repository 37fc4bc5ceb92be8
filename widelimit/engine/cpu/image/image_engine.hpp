#pragma once

#include "widelimit/engine/backend.hpp"

/// Networks on images, the general path: pair by pair, all position pairs where pooling or attention ask for them,
/// otherwise equal positions. In double; every layer.
namespace widelimit::cpu {

[[nodiscard]] std::unique_ptr<Loaded> load_images(const Recipe& recipe, const SampleView& x, Precision precision,
                                                  int threads, const std::function<void(Index done)>& after);

template <typename Out>
void image_tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
                std::span<const MatrixView<Out>> outputs);

}  // namespace widelimit::cpu
