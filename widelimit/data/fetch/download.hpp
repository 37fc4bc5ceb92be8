#pragma once

#include "widelimit/data/fetch/fetch.hpp"
#include "widelimit/data/fetch/http.hpp"
#include "widelimit/data/fetch/sources.hpp"

#include <chrono>
#include <functional>

namespace widelimit {

/// Reports the progress of one call: received bytes and remaining bytes.
class FetchMeter {
 public:
  FetchMeter(Progress* progress, std::uint64_t missing) : progress_(progress), missing_(missing) {}

  void add_received(std::uint64_t bytes) { received_ += bytes, missing_ -= bytes; }
  void add_present(std::uint64_t bytes) { missing_ -= bytes; }
  void add_missing(std::uint64_t bytes) { missing_ += bytes; }
  /// Must be called often. Throws Error{interrupted} if the progress requests a stop.
  void wait();
  /// Reports the final state.
  void finish();

 private:
  Progress* progress_;
  std::uint64_t received_ = 0;
  std::uint64_t missing_;
  std::chrono::steady_clock::time_point next_{};
};

/// Called with the path of a complete, verified file.
using UseFile = std::function<void(const std::filesystem::path&)>;

/// Downloads one file to `target`, complete and with the expected checksum, or not at all. If `use` is given, calls it
/// with the file and removes the file afterwards.
void download(const SourceFile& file, const std::string& url, const std::filesystem::path& target,
              const FetchOptions& options, HttpClient& client, FetchMeter& meter, const UseFile& use = {});

/// As fetch_data, for an explicit list of files.
std::vector<FetchedFile> fetch_files(const std::vector<SourceFile>& files, const FetchOptions& options);

}  // namespace widelimit
