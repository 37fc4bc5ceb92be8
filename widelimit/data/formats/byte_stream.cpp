#include "widelimit/data/formats/byte_stream.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/data/formats/scalar.hpp"

#include <algorithm>
#include <utility>

namespace widelimit {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 18;

class FileStream final : public ByteStream {
 public:
  FileStream(const fs::path& path, const ReadLimits& limits)
      : file_(path), ticker_(limits.progress, static_cast<std::int64_t>(file_.size()), "B"), buffer_(piece_bytes) {}

  Bytes next() override {
    const std::size_t got = file_.read(buffer_);
    done_ += static_cast<std::int64_t>(got);
    if (got > 0) ticker_.at(done_);
    return Bytes(buffer_).first(got);
  }

 private:
  InputFile file_;
  ProgressTicker ticker_;
  std::int64_t done_ = 0;
  Blob buffer_;
};

class MemoryStream final : public ByteStream {
 public:
  explicit MemoryStream(Bytes bytes) : rest_(bytes) {}

  Bytes next() override {
    const Bytes piece = rest_.first(std::min(rest_.size(), piece_bytes));
    rest_ = rest_.subspan(piece.size());
    return piece;
  }

 private:
  Bytes rest_;
};

/// Returns the length recorded in the last four bytes of a gz stream, at most the maximum expansion of deflate.
std::uint64_t gzip_length(std::uint64_t packed, Bytes last) {
  constexpr std::uint64_t most = 1032;
  return std::min<std::uint64_t>(load_scalar<std::uint32_t>(last.data(), std::endian::little), most * packed);
}

bool looks_gzip(Bytes start) { return as_text(start).starts_with("\x1f\x8b"); }

}  // namespace

std::unique_ptr<ByteStream> file_stream(const fs::path& path, const ReadLimits& limits) {
  return std::make_unique<FileStream>(path, limits);
}

std::unique_ptr<ByteStream> memory_stream(Bytes bytes) { return std::make_unique<MemoryStream>(bytes); }

Blob read_all(ByteStream& stream, std::uint64_t expected, const std::string& source, const ReadLimits& limits) {
  limits.require(static_cast<double>(expected), source);
  Blob all;
  all.reserve(expected);
  for (Bytes piece = stream.next(); !piece.empty(); piece = stream.next()) {
    if (all.capacity() - all.size() < piece.size()) {
      const std::size_t larger = all.size() + std::max(piece.size(), all.size() / 2);
      // The old and the new buffer coexist during the move.
      limits.require(static_cast<double>(all.capacity() + larger), source);
      all.reserve(larger);
    }
    all.insert(all.end(), piece.begin(), piece.end());
  }
  return all;
}

Blob read_unpacked(const fs::path& path, const ReadLimits& limits) {
  std::uint64_t expected = 0;
  {
    const InputFile file(path);
    expected = file.size();
    Blob ends(std::min<std::uint64_t>(expected, 4));
    file.read_at(0, ends);
    if (looks_gzip(ends) && expected > 4) {
      file.read_at(expected - 4, ends);
      expected = gzip_length(expected, ends);
    }
  }
  const auto stream = unpacked_stream(file_stream(path, limits), path.string(), limits);
  return read_all(*stream, expected, path.string(), limits);
}

Blob unpack(Bytes bytes, const std::string& source, const ReadLimits& limits) {
  const std::size_t packed = bytes.size();
  const std::uint64_t expected = looks_gzip(bytes) && packed > 4 ? gzip_length(packed, bytes.last(4)) : packed;
  const auto stream = unpacked_stream(memory_stream(bytes), source, limits);
  return read_all(*stream, expected, source, limits);
}

}  // namespace widelimit
