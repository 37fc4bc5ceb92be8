#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// A file of a data set: where it is served, where it belongs, and what it must be.
struct SourceFile {
  std::string set;    ///< the SPEC that it is for: "mnist", "uci:iris"
  std::string url;    ///< its public address
  std::string place;  ///< under a data folder, and under a mirror: "mnist/train-images-idx3-ubyte.gz"
  std::uint64_t bytes = 0;
  std::string sha256;
  /// Of an archive: the files that are taken from it, in the folder of `place`; the archive is not kept.
  std::vector<std::string> members;
};

/// A table of the UCI collection.
struct UciTable {
  std::string_view name;
  std::uint64_t bytes;
  std::string_view sha256;
};

/// Those that can be fetched, sorted by name.
[[nodiscard]] std::span<const UciTable> uci_tables();

/// The files of what `name` stands for: mnist, cifar10, uci, a SPEC of these (mnist:test, uci:iris), or the name of a
/// table (iris). Error{usage} for any other, saying what to do.
[[nodiscard]] std::vector<SourceFile> source_files(const std::string& name);

}  // namespace widelimit
