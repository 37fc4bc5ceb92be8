#pragma once

#include "widelimit/data/file/file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace widelimit {

/// Where data sets are looked for, in this order: $WIDELIMIT_DATA, ../shared/data, the cache. All three have the
/// same layout, one folder a set: mnist/, cifar10/, uci/, graphs/.
[[nodiscard]] std::vector<std::filesystem::path> data_folders();

/// $XDG_CACHE_HOME/widelimit, else ~/.cache/widelimit; empty where neither is known.
[[nodiscard]] std::filesystem::path cache_folder();

/// The first of the data folders that has one of `names` (relative paths), and that file.
[[nodiscard]] std::optional<std::filesystem::path> find_data_file(const std::vector<std::string>& names);

/// Keeps `bytes` in the cache for the next time. A cache that cannot be written is no error: it costs time only.
void store_in_cache(const std::filesystem::path& relative, Bytes bytes);

/// Error{input}: `what` is missing, which `files` were looked for and where, and how to get it.
[[noreturn]] void fail_missing(const std::string& what, const std::string& files, const std::string& advice);

}  // namespace widelimit
