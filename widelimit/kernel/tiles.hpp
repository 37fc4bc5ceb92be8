#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/engine/engine.hpp"

#include <vector>

/// Fills Gram matrices tile by tile. The cut into tiles depends on the sizes alone, never on the number of threads,
/// so neither does any bit of the result.
namespace widelimit {

/// outputs[s] is n1 × n2.
template <std::floating_point T>
void fill_rectangle(const Engine& engine, const Recipe& recipe, const Loaded& x1, const Loaded& x2,
                    const std::vector<MatrixView<T>>& outputs, Progress* progress);

/// outputs[s] is n × n. Tiles on and above the diagonal are computed and mirrored; the diagonal itself is that of
/// each sample with itself.
template <std::floating_point T>
void fill_symmetric(const Engine& engine, const Recipe& recipe, const Loaded& x,
                    const std::vector<MatrixView<T>>& outputs, Progress* progress);

}  // namespace widelimit
