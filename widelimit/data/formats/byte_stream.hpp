#pragma once

#include "widelimit/data/formats/bytes.hpp"
#include "widelimit/data/formats/read_limits.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace widelimit {

/// Stream of bytes, read in pieces.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Returns the next piece, valid until the next call; empty at the end.
  virtual Bytes next() = 0;
};

/// Stream of a regular file, without decompression. Throws Error{input} if it cannot be opened or read.
[[nodiscard]] std::unique_ptr<ByteStream> file_stream(const std::filesystem::path& path, const ReadLimits& limits);
/// Stream of `bytes`, which must outlive it.
[[nodiscard]] std::unique_ptr<ByteStream> memory_stream(Bytes bytes);

/// Decompresses `packed` if it starts with a gz or xz signature (also concatenated streams), else passes it through.
/// All lengths and checksums are verified: damage, truncation and trailing bytes throw Error{input}, at the latest when
/// the last piece is read.
[[nodiscard]] std::unique_ptr<ByteStream> unpacked_stream(std::unique_ptr<ByteStream> packed, const std::string& source,
                                                          const ReadLimits& limits);

/// Reads the whole stream of about `expected` bytes. Throws Error{resource} if it exceeds `limits`.
[[nodiscard]] Blob read_all(ByteStream& stream, std::uint64_t expected, const std::string& source,
                            const ReadLimits& limits);

/// Read a file, or bytes, that may be compressed.
[[nodiscard]] Blob read_unpacked(const std::filesystem::path& path, const ReadLimits& limits = {});
[[nodiscard]] Blob unpack(Bytes bytes, const std::string& source, const ReadLimits& limits = {});

}  // namespace widelimit
