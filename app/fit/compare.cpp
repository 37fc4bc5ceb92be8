#include "app/fit/fit_outcome.hpp"
#include "app/fit/machine_pages.hpp"
#include "app/fit/selection_options.hpp"
#include "app/kernel/kernel_file.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"
#include "app/shell/remedies.hpp"

#include "widelimit/analysis/comparison/compare.hpp"
#include "widelimit/data/labels/labels.hpp"
#include "widelimit/report/comparison_report.hpp"
#include "widelimit/report/csv.hpp"

#include <fmt/ranges.h>

namespace widelimit::app {

namespace {

struct CompareChoice : SelectionChoice {
  std::vector<std::string> networks;  ///< each NET or NET;NET
  std::vector<std::string> kernels;   ///< each KERNEL or KERNEL,KERNEL
  bool sweep = false;
  Index inner_folds = CompareOptions{}.inner_folds;
  std::optional<std::string> out;   ///< file of the table
  std::optional<std::string> save;  ///< file of the model

  [[nodiscard]] bool has_kernels() const { return !networks.empty() || !kernels.empty(); }
};

/// Splits text at separators outside of brackets and trims blanks.
std::vector<std::string> split_list(const std::string& text, std::string_view separators) {
  std::vector<std::string> parts{""};
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    if (depth == 0 && separators.find(c) != std::string_view::npos) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) {
    const auto first = part.find_first_not_of(" \t\n");
    part = first == std::string::npos ? "" : part.substr(first, part.find_last_not_of(" \t\n") - first + 1);
  }
  return parts;
}

/// Returns the names of all lists. Throws Error{usage} if a name is empty.
std::vector<std::string> names_of(const std::vector<std::string>& lists, std::string_view separators,
                                  const char* option) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    for (std::string& name : split_list(list, separators)) {
      if (name.empty()) fail(Code::usage, "{} '{}': a name is missing", option, list);
      names.push_back(std::move(name));
    }
  }
  return names;
}

/// Returns the candidates given by options, classical kernels first.
std::vector<Candidate> named_candidates(const CompareChoice& choice) {
  std::vector<Candidate> candidates;
  for (const std::string& name : names_of(choice.kernels, ",;", "--kernels")) {
    candidates.push_back(classical_candidate(name));
  }
  for (const std::string& name : names_of(choice.networks, ";", "--networks")) {
    for (const Kind kind : single_kinds(parse_kind(choice.kind)))
      candidates.push_back(network_candidate(name, kind, choice.sweep));
  }
  return candidates;
}

KernelChoice kernel_choice(const ComparedKernel& row) {
  KernelChoice kernel{.kind = row.candidate.kind == Kind::nngp ? "nngp" : "ntk"};
  (std::holds_alternative<Network>(row.kernel()) ? kernel.network : kernel.classical) = kernel_text(row.kernel());
  return kernel;
}

void check_choice(const CompareChoice& choice, const DataRequest& request) {
  choice.check_fold_file(request);
  (void)choice.tune_options(nullptr);
  (void)named_candidates(choice);
  (void)parse_kind(choice.kind);
  if (choice.inner_folds < 2) fail(Code::usage, "--inner-folds {}: choose at least 2", choice.inner_folds);
  if (choice.sweep && choice.networks.empty()) fail(Code::usage, "--sweep requires --networks");
  if (choice.out) check_table_path(*choice.out);
  if (choice.probability && !choice.save) fail(Code::usage, "--probability requires --save");
  if (!choice.save) return;
  (void)choice.fit_options({.network = "fc:1"}, 1, *choice.save).machine_options();
  check_model_path(*choice.save);
}

/// Returns the notes on the comparison, with the options that remedy a failure.
std::vector<std::string> notes_of(const CompareChoice& choice, const Comparison& comparison, const CLI::App& verb) {
  std::vector<std::string> notes = comparison.notes;
  for (const ComparedKernel& row : comparison.kernels) {
    if (!row.failure) continue;
    notes.push_back(fmt::format("{} failed: {}{}", row.candidate.name, row.failure->what(),
                                options_of(row.failure->remedies(), verb)));
  }
  if (choice.has_kernels()) return notes;
  notes.emplace_back("no kernels were given: these are the defaults for these samples (--networks, --kernels)");
  return notes;
}

/// Returns how the errors were computed, for records and pages.
std::string method_of(const CompareChoice& choice) {
  const bool ridge = parse_machine(choice.machine) == Machine::ridge;
  return fmt::format("{}, with nested selection of kernel and λ by {}", choice.folds_text(),
                     ridge ? "leave-one-out" : fmt::format("{} folds of its training part", choice.inner_folds));
}

void write_comparison_page(const CompareChoice& choice, const std::string& name, const Comparison& comparison,
                           const FitOutcome& saved, const nlohmann::ordered_json& settings) {
  Page page(fmt::format("Kernels on {}", name), fmt::format("{}.", fmt::join(comparison_sentences(comparison), ". ")));
  page.section("Comparison").figure(comparison_bars(comparison)).sortable_table(comparison_ranking(comparison));
  page.paragraph(fmt::format(
      "Held-out errors are by {}: no held-out sample is used to select the kernel or λ. Kernel and λ in the "
      "table are selected on all training samples.",
      method_of(choice)));
  add_scores(page, saved.scores, saved.model.classes);
  page.settings(settings).write(*choice.common.report);
}

Record record_of(const CompareChoice& choice, const DataRequest& request, const Comparison& comparison,
                 const Engine& engine) {
  Record record("compare");
  for (const ComparedKernel& row : comparison.kernels) record.settings["kernels"].push_back(row.candidate.name);
  record.settings["kind"] = choice.kind;
  if (choice.sweep) record.settings["sweep"] = true;
  choice.write_settings(record.settings);
  record.settings["inner_folds"] = choice.inner_folds;
  record.settings["data"] = data_settings(request);
  record.seed = choice.common.seed;
  record.ran_on(engine, parse_precision(choice.common.precision));
  double kernel = 0;
  double fit = 0;
  for (const ComparedKernel& row : comparison.kernels) {
    kernel += row.kernel_seconds;
    fit += row.fit_seconds;
  }
  record.timings = {{"kernel", kernel}, {"fit", fit}};
  record.results = comparison_json(comparison);
  record.results["method"] = method_of(choice);
  return record;
}

Comparison compare_on(const CompareChoice& choice, const TrainTest& data, const Engine& engine) {
  const std::vector<Candidate> candidates =
      choice.has_kernels() ? named_candidates(choice) : usual_candidates(data.train.view(), parse_kind(choice.kind));
  for (const Candidate& one : candidates) {
    if (const auto* network = std::get_if<Network>(&one.kernel)) {
      warn_layout(choice.common, *network, data.train.shape);
    }
  }
  ProgressBar bar(choice.common);
  CompareOptions options{.tune = choice.tune_options(&bar),
                         .inner_folds = choice.inner_folds,
                         .precision = parse_precision(choice.common.precision),
                         .memory = choice.common.memory_limit()};
  const Machine machine = options.tune.machine.machine;
  const FitTargets targets = fit_targets(machine, data.train);
  if (!targets.labels.empty() && options.tune.given_folds.empty()) require_members(data.train, 2, "folds need");
  options.tune.machine.class_weights = choice.class_weights.of(data.train.class_names);
  std::optional<TestSamples> test;
  if (data.test) test = {data.test->view(), fit_targets(machine, *data.test)};
  return compare_kernels(candidates, data.train.view(), targets, test, options, engine);
}

void run_compare(const CompareChoice& choice, const CLI::App& verb) {
  choice.common.check_report(true);
  const DataRequest request = choice.data.parsed();
  check_choice(choice, request);
  const auto engine = choice.common.make_engine();
  const TrainTest data = load_request(choice.common, request);
  require_one_target(data.train);
  const Comparison comparison = compare_on(choice, data, *engine);
  for (const ComparedKernel& row : comparison.kernels) {
    warn_quadrature(choice.common, row.quadrature_error, parse_precision(choice.common.precision));
  }

  Record record = record_of(choice, request, comparison, *engine);
  record.notes = data.notes;
  std::string output = table_text(comparison_table(comparison));
  for (const std::string& sentence : comparison_sentences(comparison)) output += sentence + "\n";
  output += fmt::format("errors by {}\n", method_of(choice));
  for (const std::string& line : notes_of(choice, comparison, verb)) {
    record.notes.push_back(line);
    output += fmt::format("note: {}\n", line);
  }
  if (choice.out) {
    write_table(comparison_rows(comparison), *choice.out);
    add_file(record, output, *choice.out);
  }
  FitOutcome saved;
  if (choice.save) {
    const ComparedKernel& best = comparison.kernels[comparison.best];
    const FitOptions options = choice.fit_options(kernel_choice(best), best.lambda, *choice.save);
    const KernelRequest kernel = options.kernel.request(options.common);
    saved = fit_to_file(options, kernel, data, fit_settings(options, kernel, request), *engine);
    record.results["fit"] = saved.results;
    output += saved.text + fmt::format("written to {}\n", *choice.save);
  }
  if (choice.common.report) {
    write_comparison_page(choice, data.train.name, comparison, saved, record.page_settings());
    add_report(record, output, *choice.common.report);
  }
  print_result(choice.common, record, output);
  if (choice.save) check_ending(saved.fitted.machine.fit.summary);
}

}  // namespace

void add_compare(Program& program) {
  auto* verb = program.cli.add_subcommand("compare", "Compare several kernels, each tuned, on the same folds");
  const auto choice = std::make_shared<CompareChoice>();
  constexpr const char* group = "Kernels";
  verb->add_option("--networks", choice->networks, "Networks, separated by ';'; may be repeated")
      ->type_name("\"NET;NET\"")
      ->allow_extra_args(false)
      ->group(group);
  verb->add_option("--kernels", choice->kernels,
                   "Classical kernels: linear, polynomial, rbf, laplace, arccosine. The parameters are selected too "
                   "unless given, e.g. \"rbf(gamma=0.5)\"")
      ->type_name("K1,K2,…")
      ->allow_extra_args(false)
      ->group(group);
  verb->add_option("--kind", choice->kind, "ntk, nngp, or ntk,nngp for both kernels of each network")
      ->type_name("KIND")
      ->capture_default_str()
      ->group(group);
  verb->add_flag("--sweep", choice->sweep, "Also select the depth and the number of frozen layers of each network")
      ->group(group);
  constexpr const char* machine = "Machine";
  add_selection_options(*verb, *choice, machine, "powers of ten, relative to the scale of each kernel");
  verb->add_option("--inner-folds", choice->inner_folds,
                   "Folds of the training part, for the selection of λ; ridge uses leave-one-out")
      ->type_name("N")
      ->capture_default_str()
      ->group(machine);
  constexpr const char* output = "Output";
  verb->add_option("--out", choice->out, "File of the table")->type_name("FILE.csv|.tsv|.json")->group(output);
  verb->add_option("--save", choice->save,
                   "Fit the best kernel to all training samples and write the model to this file")
      ->type_name("MODEL.h5")
      ->group(output);
  verb->add_flag("--probability", choice->probability, "With --save: probabilities of an SVM, as in fit")
      ->group(output);
  add_train_option(*verb, choice->data);
  add_data_options(*verb, choice->data, true);
  add_common_options(*verb, choice->common);
  set_example(
      *verb,
      "widelimit compare --train digits --limit 400 --scale unit --networks \"fc:1;fc:3\" --kernels rbf,laplace");
  verb->callback([choice, verb, &program] { program.action = [choice, verb] { run_compare(*choice, *verb); }; });
}

}  // namespace widelimit::app
