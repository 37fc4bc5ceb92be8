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
#include "widelimit/data/file/file.hpp"
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
  std::optional<std::string> out;   ///< of the table
  std::optional<std::string> save;  ///< of the model

  [[nodiscard]] bool named() const { return !networks.empty() || !kernels.empty(); }
};

/// Parts between separators outside of brackets, without blanks around them.
std::vector<std::string> parts_of(const std::string& text, std::string_view separators) {
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

/// Every name of every list. Error{usage} for an empty one.
std::vector<std::string> names_of(const std::vector<std::string>& lists, std::string_view separators,
                                  const char* option) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    for (std::string& name : parts_of(list, separators)) {
      if (name.empty()) fail(Code::usage, "{} '{}': a name is missing", option, list);
      names.push_back(std::move(name));
    }
  }
  return names;
}

/// Those that were named, classical kernels first.
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
  if (choice.inner_folds < 2) fail(Code::usage, "--inner-folds {}: choose 2 at least", choice.inner_folds);
  if (choice.sweep && choice.networks.empty()) fail(Code::usage, "--sweep is of --networks; name one");
  choice.common.check_apart(choice.out, choice.data.specs());
  if (choice.out && !is_table_file(*choice.out)) {
    fail(Code::usage, "--out {}: the name must end in .csv, .tsv or .json", *choice.out);
  }
  if (choice.out) check_writable(*choice.out, 0);
  if (choice.probability && !choice.save) fail(Code::usage, "--probability is of the machine that --save writes");
  if (!choice.save) return;
  (void)choice.fit_options({.network = "fc:1"}, 1, *choice.save).machine_options();
  choice.common.check_apart(choice.save, choice.data.specs({choice.out.value_or("")}));
  check_model_path(*choice.save);
}

/// What a reader should know, each with the options that help.
std::vector<std::string> notes_of(const CompareChoice& choice, const Comparison& comparison, const CLI::App& verb) {
  std::vector<std::string> notes = comparison.notes;
  for (const ComparedKernel& row : comparison.kernels) {
    if (!row.failure) continue;
    notes.push_back(fmt::format("{} failed: {}{}", row.candidate.name, row.failure->what(),
                                options_of(row.failure->remedies(), verb)));
  }
  if (choice.named()) return notes;
  notes.emplace_back("no kernels were named: these are the usual ones for such samples (--networks, --kernels)");
  return notes;
}

/// How errors were found, for records and pages.
std::string method_of(const CompareChoice& choice) {
  const bool ridge = parse_machine(choice.machine) == Machine::ridge;
  return fmt::format("{}, each with its own choice of kernel and λ by {}", choice.folds_text(),
                     ridge ? "leave-one-out" : fmt::format("{} folds of its training part", choice.inner_folds));
}

void write_comparison_page(const CompareChoice& choice, const std::string& name, const Comparison& comparison,
                           const FitOutcome& saved, const nlohmann::ordered_json& settings) {
  Page page(fmt::format("Kernels on {}", name), fmt::format("{}.", fmt::join(comparison_sentences(comparison), ". ")));
  page.section("Side by side").figure(comparison_bars(comparison)).sortable_table(comparison_ranking(comparison));
  page.paragraph(
      fmt::format("Held-out errors are by {}: no sample takes part in the choice that it is used to measure. The "
                  "kernel and λ in the "
                  "table are chosen once more by all training samples.",
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
  choice.tell(record.settings);
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
      choice.named() ? named_candidates(choice) : usual_candidates(data.train.view(), parse_kind(choice.kind));
  for (const Candidate& one : candidates) {
    if (const auto* network = std::get_if<Network>(&one.kernel)) {
      warn_of_layout(choice.common, *network, data.train.shape);
    }
  }
  ProgressBar bar(choice.common);
  CompareOptions options{.tune = choice.tune_options(&bar),
                         .inner_folds = choice.inner_folds,
                         .precision = parse_precision(choice.common.precision),
                         .memory = choice.common.memory_limit()};
  const Machine machine = options.tune.machine.machine;
  const FitTargets targets = fit_targets(machine, data.train);
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
  const TrainTest data = load_within(choice.common, request);
  require_one_target(data.train);
  const Comparison comparison = compare_on(choice, data, *engine);
  for (const ComparedKernel& row : comparison.kernels) {
    warn_of(choice.common, row.quadrature_error, parse_precision(choice.common.precision));
  }

  Record record = record_of(choice, request, comparison, *engine);
  record.notes = data.notes;
  std::string words = table_text(comparison_table(comparison));
  for (const std::string& sentence : comparison_sentences(comparison)) words += sentence + "\n";
  words += fmt::format("errors by {}\n", method_of(choice));
  for (const std::string& said : notes_of(choice, comparison, verb)) {
    record.notes.push_back(said);
    words += fmt::format("note: {}\n", said);
  }
  if (choice.out) {
    write_table(comparison_rows(comparison), *choice.out);
    record.results["file"] = *choice.out;
    words += fmt::format("written to {}\n", *choice.out);
  }
  FitOutcome saved;
  if (choice.save) {
    const ComparedKernel& best = comparison.kernels[comparison.best];
    const FitOptions options = choice.fit_options(kernel_choice(best), best.lambda, *choice.save);
    const KernelRequest kernel = options.kernel.request(options.common);
    saved = fit_to_file(options, kernel, data, fit_settings(options, kernel, request), *engine);
    record.results["fit"] = saved.results;
    words += saved.words + fmt::format("written to {}\n", *choice.save);
  }
  if (choice.common.report) {
    write_comparison_page(choice, data.train.name, comparison, saved, record.page_settings());
    record.results["report"] = *choice.common.report;
    words += fmt::format("report in {}\n", *choice.common.report);
  }
  deliver(choice.common, record, words);
  if (choice.save) check_ending(saved.fitted.machine.fit.summary);
}

}  // namespace

void add_compare(Program& program) {
  auto* verb = program.cli.add_subcommand("compare", "Several kernels, each tuned, on the same folds: which is best");
  const auto choice = std::make_shared<CompareChoice>();
  constexpr const char* group = "Kernels";
  verb->add_option("--networks", choice->networks, "Networks, apart by ';'; may be repeated")
      ->type_name("\"NET;NET\"")
      ->allow_extra_args(false)
      ->group(group);
  verb->add_option("--kernels", choice->kernels,
                   "Classical kernels: linear, polynomial, rbf, laplace, arccosine. A bare name also chooses its "
                   "parameters; with arguments, as \"rbf(gamma=0.5)\", it is that kernel")
      ->type_name("K1,K2,…")
      ->allow_extra_args(false)
      ->group(group);
  verb->add_option("--kind", choice->kind, "ntk, nngp, or ntk,nngp for both of each network")
      ->type_name("KIND")
      ->capture_default_str()
      ->group(group);
  verb->add_flag("--sweep", choice->sweep, "Each network also chooses its depth and its number of frozen layers")
      ->group(group);
  constexpr const char* machine = "Machine";
  add_selection_options(*verb, *choice, machine, "powers of ten, by the scale of each kernel");
  verb->add_option("--inner-folds", choice->inner_folds,
                   "Parts of the training part of a fold, for the choice of λ; ridge leaves one out")
      ->type_name("N")
      ->capture_default_str()
      ->group(machine);
  constexpr const char* output = "Output";
  verb->add_option("--out", choice->out, "Write the table here")->type_name("FILE.csv|.tsv|.json")->group(output);
  verb->add_option("--save", choice->save, "Fit the best to all training samples, and write the model here")
      ->type_name("MODEL.h5")
      ->group(output);
  verb->add_flag("--probability", choice->probability, "With --save: probabilities of an SVM, as fit has them")
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
