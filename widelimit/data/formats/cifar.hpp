#pragma once

#include "widelimit/data/dataset.hpp"
#include "widelimit/data/file/file.hpp"

#include <array>
#include <string_view>

namespace widelimit {

inline constexpr Index cifar_side = 32;
inline constexpr Index cifar_record = 1 + 3 * cifar_side * cifar_side;
inline constexpr std::array<std::string_view, 10> cifar_classes{"airplane", "automobile", "bird",  "cat",  "deer",
                                                                "dog",      "frog",       "horse", "ship", "truck"};

/// CIFAR-10's binary records (one label byte, then the red, green and blue planes) as N·H·W·C floats 0..255.
/// Records simply follow each other, so several batches may be joined before parsing.
[[nodiscard]] Dataset parse_cifar(Bytes bytes, const std::string& source, const ReadLimits& limits = {});

}  // namespace widelimit
