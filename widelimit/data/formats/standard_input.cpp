#include "widelimit/data/formats/standard_input.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/data/formats/byte_stream.hpp"
#include "widelimit/data/formats/csv.hpp"
#include "widelimit/data/formats/libsvm.hpp"
#include "widelimit/data/formats/npy.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace widelimit {

namespace {

/// Returns full pieces, so that the first one contains the whole signature of a compressed stream.
class StandardInput final : public ByteStream {
 public:
  explicit StandardInput(Progress* progress) : progress_(progress), buffer_(piece_bytes) {}

  Bytes next() override {
    std::size_t done = 0;
    while (done < buffer_.size()) {
      wait();
      const ssize_t got = ::read(STDIN_FILENO, buffer_.data() + done, buffer_.size() - done);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got < 0) fail(Code::input, "cannot read standard input: {}", std::strerror(errno));
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return Bytes(buffer_).first(done);
  }

 private:
  static constexpr std::size_t piece_bytes = std::size_t{1} << 18;

  /// Waits for data or the end of input. Throws Error{interrupted} if the progress requests a stop.
  void wait() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    int ready = 0;
    while (ready <= 0) {
      const auto now = std::chrono::steady_clock::now();
      if (now >= next_) {
        stop_if_requested(progress_);
        next_ = now + progress_interval;
      }
      ready = ::poll(&input, 1, static_cast<int>(progress_interval.count()));
      if (ready < 0 && errno != EINTR && errno != EAGAIN) {
        fail(Code::input, "cannot wait for standard input: {}", std::strerror(errno));
      }
    }
  }

  Progress* progress_;
  std::chrono::steady_clock::time_point next_{};
  Blob buffer_;
};

Dataset parse_table(Bytes bytes, const ReadOptions& options) { return parse_csv(as_text(bytes), options); }
Dataset parse_sparse(Bytes bytes, const ReadOptions& options) { return parse_libsvm(as_text(bytes), options); }

struct InputFormat {
  std::string_view spec;
  Dataset (*parse)(Bytes, const ReadOptions&);
};

constexpr std::array<InputFormat, 5> input_formats{{
    {"-", parse_table},
    {"csv:-", parse_table},
    {"tsv:-", parse_table},
    {"libsvm:-", parse_sparse},
    {"npy:-", parse_npy_samples},
}};

const InputFormat* find_input(std::string_view spec) {
  const auto* const found =
      std::find_if(input_formats.begin(), input_formats.end(), [&](const InputFormat& f) { return f.spec == spec; });
  return found == input_formats.end() ? nullptr : found;
}

}  // namespace

bool names_standard_input(std::string_view spec) { return find_input(spec) != nullptr; }

Dataset read_standard_input(std::string_view spec, const ReadOptions& options) {
  const InputFormat* const format = find_input(spec);
  if (format == nullptr) fail(Code::usage, "'{}' does not name standard input; give '-'", spec);
  const auto stream =
      unpacked_stream(std::make_unique<StandardInput>(options.limits.progress), options.source, options.limits);
  const Blob bytes = read_all(*stream, 0, options.source, options.limits);
  if (bytes.empty()) {
    fail(Code::input, "{} is empty; pipe samples into it, or give a file", options.source);
  }
  return format->parse(bytes, options);
}

}  // namespace widelimit
