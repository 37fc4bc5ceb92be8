#pragma once

#include "widelimit/data/formats/bytes.hpp"
#include "widelimit/data/formats/read_limits.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace widelimit {

/// Bytes that come in pieces.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// The next piece, which is good until the next call; empty at the end.
  virtual Bytes next() = 0;
};

/// A regular file as it lies. Error{input} where it cannot be opened or read.
[[nodiscard]] std::unique_ptr<ByteStream> file_stream(const std::filesystem::path& path, const ReadLimits& limits);
/// Bytes that outlive the stream.
[[nodiscard]] std::unique_ptr<ByteStream> memory_stream(Bytes bytes);

/// What `packed` holds: the contents of a gz or xz stream, known by its first bytes, of several of them after each
/// other, or itself. All lengths and checksums are compared; damage, an end that comes too early and bytes after the
/// end are Error{input}, at the latest where the last piece would come.
[[nodiscard]] std::unique_ptr<ByteStream> unpacked_stream(std::unique_ptr<ByteStream> packed, const std::string& source,
                                                          const ReadLimits& limits);

/// The whole of a stream that is about `expected` long. Error{resource} where it is longer than `limits` allow.
[[nodiscard]] Blob read_all(ByteStream& stream, std::uint64_t expected, const std::string& source,
                            const ReadLimits& limits);

/// The contents of a file, or of bytes, that may be packed.
[[nodiscard]] Blob read_unpacked(const std::filesystem::path& path, const ReadLimits& limits = {});
[[nodiscard]] Blob unpack(Bytes bytes, const std::string& source, const ReadLimits& limits = {});

}  // namespace widelimit
