#pragma once

#include "widelimit/data/dataset.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

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

/// Leaves out the classes that have no sample in `train`, and the samples of such classes in `test`, where there is
/// one: no machine learns a class that it never saw. `train` gets a note that names them.
void drop_absent_classes(Dataset& train, std::optional<Dataset>& test);

}  // namespace widelimit
