#pragma once

#include "widelimit/data/dataset.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace widelimit {

/// Returns the rows `rows` of `data`, in that order.
[[nodiscard]] Dataset take_rows(const Dataset& data, std::span<const Index> rows);

/// Returns the samples of these classes, whose order is kept. A class is given by its name or, if no class name is
/// numeric, by its index. Throws Error{input} with the class names if one is unknown.
[[nodiscard]] Dataset select_classes(const Dataset& data, std::span<const std::string> classes);

/// Returns the first `count` samples, or all if there are fewer.
[[nodiscard]] Dataset limit_rows(Dataset data, Index count);

/// Fisher–Yates shuffle; a pure function of (seed, stream).
[[nodiscard]] std::vector<Index> permutation(Index count, std::uint64_t seed, std::uint64_t stream = 0);
[[nodiscard]] Dataset shuffle_rows(const Dataset& data, std::uint64_t seed, std::uint64_t stream = 0);

/// Removes the classes without samples in `train`, also from `test`, since they cannot be learned. Adds a note with
/// their names to `train`.
void drop_absent_classes(Dataset& train, std::optional<Dataset>& test);

}  // namespace widelimit
