#pragma once

#include "widelimit/base/progress.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace widelimit {

struct FetchOptions {
  /// Base address of a mirror with the layout of a data folder (mnist/train-images-idx3-ubyte.gz, …); empty: the public
  /// addresses of the sets.
  std::string mirror;
  std::filesystem::path folder;  ///< data folder to fill; empty: the cache
  bool replace = false;          ///< download files again that are already present
  double stall = 30;             ///< seconds without data after which a transfer is aborted
  int retries = 4;               ///< maximum number of retries after a transient failure
  double pause = 1;              ///< seconds before the first retry, doubled before each further one
  Progress* progress = nullptr;  ///< receives bytes and can stop the download; may be null

  /// Throws Error{usage} if a value is out of range.
  void validate() const;
};

struct FetchedFile {
  std::string set;  ///< "mnist", "uci:iris"
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  bool fetched = false;  ///< false: it was already present
};

/// Downloads data sets into a data folder, where load_data finds them: mnist, cifar10, uci (all tables), uci:NAME. A
/// file is renamed to its final name only after its SHA-256 was verified. If a transfer fails or is stopped, the
/// received bytes stay in FILE.part and the next call resumes. Valid files that are already present are kept.
///
/// Throws Error{usage} for names that cannot be fetched; Error{input} if a server cannot be reached or serves other
/// content; Error{resource} if the disk is full; Error{interrupted} if progress requests a stop.
std::vector<FetchedFile> fetch_data(const std::vector<std::string>& names, const FetchOptions& options = {});

/// Returns the fetch_data name of the set of a SPEC ("mnist:train", "uci:NAME"); empty if it cannot be fetched.
[[nodiscard]] std::string fetch_name(const std::string& spec);

}  // namespace widelimit
