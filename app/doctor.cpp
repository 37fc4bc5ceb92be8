#include "app/shell/options.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"

#include "widelimit/base/memory.hpp"
#include "widelimit/base/version.hpp"
#include "widelimit/data/catalogue/catalogue.hpp"
#include "widelimit/data/fetch/fetch.hpp"
#include "widelimit/data/file/location.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/report/drawing/process.hpp"

#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace widelimit::app {

namespace {

/// Returns the path of a program found via PATH, or an empty string.
std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + name;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

Table machine_table(const Engine& cpu) {
  const auto memory = available_memory();
  Table table{.columns = {"this machine", ""}};
  table.rows = {{"version", std::string(version())},
                {"vectors", std::string(vector_instructions())},
                {"cpu", cpu.description()},
                {"threads", fmt::format("{}", cpu.threads())},
                {"memory left", memory ? bytes_text(static_cast<double>(*memory)) : "unknown"}};
  return table;
}

Table backend_table() {
  Table table{.columns = {"back end", "present", "detail"}};
  for (const EnginePresence& entry : list_engines()) {
    table.rows.push_back({entry.name, std::string(entry.present ? "yes" : "no"), entry.detail});
  }
  return table;
}

Table program_table() {
  Table table{.columns = {"program", "found", "for"}};
  const auto add = [&](const std::string& name, const std::string& purpose, const std::string& package) {
    const std::string place = find_program(name);
    table.rows.push_back({name, place.empty() ? "no; apt install " + package : place, purpose});
  };
  add("gnuplot", "figures of --report and demo", "gnuplot-nox");
  add("chromium", "tests that open report pages", "chromium");
  return table;
}

Table data_table() {
  Table table{.columns = {"data", "samples", "found"}};
  for (const CatalogueEntry& entry : list_data()) {
    const std::string name = fetch_name(entry.name);
    const std::string absent = name.empty() ? "no" : "no; widelimit data fetch " + name;
    table.rows.push_back({entry.name, entry.samples, entry.where.empty() ? absent : entry.where});
  }
  return table;
}

std::string folders_text() {
  std::string text;
  for (const auto& folder : data_folders()) text += (text.empty() ? "" : ", ") + folder.string();
  return "Data folders searched: " + text + "\n";
}

/// Returns the rows as a list of objects with the columns as keys.
nlohmann::ordered_json table_json(const Table& table) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json object;
    for (std::size_t c = 0; c < row.size(); ++c) object[table.columns[c]] = std::get<std::string>(row[c]);
    list.push_back(std::move(object));
  }
  return list;
}

void run(const CommonOptions& options) {
  options.check_report(false);
  const auto cpu = make_engine("cpu", EngineOptions{options.threads});
  const std::vector<Table> tables{machine_table(*cpu), backend_table(), program_table(), data_table()};
  Record record("doctor");
  record.seed = options.seed;
  for (const auto& row : tables[0].rows) record.results[std::get<std::string>(row[0])] = std::get<std::string>(row[1]);
  record.results["backends"] = table_json(tables[1]);
  record.results["programs"] = table_json(tables[2]);
  record.results["data"] = table_json(tables[3]);
  std::string text;
  Page page("widelimit doctor", "Back ends, programs and data on this machine.");
  for (const Table& table : tables) {
    text += (text.empty() ? "" : "\n") + table_text(table);
    page.table(table);
  }
  text += "\n" + folders_text();
  if (options.report) page.paragraph(folders_text()).write(*options.report);
  print_result(options, record, text);
}

}  // namespace

void add_doctor(Program& program) {
  auto* verb = program.cli.add_subcommand("doctor", "Report the back ends, programs and data on this machine");
  const auto options = std::make_shared<CommonOptions>();
  add_common_options(*verb, *options);
  set_example(*verb, "widelimit doctor");
  verb->callback([options, &program] { program.action = [options] { run(*options); }; });
}

}  // namespace widelimit::app
