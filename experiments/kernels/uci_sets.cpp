#include "experiments/kernels/uci_sets.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/catalogue/catalogue.hpp"
#include "widelimit/data/file/location.hpp"
#include "widelimit/data/formats/archive.hpp"
#include "widelimit/data/labels/folds.hpp"
#include "widelimit/data/labels/labels.hpp"

#include <algorithm>
#include <map>

namespace widelimit::experiment::uci {

namespace {

/// Partition files by data set and file name: [set][file].
using Partitions = std::map<std::string, std::map<std::string, std::vector<SplitRows>>>;

Partitions read_partitions(const ReadLimits& limits) {
  const auto archive = find_data_file({"uci/folds.tar.xz"});
  if (!archive) {
    fail_missing({"the partitions of the UCI benchmark", "uci/folds.tar.xz",
                  "put an archive with NAME/conxuntos.dat and NAME/conxuntos_kfold.dat of every set in a folder uci",
                  ""});
  }
  Partitions found;
  for (Archive members(*archive, limits); members.next();) {
    const std::filesystem::path file = members.member();
    if (file.extension() != ".dat") continue;
    found[file.parent_path().filename().string()][file.filename().string()] =
        parse_folds(members.read(), members.member());
  }
  return found;
}

std::vector<std::string> set_names() {
  for (const CatalogueEntry& entry : list_data()) {
    if (entry.name == "uci:NAME") return entry.members;
  }
  return {};
}

UciSet load_set(const std::string& name, const Partitions& partitions, const ReadLimits& limits) {
  UciSet set{.name = name, .data = load_data("uci:" + name, {.limits = limits}), .selection = {}, .tests = {}};
  set_task(set.data, Task::classification);
  const auto& files = partitions.at(name);
  if (!files.contains("conxuntos.dat") || !files.contains("conxuntos_kfold.dat")) {
    fail(Code::input, "the partitions of uci:{} are incomplete", name);
  }
  const std::vector<SplitRows>& selection = files.at("conxuntos.dat");
  set.tests = files.at("conxuntos_kfold.dat");
  (void)check_folds(selection, set.data.count(), set.data.labels);
  (void)check_folds(set.tests, set.data.count(), set.data.labels);
  set.selection = selection.front();
  return set;
}

}  // namespace

std::vector<UciSet> load_uci_sets(const Setting& setting, Index count) {
  const ReadLimits limits{.memory = setting.memory, .progress = setting.progress};
  const Partitions partitions = read_partitions(limits);
  std::vector<UciSet> sets;
  for (const std::string& name : set_names()) {
    if (partitions.contains(name)) sets.push_back(load_set(name, partitions, limits));
  }
  if (std::ssize(sets) < count) fail(Code::input, "there are only {} sets with partitions, not {}", sets.size(), count);
  std::stable_sort(sets.begin(), sets.end(),
                   [](const UciSet& a, const UciSet& b) { return a.data.count() < b.data.count(); });
  sets.resize(static_cast<std::size_t>(count));
  return sets;
}

}  // namespace widelimit::experiment::uci
