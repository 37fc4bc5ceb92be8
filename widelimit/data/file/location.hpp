#pragma once

#include "widelimit/base/error.hpp"
#include "widelimit/data/file/file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace widelimit {

/// Where data sets are looked for, in this order: $WIDELIMIT_DATA, the cache. Both have the same layout, one folder a
/// set: mnist/, cifar10/, uci/, graphs/.
[[nodiscard]] std::vector<std::filesystem::path> data_folders();

/// $XDG_CACHE_HOME/widelimit, else ~/.cache/widelimit; empty where neither is known. A relative $XDG_CACHE_HOME is
/// ignored, as the XDG specification asks.
[[nodiscard]] std::filesystem::path cache_folder();

/// The first of the data folders that has one of `names` (relative paths), and that file.
[[nodiscard]] std::optional<std::filesystem::path> find_data_file(const std::vector<std::string>& names);

/// Keeps `bytes` in the cache for the next time. A cache that cannot be written is no error: it costs time only.
void store_in_cache(const std::filesystem::path& relative, Bytes bytes);

/// Error{input} for a data set that no data folder has. Messages of the library say it in words; the command line and
/// Python add how they fetch it.
class MissingSet : public Error {
 public:
  MissingSet(const std::string& message, std::string fetch_name)
      : Error(Code::input, message), fetch_name_(std::move(fetch_name)) {}
  /// What fetch_data is to be given; empty where it cannot be fetched.
  [[nodiscard]] const std::string& fetch_name() const noexcept { return fetch_name_; }

 private:
  std::string fetch_name_;
};

/// What is missing, and how to get it.
struct MissingFiles {
  std::string set;         ///< "mnist:train"
  std::string files;       ///< relative paths that were looked for, in words
  std::string by_hand;     ///< "put … in a folder mnist"
  std::string fetch_name;  ///< as in MissingSet
};

/// MissingSet: what was looked for and where, and what to do.
[[noreturn]] void fail_missing(const MissingFiles& missing);

}  // namespace widelimit
