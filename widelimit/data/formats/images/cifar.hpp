#pragma once

#include "widelimit/data/dataset.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/data/formats/read_limits.hpp"

#include <array>
#include <string_view>

namespace widelimit {

inline constexpr Index cifar_side = 32;
inline constexpr Index cifar_record = 1 + 3 * cifar_side * cifar_side;
inline constexpr std::array<std::string_view, 10> cifar_classes{"airplane", "automobile", "bird",  "cat",  "deer",
                                                                "dog",      "frog",       "horse", "ship", "truck"};

/// Parses CIFAR-10's binary records (one label byte, then the red, green and blue planes) as N·H·W·C floats 0..255.
/// Several batches may be concatenated before parsing.
[[nodiscard]] Dataset parse_cifar(Bytes bytes, const std::string& source, const ReadLimits& limits = {});

/// CIFAR-10 as binary records (see parse_cifar): 50,000 for training and 10,000 for testing.
struct CifarRecords {
  Blob train;
  Blob test;
};

/// Decodes an archive of `train/<class>/NNNN.jpg` and `test/<class>/NNNN.jpg`. Record k of a split is image ⌊k/10⌋ of
/// class k mod 10, so that every prefix is balanced. JPEG is lossy: the pixels are close, but not equal, to the
/// original's. Takes some seconds.
[[nodiscard]] CifarRecords decode_cifar_archive(const std::filesystem::path& archive, const ReadLimits& limits = {});

}  // namespace widelimit
