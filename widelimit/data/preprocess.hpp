#pragma once

#include "widelimit/data/dataset.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace widelimit {

/// Rows `rows` of `data`, in that order.
[[nodiscard]] Dataset take_rows(const Dataset& data, std::span<const Index> rows);

/// Only the samples of these classes; classes keep their order. A class is named as in `class_names`, or, where no
/// name is a number, by its index. Error{input} lists the names there are.
[[nodiscard]] Dataset select_classes(const Dataset& data, std::span<const std::string> classes);

/// The first `count` samples, all where there are fewer.
[[nodiscard]] Dataset limit_rows(Dataset data, Index count);

/// Fisher–Yates; a pure function of (seed, stream).
[[nodiscard]] std::vector<Index> permutation(Index count, std::uint64_t seed, std::uint64_t stream = 0);
[[nodiscard]] Dataset shuffle_rows(const Dataset& data, std::uint64_t seed, std::uint64_t stream = 0);

/// The first round(fraction·n) samples for training, the rest for testing. Error{usage} unless 0 < fraction < 1,
/// Error{input} where one part would be empty.
[[nodiscard]] std::pair<Dataset, Dataset> split_rows(const Dataset& data, double fraction);

}  // namespace widelimit
