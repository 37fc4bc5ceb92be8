#include "widelimit/data/formats/byte_stream.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/data/file/file.hpp"

#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
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

/// Stream that prepends a piece to another stream.
class Pushed final : public ByteStream {
 public:
  Pushed(Bytes first, std::unique_ptr<ByteStream> rest) : first_(first), rest_(std::move(rest)) {}
  Bytes next() override { return first_.empty() ? rest_->next() : std::exchange(first_, {}); }

 private:
  Bytes first_;  ///< valid until the rest is read
  std::unique_ptr<ByteStream> rest_;
};

[[noreturn]] void fail_damaged(const std::string& source, const char* kind, const char* reason) {
  fail(Code::input, "{}: its {} stream is damaged ({}); fetch or create it again", source, kind, reason);
}

/// zlib verifies the checksum and the length at the end of each gz member.
class GzipStream final : public ByteStream {
 public:
  GzipStream(std::unique_ptr<ByteStream> packed, std::string source)
      : packed_(std::move(packed)), source_(std::move(source)), piece_(piece_bytes) {
    constexpr int gzip_window = 15 + 16;
    if (inflateInit2(&state_, gzip_window) != Z_OK) throw std::bad_alloc();
  }
  ~GzipStream() override { inflateEnd(&state_); }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  Bytes next() override {
    state_.next_out = reinterpret_cast<Bytef*>(piece_.data());
    state_.avail_out = static_cast<uInt>(piece_.size());
    while (state_.avail_out == piece_.size()) {
      // After a full output buffer, zlib may hold more output of the current input.
      if (state_.avail_in == 0 && !std::exchange(filled_, false) && !refill()) {
        if (!member_ended_) fail_damaged(source_, "gz", "the stream ends too early");
        break;
      }
      if (std::exchange(member_ended_, false)) inflateReset(&state_);
      const int outcome = inflate(&state_, Z_NO_FLUSH);
      if (outcome == Z_MEM_ERROR) throw std::bad_alloc();
      if (outcome != Z_OK && outcome != Z_STREAM_END && outcome != Z_BUF_ERROR) {
        fail_damaged(source_, "gz", state_.msg != nullptr ? state_.msg : "no reason given");
      }
      member_ended_ = outcome == Z_STREAM_END;
    }
    filled_ = state_.avail_out == 0 && !member_ended_;
    return Bytes(piece_).first(piece_.size() - state_.avail_out);
  }

 private:
  bool refill() {
    const Bytes more = packed_->next();
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(more.data()));
    state_.avail_in = static_cast<uInt>(more.size());
    return !more.empty();
  }

  std::unique_ptr<ByteStream> packed_;
  std::string source_;
  z_stream state_{};
  bool member_ended_ = false;
  bool filled_ = false;
  Blob piece_;
};

/// liblzma verifies the checksums of header, blocks, index and footer.
class XzStream final : public ByteStream {
 public:
  XzStream(std::unique_ptr<ByteStream> packed, std::string source, const ReadLimits& limits)
      : packed_(std::move(packed)), source_(std::move(source)), limits_(limits), piece_(piece_bytes) {
    const auto limit = limits.memory ? limits.memory : available_memory();
    const std::uint64_t most = limit.value_or(std::numeric_limits<std::uint64_t>::max());
    constexpr std::uint32_t flags = LZMA_CONCATENATED | LZMA_TELL_UNSUPPORTED_CHECK;
    if (lzma_stream_decoder(&state_, most, flags) != LZMA_OK) throw std::bad_alloc();
  }
  ~XzStream() override { lzma_end(&state_); }
  XzStream(const XzStream&) = delete;
  XzStream& operator=(const XzStream&) = delete;

  Bytes next() override {
    state_.next_out = reinterpret_cast<std::uint8_t*>(piece_.data());
    state_.avail_out = piece_.size();
    while (!ended_ && state_.avail_out == piece_.size()) {
      if (state_.avail_in == 0 && !exhausted_) refill();
      check(lzma_code(&state_, exhausted_ ? LZMA_FINISH : LZMA_RUN));
    }
    return Bytes(piece_).first(piece_.size() - state_.avail_out);
  }

 private:
  void refill() {
    const Bytes more = packed_->next();
    state_.next_in = reinterpret_cast<const std::uint8_t*>(more.data());
    state_.avail_in = more.size();
    exhausted_ = more.empty();
  }
  void check(lzma_ret outcome) {
    switch (outcome) {
      case LZMA_OK:
        return;
      case LZMA_STREAM_END:
        ended_ = true;
        return;
      case LZMA_MEM_ERROR:
        throw std::bad_alloc();
      case LZMA_MEMLIMIT_ERROR:
        limits_.require(static_cast<double>(lzma_memusage(&state_)), source_);
        throw std::bad_alloc();
      case LZMA_BUF_ERROR:
        fail_damaged(source_, "xz", "the stream ends too early");
      case LZMA_UNSUPPORTED_CHECK:
      case LZMA_OPTIONS_ERROR:
        fail(Code::input, "{}: its xz stream has an unsupported check or filter; compress it with plain xz", source_);
      default:
        fail_damaged(source_, "xz", "its checksums do not match");
    }
  }

  std::unique_ptr<ByteStream> packed_;
  std::string source_;
  ReadLimits limits_;
  lzma_stream state_ = LZMA_STREAM_INIT;
  bool exhausted_ = false;
  bool ended_ = false;
  Blob piece_;
};

/// Returns the length recorded in the last four bytes of a gz stream, at most the maximum expansion of deflate.
std::uint64_t gzip_length(std::uint64_t packed, Bytes last) {
  constexpr std::uint64_t most = 1032;
  return std::min<std::uint64_t>(load_scalar<std::uint32_t>(last.data(), std::endian::little), most * packed);
}

bool is_gzip(Bytes start) { return as_text(start).starts_with("\x1f\x8b"); }

}  // namespace

std::unique_ptr<ByteStream> file_stream(const fs::path& path, const ReadLimits& limits) {
  return std::make_unique<FileStream>(path, limits);
}

std::unique_ptr<ByteStream> memory_stream(Bytes bytes) { return std::make_unique<MemoryStream>(bytes); }

std::unique_ptr<ByteStream> unpacked_stream(std::unique_ptr<ByteStream> packed, const std::string& source,
                                            const ReadLimits& limits) {
  const Bytes first = packed->next();
  auto whole = std::make_unique<Pushed>(first, std::move(packed));
  if (is_gzip(first)) return std::make_unique<GzipStream>(std::move(whole), source);
  constexpr std::string_view xz_magic(
      "\xfd"
      "7zXZ\0",
      6);
  if (as_text(first).starts_with(xz_magic)) return std::make_unique<XzStream>(std::move(whole), source, limits);
  return whole;
}

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
    if (is_gzip(ends) && expected > 4) {
      file.read_at(expected - 4, ends);
      expected = gzip_length(expected, ends);
    }
  }
  const auto stream = unpacked_stream(file_stream(path, limits), path.string(), limits);
  return read_all(*stream, expected, path.string(), limits);
}

Blob unpack(Bytes bytes, const std::string& source, const ReadLimits& limits) {
  const std::size_t packed = bytes.size();
  const std::uint64_t expected = is_gzip(bytes) && packed > 4 ? gzip_length(packed, bytes.last(4)) : packed;
  const auto stream = unpacked_stream(memory_stream(bytes), source, limits);
  return read_all(*stream, expected, source, limits);
}

}  // namespace widelimit
