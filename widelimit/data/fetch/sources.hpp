#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// File of a data set: address, relative path and checksum.
struct SourceFile {
  std::string set;    ///< SPEC of its set: "mnist", "uci:iris"
  std::string url;    ///< public address
  std::string place;  ///< path relative to a data folder or a mirror: "mnist/train-images-idx3-ubyte.gz"
  std::uint64_t bytes = 0;
  std::string sha256;
  /// If the file is an archive: the members to extract into the folder of `place`; the archive is not kept.
  std::vector<std::string> members;
};

/// Table of the UCI collection.
struct UciTable {
  std::string_view name;
  std::uint64_t bytes;
  std::string_view sha256;
};

/// Returns the tables that can be fetched, sorted by name.
[[nodiscard]] std::span<const UciTable> uci_tables();

/// Returns the files of `name`: mnist, cifar10, uci, a SPEC of these (mnist:test, uci:iris), or the name of a table
/// (iris). Throws Error{usage} with a remedy for any other name.
[[nodiscard]] std::vector<SourceFile> source_files(const std::string& name);

}  // namespace widelimit
