#pragma once

#include "widelimit/data/file/file.hpp"
#include "widelimit/data/formats/read_limits.hpp"

namespace widelimit {

/// CIFAR-10 as binary records (see parse_cifar), 50,000 and 10,000 of them.
struct CifarRecords {
  Blob train;
  Blob test;
};

/// Decodes an archive of `train/<class>/NNNN.jpg` and `test/<class>/NNNN.jpg`. Record k of a split is image ⌊k/10⌋
/// of class k mod 10, so that every prefix is balanced. JPEG is lossy: the pixels are near, not equal to, the
/// original's. Some seconds.
[[nodiscard]] CifarRecords decode_cifar_archive(const std::filesystem::path& archive, const ReadLimits& limits = {});

}  // namespace widelimit
