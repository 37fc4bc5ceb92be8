#include "app/shell/interrupt.hpp"
#include "app/shell/options.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"

#include "experiments/experiment.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"

namespace widelimit::app {

namespace {

using experiment::Experiment;

void list_experiments(const CommonOptions& options) {
  options.check_report(false);
  Table table{.columns = {"experiment", "does", "reproduces"}};
  std::string text;
  Record record("experiment list");
  record.seed = options.seed;
  for (const Experiment& one : experiment::all_experiments()) {
    table.rows.push_back({one.name, one.summary, one.work});
    text += fmt::format("{}\n  {}\n  {}\n", one.name, one.summary, one.work);
    record.results["experiments"].push_back({{"name", one.name}, {"does", one.summary}, {"reproduces", one.work}});
  }
  if (options.report)
    Page("Experiments", "Published results that can be reproduced.").table(table).write(*options.report);
  print_result(options, record, text);
}

/// Values of the options of an experiment; `given` holds its own options as text, in the order of Experiment::options.
struct ExperimentChoice {
  CommonOptions common;
  bool full = false;
  std::vector<std::optional<std::string>> given;
};

std::map<std::string, std::string> values_of(const Experiment& chosen, const ExperimentChoice& choice) {
  std::map<std::string, std::string> values;
  for (std::size_t i = 0; i < chosen.options.size(); ++i) {
    const experiment::Option& option = chosen.options[i];
    values[option.name] = choice.given[i].value_or(choice.full && !option.full.empty() ? option.full : option.value);
  }
  return values;
}

void write_experiment_page(const Experiment& chosen, const experiment::Outcome& outcome, const Record& record,
                           const std::string& path) {
  Page page(chosen.summary, outcome.sentence);
  page.paragraph("Reproduces " + chosen.work + ".");
  for (const experiment::Part& part : outcome.parts) {
    page.section(part.heading);
    part.sortable ? page.sortable_table(part.table) : page.table(part.table);
    page.paragraph(part.words);
    if (!part.pictures.empty()) page.figures(part.pictures);
  }
  page.settings(record.page_settings()).write(path);
}

void run_experiment(const Experiment& chosen, const ExperimentChoice& choice) {
  choice.common.check_report(true);
  const auto engine = choice.common.make_engine();
  ProgressBar bar(choice.common);
  const experiment::Setting setting{.engine = *engine,
                                    .precision = parse_precision(choice.common.precision),
                                    .memory = choice.common.memory_limit(),
                                    .seed = choice.common.seed,
                                    .figures = choice.common.report.has_value(),
                                    .progress = &bar,
                                    .values = values_of(chosen, choice)};
  const auto start = Clock::now();
  const experiment::Outcome outcome = chosen.run(setting);
  stop_if_interrupted();

  Record record("experiment " + chosen.name);
  record.seed = setting.seed;
  record.settings["full"] = choice.full;
  for (const experiment::Option& option : chosen.options) record.settings[option.name] = setting.text(option.name);
  record.ran_on(*engine, setting.precision);
  record.timings = outcome.timings;
  record.timings.emplace_back("all", seconds_since(start));
  record.results = outcome.results;
  record.results["reproduces"] = chosen.work;
  record.results["sentence"] = outcome.sentence;
  std::string output;
  for (const experiment::Part& part : outcome.parts) {
    output += fmt::format("{}\n{}{}\n\n", part.heading, table_text(part.table), part.words);
  }
  output += outcome.sentence + "\n";
  if (choice.common.report) {
    write_experiment_page(chosen, outcome, record, *choice.common.report);
    add_report(record, output, *choice.common.report);
  }
  print_result(choice.common, record, output);
  if (!outcome.trouble.empty()) fail(Code::numerical, "{}", outcome.trouble);
}

void add_experiment_verb(Program& program, CLI::App& verb, const Experiment& one) {
  auto* inner = verb.add_subcommand(one.name, one.summary + " [" + one.work + "]");
  const auto choice = std::make_shared<ExperimentChoice>();
  choice->given.resize(one.options.size());
  choice->common.precision = to_string(one.precision);
  for (std::size_t i = 0; i < one.options.size(); ++i) {
    const experiment::Option& option = one.options[i];
    const std::string full = option.full.empty() ? "" : ", with --full " + option.full;
    inner->add_option("--" + option.name, choice->given[i], fmt::format("{} [{}{}]", option.help, option.value, full))
        ->type_name(option.type);
  }
  inner->add_flag("--full", choice->full, "Use the size of the published work; the default takes a minute or two");
  add_common_options(*inner, choice->common);
  set_example(*inner, "widelimit experiment " + one.name);
  inner->callback([one, choice, &program] { program.action = [one, choice] { run_experiment(one, *choice); }; });
}

}  // namespace

void add_experiment(Program& program) {
  auto* verb = program.cli.add_subcommand("experiment", "Reproduce published results and compare them");
  verb->require_subcommand(1);
  set_example(*verb, "widelimit experiment list");
  const auto options = std::make_shared<CommonOptions>();
  auto* list = verb->add_subcommand("list", "List the experiments and what they reproduce");
  add_common_options(*list, *options);
  set_example(*list, "widelimit experiment list");
  list->callback([options, &program] { program.action = [options] { list_experiments(*options); }; });
  for (const Experiment& one : experiment::all_experiments()) add_experiment_verb(program, *verb, one);
}

}  // namespace widelimit::app
