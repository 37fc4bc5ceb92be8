#include "widelimit/data/fetch/sources.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <array>

namespace widelimit {

namespace {

/// Mirror of the PyTorch project. The checksums of the compressed files are those published with several libraries; the
/// uncompressed files have the MD5 sums of the original.
constexpr std::string_view mnist_address = "https://ossci-datasets.s3.amazonaws.com/mnist/";

struct MnistFile {
  std::string_view part;
  std::string_view name;
  std::uint64_t bytes;
  std::string_view sha256;
};

constexpr std::array<MnistFile, 4> mnist_files{{
    {"train", "train-images-idx3-ubyte.gz", 9912422,
     "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
    {"train", "train-labels-idx1-ubyte.gz", 28881, "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
    {"test", "t10k-images-idx3-ubyte.gz", 1648877, "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
    {"test", "t10k-labels-idx1-ubyte.gz", 4542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"},
}};

/// The binary version, from the author's page.
SourceFile cifar10_archive() {
  SourceFile file{.set = "cifar10",
                  .url = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
                  .place = "cifar10/cifar-10-binary.tar.gz",
                  .bytes = 170052171,
                  .sha256 = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
                  .members = {"cifar-10-batches-bin/test_batch.bin"}};
  for (int k = 1; k <= 5; ++k) file.members.push_back(fmt::format("cifar-10-batches-bin/data_batch_{}.bin", k));
  return file;
}

/// A fixed revision of the collection, so that the content cannot change.
constexpr std::string_view uci_address =
    "https://raw.githubusercontent.com/gditzler/UA-ECE-523-Sp2018/ba1e97292e149da24c6344c125503825229fa25c/data/";

SourceFile uci_file(const UciTable& table) {
  return {.set = fmt::format("uci:{}", table.name),
          .url = fmt::format("{}{}.csv", uci_address, table.name),
          .place = fmt::format("uci/{}.csv", table.name),
          .bytes = table.bytes,
          .sha256 = std::string(table.sha256),
          .members = {}};
}

const UciTable* find_uci_table(std::string_view name) {
  const auto tables = uci_tables();
  const auto found = std::lower_bound(tables.begin(), tables.end(), name,
                                      [](const UciTable& table, std::string_view key) { return table.name < key; });
  return found != tables.end() && found->name == name ? &*found : nullptr;
}

std::vector<SourceFile> mnist_sources(std::string_view part) {
  std::vector<SourceFile> files;
  for (const MnistFile& file : mnist_files) {
    if (!part.empty() && file.part != part) continue;
    files.push_back({.set = "mnist",
                     .url = fmt::format("{}{}", mnist_address, file.name),
                     .place = fmt::format("mnist/{}", file.name),
                     .bytes = file.bytes,
                     .sha256 = std::string(file.sha256),
                     .members = {}});
  }
  return files;
}

std::vector<SourceFile> uci_sources(std::string_view part) {
  std::vector<SourceFile> files;
  for (const UciTable& table : uci_tables()) {
    if (part.empty() || table.name == part) files.push_back(uci_file(table));
  }
  return files;
}

}  // namespace

std::vector<SourceFile> source_files(const std::string& name) {
  const auto colon = std::min(name.find(':'), name.size());
  const std::string set = name.substr(0, colon);
  const std::string part = name.substr(std::min(colon + 1, name.size()));
  const bool split = part.empty() || part == "train" || part == "test";
  if (set == "mnist" && split) return mnist_sources(part);
  if (set == "cifar10" && split) return {cifar10_archive()};
  if (set == "uci" && (part.empty() || find_uci_table(part) != nullptr)) return uci_sources(part);
  if (const UciTable* table = find_uci_table(name)) return {uci_file(*table)};
  if (set == "graphs") {
    fail(Code::usage,
         "sets of graphs cannot be fetched, since no checksum of a public copy is known; download dataset.zip of "
         "https://github.com/weihua916/powerful-gnns, unpack its folders NAME/NAME.txt into a folder graphs, and set "
         "WIDELIMIT_DATA to the folder above it");
  }
  fail(Code::usage, "'{}' cannot be fetched; there are mnist, cifar10, uci (all {} tables) and uci:NAME", name,
       uci_tables().size());
}

}  // namespace widelimit
