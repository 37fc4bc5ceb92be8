#pragma once

#include "widelimit/base/error.hpp"
#include "widelimit/data/file/file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace widelimit {

/// Returns the folders searched for data sets, in order: $WIDELIMIT_DATA, the cache. Both have one folder per set:
/// mnist/, cifar10/, uci/, graphs/.
[[nodiscard]] std::vector<std::filesystem::path> data_folders();

/// Returns $XDG_CACHE_HOME/widelimit, else ~/.cache/widelimit; empty if neither is set. A relative $XDG_CACHE_HOME is
/// ignored, as the XDG specification requires.
[[nodiscard]] std::filesystem::path cache_folder();

/// Returns the first file in data_folders() whose relative path is one of `names`.
[[nodiscard]] std::optional<std::filesystem::path> find_data_file(const std::vector<std::string>& names);

/// Stores `bytes` in the cache. An unwritable cache is not an error.
void store_in_cache(const std::filesystem::path& relative, Bytes bytes);

/// Error{input} for a data set that is in no data folder. The message names no interface; the command line and Python
/// append how they fetch the set.
class MissingSet : public Error {
 public:
  MissingSet(const std::string& message, std::string fetch_name)
      : Error(Code::input, message), fetch_name_(std::move(fetch_name)) {}
  /// Argument for fetch_data; empty if the set cannot be fetched.
  [[nodiscard]] const std::string& fetch_name() const noexcept { return fetch_name_; }

 private:
  std::string fetch_name_;
};

/// A missing data set and how to get it.
struct MissingFiles {
  std::string set;         ///< "mnist:train"
  std::string files;       ///< relative paths that were searched
  std::string by_hand;     ///< manual remedy: "put … in a folder mnist"
  std::string fetch_name;  ///< as in MissingSet
};

/// Throws MissingSet with the searched paths and the remedy.
[[noreturn]] void fail_missing(const MissingFiles& missing);

}  // namespace widelimit
