#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/data/formats/byte_stream.hpp"

#include <lzma.h>
#include <zlib.h>

#include <array>
#include <limits>
#include <utility>

namespace widelimit {

namespace {

constexpr std::size_t unpacked_piece = std::size_t{1} << 18;

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
      : packed_(std::move(packed)), source_(std::move(source)), piece_(unpacked_piece) {
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
      : packed_(std::move(packed)), source_(std::move(source)), limits_(limits), piece_(unpacked_piece) {
    const auto room = limits.memory ? limits.memory : available_memory();
    const std::uint64_t most = room.value_or(std::numeric_limits<std::uint64_t>::max());
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

}  // namespace

std::unique_ptr<ByteStream> unpacked_stream(std::unique_ptr<ByteStream> packed, const std::string& source,
                                            const ReadLimits& limits) {
  const Bytes first = packed->next();
  const auto starts_with = [&](std::string_view magic) { return as_text(first).starts_with(magic); };
  auto whole = std::make_unique<Pushed>(first, std::move(packed));
  if (starts_with("\x1f\x8b")) return std::make_unique<GzipStream>(std::move(whole), source);
  constexpr std::string_view xz_magic(
      "\xfd"
      "7zXZ\0",
      6);
  if (starts_with(xz_magic)) return std::make_unique<XzStream>(std::move(whole), source, limits);
  return whole;
}

}  // namespace widelimit
