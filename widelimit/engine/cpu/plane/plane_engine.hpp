#pragma once

#include "widelimit/engine/backend.hpp"

#include <string>

/// Networks on images by displacement planes, 16 pairs of images at a time. T is the type of the planes.
namespace widelimit::cpu {

/// Why a recipe must take the general image path instead; empty where planes do.
[[nodiscard]] std::string plane_obstacle(const Recipe& recipe);
/// How many planes a pair of images has, each counted once however many steps it goes through.
[[nodiscard]] Index plane_count(const Recipe& recipe);

template <typename T>
[[nodiscard]] std::unique_ptr<Loaded> load_planes(const Recipe& recipe, const SampleView& x, Precision precision,
                                                  int threads, const std::function<void(Index done)>& after);
/// Whether samples were loaded for planes of T.
template <typename T>
[[nodiscard]] bool holds_planes(const Loaded& x);

template <typename T, typename Out>
void plane_tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
                std::span<const MatrixView<Out>> outputs);
template <typename T>
void plane_diagonal(const Recipe& recipe, const Loaded& x, int threads, MatrixView<double> outputs);

}  // namespace widelimit::cpu
