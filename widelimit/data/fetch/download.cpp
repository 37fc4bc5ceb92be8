#include "widelimit/data/fetch/download.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/data/fetch/part_file.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

namespace widelimit {

namespace fs = std::filesystem;

namespace {

constexpr double longest_pause = 60;

/// Thrown if a partial response starts at another offset than requested.
struct WrongRange {};

class Download final : public HttpBody {
 public:
  Download(const SourceFile& file, const std::string& url, const fs::path& target, const FetchOptions& options,
           HttpClient& client, FetchMeter& meter)
      : file_(file), url_(url), options_(options), client_(client), meter_(meter), part_(target) {
    meter_.add_present(std::min(part_.size(), file_.bytes));
    joined_ = part_.size() > 0;
  }

  void run(const UseFile& use) {
    try {
      check_space();
      while (!verified()) {
      }
      if (use) {
        use(part_.path());
        part_.discard();
      } else {
        part_.commit();
      }
    } catch (...) {
      if (part_.size() == 0) part_.discard();
      throw;
    }
  }

  void begin(const HttpResponse& response) override {
    if (response.status == 206) {
      const bool right =
          offset_ > 0 && response.first == offset_ && response.total.value_or(file_.bytes) == file_.bytes;
      if (!right) throw WrongRange();
      joined_ = true;
      return;
    }
    if (response.status != 200) {
      fail(Code::input, "cannot fetch {}: the server answers with status {} and not with the file; check the address",
           url_, response.status);
    }
    if (response.length && *response.length != file_.bytes) {
      fail(Code::input, {Remedy::mirror},
           "cannot fetch {}: the server offers {} bytes instead of {}; the file there has changed, or a proxy replaces "
           "it: fetch it from a mirror",
           url_, *response.length, file_.bytes);
    }
    start_again(response.validator);
    joined_ = false;
  }

  void take(Bytes piece) override {
    if (piece.size() > file_.bytes - part_.size()) {
      part_.discard();
      fail(Code::input, {Remedy::mirror},
           "cannot fetch {}: the server sends more than the {} bytes of the file; fetch it from a mirror", url_,
           file_.bytes);
    }
    part_.append(piece);
    meter_.add_received(piece.size());
    received_data_ = true;
  }

  void wait() override { meter_.wait(); }

 private:
  /// Discards the received bytes.
  void start_again(const std::string& validator) {
    meter_.add_missing(std::min(part_.size(), file_.bytes));
    part_.restart(url_, validator);
  }

  void check_space() const {
    std::error_code unknown;
    const fs::space_info space = fs::space(part_.path().parent_path(), unknown);
    const std::uint64_t needed = file_.bytes - std::min(part_.size(), file_.bytes);
    if (unknown || space.available >= needed) return;
    fail(Code::resource, "'{}' needs {} and its disk has {} left; free some space or choose another folder",
         part_.path().string(), bytes_text(static_cast<double>(needed)),
         bytes_text(static_cast<double>(space.available)));
  }

  bool verified() {
    if (part_.size() > file_.bytes) start_again("");
    while (part_.size() != file_.bytes) attempt();
    const std::string sum = part_.sha256([this] { meter_.wait(); });
    if (sum == file_.sha256) return true;
    // Mismatched parts, or data lost on disk: downloads the whole file once more.
    if (joined_ && failures_ < options_.retries) {
      ++failures_;
      start_again("");
      return false;
    }
    part_.discard();
    fail(Code::input, {Remedy::mirror},
         "cannot fetch {}: the downloaded file has the wrong checksum and was removed\n  SHA-256:  {}\n  expected: "
         "{}\nThe file there has changed, or was changed in transit: fetch it from a mirror",
         url_, sum, file_.sha256);
  }

  void attempt() {
    const HttpOutcome outcome = request();
    if (part_.size() == file_.bytes) return;
    const bool no_range = outcome.status == 416;
    if (no_range) start_again("");
    const bool passing = outcome.end == HttpEnd::broken || outcome.end == HttpEnd::stalled ||
                         outcome.end == HttpEnd::busy || (outcome.end == HttpEnd::unreachable && received_data_) ||
                         no_range;
    if (!passing || failures_ == options_.retries) fail_transfer(outcome);
    pause();
    ++failures_;
  }

  HttpOutcome request() {
    const std::string validator = part_.validator(url_);
    offset_ = validator.empty() ? 0 : part_.size();
    try {
      const HttpOutcome outcome = client_.get({url_, offset_, validator, options_.stall}, *this);
      if (outcome.end != HttpEnd::complete) return outcome;
      if (outcome.status != 200 && outcome.status != 206)
        return {
            HttpEnd::refused, outcome.status,
            fmt::format("the server answers with status {} and not with the file; check the address", outcome.status)};
      return {HttpEnd::broken, outcome.status, "the answer ended too early"};
    } catch (const WrongRange&) {
      start_again("");
      return {HttpEnd::broken, 206, "the server sent another part of the file than was requested"};
    }
  }

  [[noreturn]] void fail_transfer(const HttpOutcome& outcome) const {
    std::string message = fmt::format("cannot fetch {}: {}", url_, outcome.reason);
    if (failures_ > 0) message += fmt::format(" (attempt {})", failures_ + 1);
    if (part_.size() > 0) {
      message += fmt::format("; {} of {} bytes are kept: fetch again to resume", part_.size(), file_.bytes);
    }
    throw Error(Code::input, message, outcome.elsewhere ? std::vector{Remedy::mirror} : std::vector<Remedy>{});
  }

  void pause() {
    using Clock = std::chrono::steady_clock;
    const double seconds = std::min(options_.pause * std::exp2(failures_), longest_pause);
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    while (Clock::now() < end) {
      meter_.wait();
      std::this_thread::sleep_for(std::min<Clock::duration>(std::chrono::milliseconds(50), end - Clock::now()));
    }
  }

  const SourceFile& file_;
  const std::string& url_;
  const FetchOptions& options_;
  HttpClient& client_;
  FetchMeter& meter_;
  PartFile part_;
  std::uint64_t offset_ = 0;    ///< offset requested by the current request
  bool joined_ = false;         ///< the file was assembled from more than one response
  bool received_data_ = false;  ///< this call has received data
  int failures_ = 0;
};

}  // namespace

void FetchMeter::wait() {
  const auto now = std::chrono::steady_clock::now();
  if (progress_ == nullptr || now < next_) return;
  next_ = now + progress_interval;
  if (progress_->update(static_cast<std::int64_t>(received_), static_cast<std::int64_t>(received_ + missing_), "B")) {
    return;
  }
  fail(Code::interrupted, "stopped with {} remaining; the received data is kept, and the next fetch resumes from there",
       bytes_text(static_cast<double>(missing_)));
}

void FetchMeter::finish() {
  next_ = {};
  wait();
}

void download(const SourceFile& file, const std::string& url, const fs::path& target, const FetchOptions& options,
              HttpClient& client, FetchMeter& meter, const UseFile& use) {
  Download(file, url, target, options, client, meter).run(use);
}

}  // namespace widelimit
