#include "app/shell/data_options.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/options.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/data/describe.hpp"
#include "widelimit/data/fetch/fetch.hpp"
#include "widelimit/data/fetch/sources.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/data/file/location.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace widelimit::app {

namespace {

using Json = nlohmann::ordered_json;

/// Returns where a data set was found, or how to fetch it.
std::string location_text(const CatalogueEntry& entry) {
  if (!entry.where.empty()) return entry.where;
  const std::string name = fetch_name(entry.name);
  return name.empty() ? "not found" : "not found; widelimit data fetch " + name;
}

void run_list(const CommonOptions& options) {
  options.check_report(false);
  Record record("data list");
  record.seed = options.seed;
  Table table{.columns = {"SPEC", "samples", "description", "location"}};
  std::string members;
  auto& list = record.results["sets"] = Json::array();
  for (const CatalogueEntry& entry : list_data()) {
    list.push_back({{"spec", entry.name},
                    {"samples", entry.samples},
                    {"what", entry.what},
                    {"found", !entry.where.empty()},
                    {"where", entry.where},
                    {"fetch", fetch_name(entry.name)},
                    {"members", entry.members}});
    table.rows.push_back({entry.name, entry.samples, entry.what, location_text(entry)});
    if (!entry.members.empty()) {
      members += fmt::format("\n{}: {}\n", entry.name, fmt::join(entry.members, ", "));
    }
  }
  if (options.report) Page("Data", "The catalogue of data sets.").table(table).write(*options.report);
  print_result(options, record, table_text(table) + members + "\nor a file: .csv .tsv .libsvm .npy .npz .h5\n");
}

/// Writes name, size and classes of a data set or a set of graphs as a page.
template <typename Description>
void write_report(const std::string& path, const Description& description, const std::vector<std::string>& notes) {
  Page page(description.name, fmt::format("{} samples.", description.count));
  if (!description.classes.empty()) {
    std::vector<std::string> names;
    BarSeries counts{.name = "samples"};
    for (const auto& entry : description.classes) {
      names.push_back(entry.first);
      counts.values.push_back(static_cast<double>(entry.second));
    }
    page.figure({bars(names, {counts}, {.title = "Samples per class", .value_label = "samples"})});
  }
  Json facts(to_json(description));
  if (!notes.empty()) facts["notes"] = notes;
  page.settings(facts);
  page.write(path);
}

template <typename Description>
void print_description(const CommonOptions& options, Record record, const Description& description) {
  record.results = Json(to_json(description));
  if (options.report) write_report(*options.report, description, record.notes);
  print_result(options, record, to_text(description));
}

void run_show(const CommonOptions& options, const DataChoice& choice) {
  options.check_report(true);
  const DataRequest request = choice.parsed();
  Record record("data show");
  record.seed = options.seed;
  record.settings = data_settings(request);
  if (!names_graphs(request.train)) {
    const TrainTest loaded = load_request(options, request);
    record.notes = loaded.notes;
    return print_description(options, record, describe(loaded.train));
  }
  ProgressBar bar(options);
  print_description(options, record,
                    describe(load_graphs(request.train, {options.memory_limit(), &bar}, request.label != "none")));
}

/// Values of the options of `fetch`.
struct FetchChoice {
  std::vector<std::string> names;
  std::string folder;
  FetchOptions options;
};

/// Returns whether the catalogue searches this folder.
bool is_searched(const std::filesystem::path& folder) {
  const auto folders = data_folders();
  return std::any_of(folders.begin(), folders.end(), [&](const std::filesystem::path& searched) {
    std::error_code absent;
    return std::filesystem::equivalent(searched, folder, absent);
  });
}

/// Throws Error{usage} if the report would replace a file to be fetched.
void check_fetch_report(const CommonOptions& options, const std::vector<std::string>& names,
                        const std::filesystem::path& folder) {
  if (!options.report) return;
  for (const std::string& name : names) {
    for (const SourceFile& file : source_files(name)) {
      std::vector<std::filesystem::path> targets{folder / file.place};
      for (const std::string& member : file.members) targets.push_back(targets.front().parent_path() / member);
      const auto same = [&](const std::filesystem::path& target) { return same_file(target, *options.report); };
      if (std::none_of(targets.begin(), targets.end(), same)) continue;
      fail(Code::usage, "--report '{}' is a file of {} to be fetched; choose another path", *options.report, name);
    }
  }
}

void run_fetch(const CommonOptions& options, const FetchChoice& choice) {
  FetchOptions request = choice.options;
  request.folder = choice.folder;
  const std::filesystem::path folder = choice.folder.empty() ? cache_folder() : request.folder;
  check_fetch_report(options, choice.names, folder);
  options.check_report(false);
  Record record("data fetch");
  record.seed = options.seed;
  record.settings = {{"names", choice.names}, {"folder", folder.string()}, {"force", request.replace}};
  if (!request.mirror.empty()) record.settings["from"] = request.mirror;
  std::vector<FetchedFile> files;
  {
    ProgressBar bar(options);
    request.progress = &bar;
    files = fetch_data(choice.names, request);
  }
  Table table{.columns = {"SPEC", "file", "size", "status"}};
  auto& list = record.results["files"] = Json::array();
  for (const FetchedFile& file : files) {
    list.push_back(
        {{"spec", file.set}, {"path", file.path.string()}, {"bytes", file.bytes}, {"fetched", file.fetched}});
    table.rows.push_back({file.set, file.path.lexically_relative(folder).string(),
                          bytes_text(static_cast<double>(file.bytes)),
                          std::string(file.fetched ? "fetched, SHA-256 verified" : "already present")});
  }
  const std::string where = fmt::format("\nin {}{}\n", folder.string(),
                                        is_searched(folder) ? "" : "; set WIDELIMIT_DATA to it to use these data");
  if (options.report) Page("Data", "Fetched data sets.").table(table).write(*options.report);
  print_result(options, record, table_text(table) + where);
}

void add_fetch(CLI::App& verb, Program& program) {
  const auto common = std::make_shared<CommonOptions>();
  const auto choice = std::make_shared<FetchChoice>();
  auto* fetch = verb.add_subcommand("fetch", "Download data sets into the cache and verify their SHA-256");
  FetchOptions& options = choice->options;
  fetch->add_option("NAME", choice->names, "mnist, cifar10, uci (all tables) or uci:NAME")->required();
  fetch
      ->add_option("--from", options.mirror,
                   "Mirror to use instead of the public addresses, with the folders of the cache")
      ->type_name("URL");
  fetch->add_option("--dir", choice->folder, "Data folder to fill instead of the cache")->type_name("DIR");
  fetch->add_flag("--force", options.replace, "Fetch again and replace existing files");
  fetch->add_option("--retries", options.retries, "Retries of a failed transfer")
      ->type_name("N")
      ->capture_default_str();
  fetch->add_option("--stall", options.stall, "Abort a transfer after this many seconds without data")
      ->type_name("SECONDS")
      ->capture_default_str();
  add_common_options(*fetch, *common);
  set_example(*fetch, "widelimit data fetch mnist uci:iris");
  fetch->callback([common, choice, &program] { program.action = [common, choice] { run_fetch(*common, *choice); }; });
}

}  // namespace

void add_data(Program& program) {
  auto* verb = program.cli.add_subcommand("data", "List, describe and download data sets");
  verb->require_subcommand(1);
  set_example(*verb, "widelimit data show digits");

  const auto options = std::make_shared<CommonOptions>();
  auto* list = verb->add_subcommand("list", "List the catalogue of data sets and where they were found");
  add_common_options(*list, *options);
  set_example(*list, "widelimit data list");
  list->callback([options, &program] { program.action = [options] { run_list(*options); }; });

  const auto choice = std::make_shared<DataChoice>();
  auto* show = verb->add_subcommand("show", "Describe a data set: size, classes, ranges, first rows, problems");
  show->add_option("SPEC", choice->request.train, "Name of the catalogue, or a file")->required();
  add_data_options(*show, *choice, false);
  add_common_options(*show, *options);
  set_example(*show, "widelimit data show digits --classes 3,8 --scale unit");
  show->callback([options, choice, &program] { program.action = [options, choice] { run_show(*options, *choice); }; });

  add_fetch(*verb, program);
}

}  // namespace widelimit::app
