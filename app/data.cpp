#include "app/shell/data_options.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/options.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/data/describe.hpp"

#include <fmt/ranges.h>

namespace widelimit::app {

namespace {

using Json = nlohmann::ordered_json;

void run_list(const CommonOptions& options) {
  options.check_report(false);
  Record record("data list");
  record.seed = options.seed;
  Table table{.columns = {"SPEC", "samples", "what", "where"}};
  std::string members;
  auto& list = record.results["sets"] = Json::array();
  for (const CatalogueEntry& entry : list_data()) {
    list.push_back({{"spec", entry.name},
                    {"samples", entry.samples},
                    {"what", entry.what},
                    {"found", !entry.where.empty()},
                    {"where", entry.where},
                    {"members", entry.members}});
    table.rows.push_back({entry.name, entry.samples, entry.what, entry.where.empty() ? "not found" : entry.where});
    if (!entry.members.empty()) {
      members += fmt::format("\n{}: {}\n", entry.name, fmt::join(entry.members, ", "));
    }
  }
  if (options.report) Page("Data", "The catalogue of data sets.").table(table).write(*options.report);
  deliver(options, record, table_text(table) + members + "\nor a file: .csv .tsv .libsvm .npy .npz .h5\n");
}

/// Name, size and classes as a page; the same table for sets of graphs and for data sets.
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
    page.figure({bars(names, {counts}, {.title = "Samples of each class", .value_label = "samples"})});
  }
  Json facts(to_json(description));
  if (!notes.empty()) facts["notes"] = notes;
  page.settings(facts);
  page.write(path);
}

template <typename Description>
void tell(const CommonOptions& options, Record record, const Description& description) {
  record.results = Json(to_json(description));
  if (options.report) write_report(*options.report, description, record.notes);
  deliver(options, record, to_text(description));
}

void run_show(const CommonOptions& options, const DataChoice& choice) {
  options.check_report(true);
  const DataRequest request = choice.parsed();
  Record record("data show");
  record.seed = options.seed;
  record.settings = data_settings(request);
  if (!names_graphs(request.train)) {
    const TrainTest loaded = load_within(options, request);
    record.notes = loaded.notes;
    return tell(options, record, describe(loaded.train));
  }
  ProgressBar bar(options);
  tell(options, record, describe(load_graphs(request.train, {options.memory_limit(), &bar})));
}

}  // namespace

void add_data(Program& program) {
  auto* verb = program.cli.add_subcommand("data", "The catalogue of data sets, and what is in one");
  verb->require_subcommand(1);
  set_example(*verb, "widelimit data show digits");

  const auto options = std::make_shared<CommonOptions>();
  auto* list = verb->add_subcommand("list", "Every SPEC there is, and where it was found");
  add_common_options(*list, *options);
  set_example(*list, "widelimit data list");
  list->callback([options, &program] { program.action = [options] { run_list(*options); }; });

  const auto choice = std::make_shared<DataChoice>();
  auto* show = verb->add_subcommand("show", "Size, classes, ranges, first rows and problems of one set");
  show->add_option("SPEC", choice->request.train, "A name of the catalogue, or a file")->required();
  add_data_options(*show, *choice, false);
  add_common_options(*show, *options);
  set_example(*show, "widelimit data show digits --classes 3,8 --scale unit");
  show->callback([options, choice, &program] { program.action = [options, choice] { run_show(*options, *choice); }; });
}

}  // namespace widelimit::app
