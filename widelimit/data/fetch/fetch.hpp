#pragma once

#include "widelimit/base/progress.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace widelimit {

struct FetchOptions {
  /// Address of a mirror, which has the files where a data folder has them (mnist/train-images-idx3-ubyte.gz, …);
  /// empty: the sets' public addresses.
  std::string mirror;
  std::filesystem::path folder;  ///< the data folder to fill; empty: the cache
  bool replace = false;          ///< fetch what is there again
  double stall = 30;             ///< seconds without data after which a transfer is given up
  int retries = 4;               ///< attempts after the first, where the next may succeed
  double pause = 1;              ///< seconds before the first of them; twice as many before each further one
  Progress* progress = nullptr;  ///< receives bytes and may stop the work; may be null

  /// Error{usage} where a value makes no sense.
  void validate() const;
};

struct FetchedFile {
  std::string set;  ///< "mnist", "uci:iris"
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  bool fetched = false;  ///< false: it was there
};

/// Downloads data sets into a data folder, where load_data finds them: mnist, cifar10, uci (all tables), uci:NAME.
/// Every file is compared with its SHA-256 before it gets its name. What has come stays in FILE.part where a transfer
/// breaks or is stopped, and the next call goes on from there. Files that are there and right are left alone.
///
/// Error{usage} for names that cannot be fetched; Error{input} where a server cannot be reached or does not serve what
/// it should; Error{resource} where the disk is full; Error{interrupted} where progress asks to stop.
std::vector<FetchedFile> fetch_data(const std::vector<std::string>& names, const FetchOptions& options = {});

/// What to give fetch_data for the set of a SPEC ("mnist:train", "uci:NAME"); empty where it cannot be fetched.
[[nodiscard]] std::string fetch_name(const std::string& spec);

}  // namespace widelimit
