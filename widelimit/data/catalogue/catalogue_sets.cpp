#include "widelimit/data/catalogue/catalogue_sets.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/data/fetch/sources.hpp"
#include "widelimit/data/file/location.hpp"
#include "widelimit/data/formats/archive.hpp"
#include "widelimit/data/formats/csv.hpp"
#include "widelimit/data/formats/csv_rows.hpp"
#include "widelimit/data/formats/images/cifar.hpp"
#include "widelimit/data/formats/images/idx.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace widelimit {

namespace embedded {
extern const unsigned char embedded_digits[];
extern const std::size_t embedded_digits_size;
}  // namespace embedded

namespace fs = std::filesystem;

namespace {

/// Returns true for "train", false for "test".
bool is_train(const DataSpec& spec) {
  if (spec.part != "train" && spec.part != "test") {
    fail(Code::usage, "data '{}' has two parts; write {}:train or {}:test", spec.name, spec.name, spec.name);
  }
  return spec.part == "train";
}

std::optional<fs::path> find_idx(const std::string& name) {
  return find_data_file({"mnist/" + name, "mnist/" + name + ".gz"});
}

std::vector<std::string> cifar_batches(bool train) {
  if (!train) return {"test_batch.bin"};
  return {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"};
}

/// Returns the folder that has all batches of one split.
std::optional<fs::path> find_batches(bool train) {
  const std::vector<std::string> names = cifar_batches(train);
  for (const fs::path& folder : data_folders()) {
    // The original files have priority over batches that were decoded from JPEG.
    for (const char* inner : {"cifar10/cifar-10-batches-bin", "cifar10"}) {
      const bool complete = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
        std::error_code ignored;
        return fs::is_regular_file(folder / inner / name, ignored);
      });
      if (complete) return folder / inner;
    }
  }
  return std::nullopt;
}

std::optional<fs::path> find_cifar_archive() { return find_data_file({"cifar10/cifar10-jpeg.tar.xz"}); }

void keep_batches(Bytes records, bool train) {
  constexpr std::size_t batch = 10000 * cifar_record;
  for (const std::string& name : cifar_batches(train)) {
    const std::size_t size = std::min(batch, records.size());
    store_in_cache(fs::path("cifar10") / name, records.first(size));
    records = records.subspan(size);
  }
}

std::optional<fs::path> find_uci_archive() { return find_data_file({"uci/uci.tar.xz"}); }

[[noreturn]] void fail_unknown(std::string_view family, const std::string& name,
                               const std::vector<std::string>& names) {
  fail(Code::input, "no set {}:{}{}; there are: {}", family, name, suggestion(name, {names.begin(), names.end()}),
       fmt::join(names, ", "));
}

/// Extracts the table `name`. xz has no random access, so all tables are stored in the cache, after the checksum at the
/// end of the stream was verified.
Blob extract_uci(const fs::path& archive, const std::string& name, const ReadLimits& limits) {
  std::map<fs::path, Blob> tables;
  for (Archive members(archive, limits); members.next();) {
    const fs::path file = fs::path(members.member()).filename();
    if (file.extension() == ".csv") tables[file] = members.read();
  }
  for (const auto& [file, table] : tables) store_in_cache(fs::path("uci") / file, table);
  const auto wanted = tables.find(name + ".csv");
  if (wanted == tables.end()) fail_unknown("uci", name, uci_names());
  return std::move(wanted->second);
}

/// Returns the names of the unpacked tables in a folder.
std::set<std::string> tables_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    if (entry.path().extension() == ".csv") names.insert(entry.path().stem().string());
  }
  return names;
}

/// Throws Error{usage} unless `name` is a plain file name: it becomes part of a path and must not leave the folder.
void require_plain_name(const std::string& name, std::string_view what) {
  const bool plain = !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
  if (!plain) fail(Code::usage, "write {}:NAME with the name of a set; the catalogue lists them", what);
}

}  // namespace

Dataset load_digits(const DataSpec& spec, const DataOptions& given) {
  if (!spec.part.empty()) fail(Code::usage, "data 'digits' has no part '{}'; use a split", spec.part);
  const Bytes packed = std::as_bytes(std::span(embedded::embedded_digits, embedded::embedded_digits_size));
  ReadOptions options;
  options.source = "digits";
  options.limits = given.limits;
  const Blob table = unpack(packed, options.source, options.limits);
  Dataset data = parse_csv(as_text(table), options);
  data.shape = {8, 8, 1};
  return data;
}

Dataset load_mnist(const DataSpec& spec, const DataOptions& options) {
  const std::string prefix = is_train(spec) ? "train" : "t10k";
  const auto images = find_idx(prefix + "-images-idx3-ubyte");
  const auto labels = find_idx(prefix + "-labels-idx1-ubyte");
  if (!images || !labels) {
    fail_missing({"mnist:" + spec.part, "mnist/" + prefix + "-{images-idx3,labels-idx1}-ubyte[.gz]",
                  "put the four IDX files of MNIST (https://ossci-datasets.s3.amazonaws.com/mnist/) in a folder mnist",
                  "mnist"});
  }
  Dataset data = read_idx(*images, *labels, options.limits);
  data.name = "mnist:" + spec.part;
  return data;
}

Dataset load_cifar10(const DataSpec& spec, const DataOptions& options) {
  const bool train = is_train(spec);
  const std::string name = "cifar10:" + spec.part;
  if (const auto folder = find_batches(train)) {
    Blob records;
    for (const std::string& batch : cifar_batches(train)) {
      const Blob part = read_file(*folder / batch, options.limits);
      if (records.empty()) records.reserve(cifar_batches(train).size() * part.size());
      records.insert(records.end(), part.begin(), part.end());
    }
    return parse_cifar(records, name, options.limits);
  }
  const auto archive = find_cifar_archive();
  if (!archive) {
    fail_missing({name, "cifar10/" + cifar_batches(train).front(),
                  "put the binary version of CIFAR-10 (https://www.cs.toronto.edu/~kriz/cifar.html), unpacked, in a "
                  "folder cifar10",
                  "cifar10"});
  }
  const CifarRecords records = decode_cifar_archive(*archive, options.limits);
  keep_batches(records.train, true);
  keep_batches(records.test, false);
  return parse_cifar(train ? records.train : records.test, name, options.limits);
}

Dataset load_uci(const DataSpec& spec, const DataOptions& given) {
  require_plain_name(spec.part, "uci");
  ReadOptions options;
  options.source = "uci:" + spec.part;
  options.limits = given.limits;
  options.label = given.label;
  options.table = given.table;
  options.like = given.like;
  options.keep_missing = given.keep_missing;
  if (const auto table = find_data_file({"uci/" + spec.part + ".csv"})) return read_csv(*table, options);
  const auto archive = find_uci_archive();
  if (!archive) {
    const auto tables = uci_tables();
    const bool offered = std::any_of(tables.begin(), tables.end(), [&](const auto& t) { return t.name == spec.part; });
    fail_missing({options.source, "uci/" + spec.part + ".csv or uci/uci.tar.xz",
                  "put a table with the label in its last column in a folder uci",
                  offered ? options.source : std::string()});
  }
  const Blob table = extract_uci(*archive, spec.part, options.limits);
  return parse_csv(as_text(table), options);
}

GraphSet load_graph_set(const std::string& name, const ReadLimits& limits, bool labelled) {
  require_plain_name(name, "graphs");
  const std::string stem = "graphs/" + name + "/";
  const auto text = find_data_file({stem + name + ".txt.gz", stem + name + ".txt"});
  if (!text) {
    if (const std::vector<std::string> names = graph_names(); !names.empty()) fail_unknown("graphs", name, names);
    fail_missing({"graphs:" + name,
                  stem + name + ".txt[.gz]",
                  "put the data sets of https://github.com/weihua916/powerful-gnns in a folder graphs",
                  {}});
  }
  const fs::path folds = text->parent_path() / "10fold_idx.tar.gz";
  std::error_code ignored;
  GraphSet set = read_graphs(*text, fs::is_regular_file(folds, ignored) ? folds : fs::path(), limits, labelled);
  set.name = "graphs:" + name;
  return set;
}

std::string find_mnist() {
  const auto images = find_idx("train-images-idx3-ubyte");
  return images ? images->parent_path().string() : std::string();
}

std::string find_cifar10() {
  if (const auto folder = find_batches(true)) return folder->string();
  const auto archive = find_cifar_archive();
  return archive ? archive->string() : std::string();
}

std::string find_uci() {
  if (const auto archive = find_uci_archive()) return archive->string();
  for (const fs::path& folder : data_folders()) {
    if (!tables_in(folder / "uci").empty()) return (folder / "uci").string();
  }
  return {};
}

std::string find_graphs() {
  std::error_code ignored;
  for (const fs::path& folder : data_folders()) {
    if (fs::is_directory(folder / "graphs", ignored)) return (folder / "graphs").string();
  }
  return {};
}

std::vector<std::string> uci_names() {
  std::set<std::string> names;
  if (const auto index = find_data_file({"uci/index.csv"})) {
    const Blob table = read_file(*index);
    CsvRows rows(as_text(table), ',', index->string());
    for (rows.next(); rows.next();) names.insert(rows.cells().front());
  } else if (const auto archive = find_uci_archive()) {
    for (const std::string& member : list_members(*archive)) {
      if (member.ends_with(".csv")) names.insert(fs::path(member).stem().string());
    }
  }
  for (const fs::path& folder : data_folders()) names.merge(tables_in(folder / "uci"));
  names.erase("index");
  if (names.empty()) {
    for (const UciTable& table : uci_tables()) names.emplace(table.name);
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> graph_names() {
  std::set<std::string> names;
  const std::string folder = find_graphs();
  std::error_code unreadable;
  if (folder.empty()) return {};
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    if (entry.is_directory(unreadable)) names.insert(entry.path().filename().string());
  }
  return {names.begin(), names.end()};
}

}  // namespace widelimit
