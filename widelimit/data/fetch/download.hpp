#pragma once

#include "widelimit/data/fetch/fetch.hpp"
#include "widelimit/data/fetch/http.hpp"
#include "widelimit/data/fetch/sources.hpp"

#include <chrono>
#include <functional>

namespace widelimit {

/// Reports the bytes of one call: what has come, of that and what is missing.
class FetchMeter {
 public:
  FetchMeter(Progress* progress, std::uint64_t missing) : progress_(progress), missing_(missing) {}

  void came(std::uint64_t bytes) { received_ += bytes, missing_ -= bytes; }
  void was_there(std::uint64_t bytes) { missing_ -= bytes; }
  void was_lost(std::uint64_t bytes) { missing_ += bytes; }
  /// To be called often; Error{interrupted} where the progress asks to stop.
  void wait();
  /// Reports once more.
  void finish();

 private:
  Progress* progress_;
  std::uint64_t received_ = 0;
  std::uint64_t missing_;
  std::chrono::steady_clock::time_point next_{};
};

/// What is done with a file that is complete and right, at the path where it lies.
using UseFile = std::function<void(const std::filesystem::path&)>;

/// Brings one file to `target`, complete and with the right sum, or not at all. With `use` it is used instead, and
/// removed after that.
void download(const SourceFile& file, const std::string& url, const std::filesystem::path& target,
              const FetchOptions& options, HttpClient& client, FetchMeter& meter, const UseFile& use = {});

/// fetch_data for files that are named one by one.
std::vector<FetchedFile> fetch_files(const std::vector<SourceFile>& files, const FetchOptions& options);

}  // namespace widelimit
