#include "app/fit/fit_outcome.hpp"
#include "app/fit/machine_pages.hpp"
#include "app/fit/selection_options.hpp"
#include "app/kernel/kernel_file.hpp"
#include "app/shell/data_options.hpp"
#include "app/shell/interrupt.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/labels/labels.hpp"
#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/request.hpp"
#include "widelimit/machine/tune.hpp"
#include "widelimit/network/network.hpp"

#include <algorithm>

namespace widelimit::app {

namespace {

struct TuneChoice : SelectionChoice {
  std::vector<std::string> networks;
  bool sweep = false;
  LabelAwareChoice label_aware;
  std::optional<std::string> out;
};

/// Candidate kernels with their errors, and the network of each.
struct Candidates {
  std::vector<LambdaPath> paths;
  std::vector<Network> networks;
};

/// Returns the options with the default λ if none are given.
TuneOptions tune_options(const TuneChoice& choice, Progress* progress) {
  TuneOptions options = choice.tune_options(progress);
  if (options.lambdas.empty()) options.lambdas = usual_lambdas();
  options.label_aware = choice.label_aware.options(choice.common.seed);
  return options;
}

std::vector<TunePoint> tune_on(const TuneChoice& choice, const GramMatrix& k, bool semidefinite, const Dataset& data,
                               TuneOptions options) {
  stop_if_interrupted();
  options.machine.class_weights = choice.class_weights.of(data.class_names);
  options.machine.check_definite = !semidefinite;
  options.samples = data.view();
  if (!data.labels.empty() && options.machine.machine != Machine::svr) {
    const bool leave_one_out = choice.uses_leave_one_out() && !options.label_aware;
    if (!leave_one_out && options.given_folds.empty()) require_members(data, 2, "folds need");
    return tune_classes(k, data.labels, std::ssize(data.class_names), options);
  }
  if (data.targets.empty()) fail(Code::input, "{} has no labels; --label names their column", data.name);
  return tune_values(k, data.targets, options);
}

/// Throws Error{resource} if the kernels of `request`, with the precision of the choice, exceed the allowed memory.
void require_kernel_memory(const TuneChoice& choice, KernelRequest request, const Dataset& data, const Engine& engine) {
  request.precision = parse_precision(choice.common.precision);
  require_matrix_memory(engine, result_bytes(request, data.count(), 0, data.shape), choice.common.memory_limit(),
                        fmt::format("this kernel of {} samples", data.count()),
                        "use fewer samples or single precision, or allow more");
}

/// Tunes every depth and every number of frozen layers of one network, with all kernels from one pass. Networks without
/// a trained layer are skipped.
Candidates tune_sweep(const TuneChoice& choice, const Dataset& data, const Engine& engine) {
  ProgressBar bar(choice.common);
  const Network network = Network::parse(choice.networks.front());
  require_trained_layer(network, Kind::ntk);
  require_kernel_memory(choice, {.kernel = network, .quantity = KernelQuantity::sweep}, data, all_processors());
  const DeviceMemoryLimit limit(engine, choice.common.memory_limit());
  const Sweep all = sweep(network, data.view(), {Kind::ntk, parse_precision(choice.common.precision), &bar}, engine);
  warn_quadrature(choice.common, all.quadrature_error, parse_precision(choice.common.precision));
  const TuneOptions options = tune_options(choice, &bar);
  Candidates candidates;
  for (Index depth = 0; depth <= all.hidden_layers; ++depth) {
    for (Index frozen = 0; frozen <= depth; ++frozen) {
      const Network cut = cut_network(network, depth, frozen);
      if (!has_trained_layer(cut.layers)) continue;
      const Index place = (depth * (all.hidden_layers + 1) + frozen) * all.count;
      const AnyView k = std::visit(
          [&](const auto& stack) { return AnyView(stack.view().block(place, 0, all.count, all.count)); }, all.values);
      candidates.paths.push_back(
          {fmt::format("{} hidden, {} frozen", depth, frozen), tune_on(choice, {k, engine}, true, data, options)});
      candidates.networks.push_back(cut);
    }
  }
  return candidates;
}

Candidates tune_networks(const TuneChoice& choice, const Dataset& data, const Engine& engine) {
  ProgressBar bar(choice.common);
  const TuneOptions options = tune_options(choice, &bar);
  const Kind kind = parse_kind(choice.kind);
  Candidates candidates;
  for (const std::string& text : choice.networks) {
    candidates.networks.push_back(Network::parse(text));
    require_trained_layer(candidates.networks.back(), kind);
    require_kernel_memory(choice, {.kernel = candidates.networks.back(), .kind = kind}, data, engine);
    const DeviceMemoryLimit limit(engine, choice.common.memory_limit());
    const Precision precision = parse_precision(choice.common.precision);
    const EngineGram found =
        engine_gram(candidates.networks.back(), data.view(), std::nullopt, {kind, precision, &bar}, engine);
    warn_quadrature(choice.common, found.quadrature_error, precision);
    const GramMatrix k(kind == Kind::ntk ? found.ntk : found.nngp, engine);
    candidates.paths.push_back({text, tune_on(choice, k, found.semidefinite(), data, options)});
  }
  return candidates;
}

/// Returns the indices of the candidate and the point with the smallest error.
std::pair<std::size_t, std::size_t> best_of(const std::vector<LambdaPath>& candidates) {
  std::vector<TunePoint> bests;
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (const auto best = best_point(candidates[c].points)) {
      bests.push_back(candidates[c].points[*best]);
      places.emplace_back(c, *best);
    }
  }
  const auto best = best_point(bests);
  if (!best) {
    const std::string& why = candidates.front().points.front().message;
    fail(Code::numerical, "no fit converged{}{}; try larger λ (--lambdas)", why.empty() ? "" : ": ", why);
  }
  return places[*best];
}

Table candidates_table(const std::vector<LambdaPath>& candidates, bool weighted) {
  const bool classes = candidates.front().points.front().misclassified.has_value();
  const std::string held_out = classes ? "held-out error rate" : "held-out squared error";
  Table table{.columns = {"kernel", "lambda", weighted ? held_out + ", weighted" : held_out, "training error"}};
  for (const LambdaPath& candidate : candidates) {
    for (const TunePoint& point : candidate.points) {
      const auto cell = [](std::optional<double> error) { return error ? Cell(*error) : Cell(); };
      table.rows.push_back(
          {candidate.name, fmt::format("{:.3g}", point.lambda), cell(point.error()), cell(point.training_error())});
    }
  }
  return table;
}

nlohmann::ordered_json candidates_json(const std::vector<LambdaPath>& candidates) {
  auto json = nlohmann::ordered_json::array();
  for (const LambdaPath& candidate : candidates) {
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    for (const TunePoint& point : candidate.points) {
      nlohmann::ordered_json entry{{"lambda", point.lambda}};
      if (point.misclassified) entry["misclassified"] = *point.misclassified;
      if (point.squared_error) entry["squared_error"] = *point.squared_error;
      if (const auto training = point.training_error()) entry["training_error"] = *training;
      if (point.unsolved > 0) entry["unsolved"] = point.unsolved;
      points.push_back(std::move(entry));
    }
    json.push_back({{"kernel", candidate.name}, {"points", std::move(points)}});
  }
  return json;
}

/// Returns what the error of the best candidate does not tell.
std::vector<std::string> remarks_on(const std::vector<LambdaPath>& candidates, std::size_t chosen,
                                    const TunePoint& best, bool tested) {
  std::vector<std::string> remarks;
  const std::vector<TunePoint>& points = candidates[chosen].points;
  const auto [least, most] = std::minmax_element(
      points.begin(), points.end(), [](const TunePoint& a, const TunePoint& b) { return a.lambda < b.lambda; });
  if (points.size() > 1 && (best.lambda == least->lambda || best.lambda == most->lambda)) {
    const bool low = best.lambda == least->lambda;
    remarks.push_back(fmt::format("the selected λ is the {} of those tried; try {} values (--lambdas)",
                                  low ? "smallest" : "largest", low ? "smaller" : "larger"));
  }
  std::size_t tried = 0;
  for (const LambdaPath& candidate : candidates) tried += candidate.points.size();
  if (tried > 1) {
    remarks.push_back(
        fmt::format("the error is the smallest of {} on the samples that selected it, and therefore optimistic{}",
                    tried, tested ? "" : "; --out with --test or --split scores the choice on other samples"));
  }
  return remarks;
}

/// Returns the options with which `fit` fits the selected machine.
FitOptions fit_options(const TuneChoice& choice, const Network& network, double lambda) {
  FitOptions options = choice.fit_options({.network = network.to_text(), .kind = choice.kind}, lambda, *choice.out);
  options.label_aware = choice.label_aware;
  return options;
}

void check_choice(const TuneChoice& choice, const DataRequest& request) {
  choice.check_fold_file(request);
  (void)tune_options(choice, nullptr);
  if (choice.sweep && choice.networks.size() > 1) fail(Code::usage, "--sweep accepts only one --network");
  if (parse_kind(choice.kind) == Kind::both) {
    fail(Code::usage, "--kind {}: a machine has one kernel, ntk or nngp", choice.kind);
  }
  if (choice.sweep && choice.kind != "ntk") {
    fail(Code::usage, "--sweep --kind {}: a sweep supports only the NTK; leave out --kind", choice.kind);
  }
  if (choice.out) {
    (void)fit_options(choice, Network::parse(choice.networks.front()), 1).machine_options();
    check_model_path(*choice.out);
    return;
  }
  if (request.test || request.split) {
    fail(Code::usage,
         "--test and --split require --out: only the written model is tested; λ is selected on training samples");
  }
  if (choice.probability) fail(Code::usage, "--probability requires --out");
}

void run_tune(const TuneChoice& choice) {
  choice.common.check_report(true);
  const DataRequest request = choice.data.parsed();
  check_choice(choice, request);
  const auto engine = choice.common.make_engine();
  const TrainTest loaded = load_request(choice.common, request);
  const Dataset& data = loaded.train;
  require_one_target(data);
  const std::vector<std::string> fold_notes = choice.fold_notes(data);
  for (const std::string& text : choice.networks) warn_layout(choice.common, Network::parse(text), data.shape);
  const Candidates found = choice.sweep ? tune_sweep(choice, data, *engine) : tune_networks(choice, data, *engine);
  const std::vector<LambdaPath>& candidates = found.paths;
  const auto [chosen, place] = best_of(candidates);
  const TunePoint& best = candidates[chosen].points[place];

  Record record("tune");
  record.settings["networks"] = choice.networks;
  record.settings["sweep"] = choice.sweep;
  record.settings["kind"] = choice.kind;
  choice.write_settings(record.settings);
  choice.label_aware.write_settings(record.settings);
  record.settings["data"] = data_settings(request);
  record.notes = loaded.notes;
  record.notes.insert(record.notes.end(), fold_notes.begin(), fold_notes.end());
  record.seed = choice.common.seed;
  record.ran_on(*engine, parse_precision(choice.common.precision));
  const bool leave_one_out = choice.uses_leave_one_out() && !choice.label_aware.method;
  const std::string method = leave_one_out ? "leave-one-out" : choice.folds_text();
  record.results["method"] = method;
  record.results["candidates"] = candidates_json(candidates);
  record.results["best"] = {{"kernel", candidates[chosen].name}, {"lambda", best.lambda}, {"error", *best.error()}};
  const Table table = candidates_table(candidates, choice.class_weights.given());
  const std::string sentence = fmt::format("best by {}: {}, --lambda {:.6g}, error {:.4g}", method,
                                           candidates[chosen].name, best.lambda, *best.error());
  std::string output = table_text(table) + sentence + "\n";
  for (const std::string& remark : remarks_on(candidates, chosen, best, loaded.test.has_value())) {
    record.notes.push_back(remark);
    output += fmt::format("note: {}\n", remark);
  }
  FitOutcome refitted;
  if (choice.out) {
    const FitOptions options = fit_options(choice, found.networks[chosen], best.lambda);
    const KernelRequest kernel = options.kernel.request(options.common);
    refitted = fit_to_file(options, kernel, loaded, fit_settings(options, kernel, request), *engine);
    add_timings(record, refitted);
    record.results["fit"] = refitted.results;
    output += refitted.text + fmt::format("written to {}\n", *choice.out);
  }
  if (choice.common.report) {
    write_tune_page(*choice.common.report, sentence, candidates, method, {chosen, place}, table, refitted.scores,
                    refitted.model.classes, record.page_settings());
    add_report(record, output, *choice.common.report);
  }
  print_result(choice.common, record, output);
  if (choice.out) check_ending(refitted.fitted.machine.fit.summary);
}

}  // namespace

void add_tune(Program& program) {
  auto* verb = program.cli.add_subcommand("tune", "Select λ and the best of several networks, and write the model");
  const auto choice = std::make_shared<TuneChoice>();
  constexpr const char* group = "Machine";
  verb->add_option("--network", choice->networks, "Network; may be repeated")
      ->type_name("NET")
      ->required()
      ->allow_extra_args(false)
      ->group(group);
  verb->add_flag("--sweep", choice->sweep, "Tune every depth and every number of frozen layers of the network")
      ->group(group);
  verb->add_option("--kind", choice->kind, "ntk or nngp")->type_name("KIND")->capture_default_str()->group(group);
  add_selection_options(*verb, *choice, group, "13 from 1e-4 to 100");
  add_label_aware_options(*verb, choice->label_aware, group, Psd::clip);
  verb->add_option("--out", choice->out,
                   "Fit the selected machine to all training samples and write the model to this file")
      ->type_name("MODEL.h5")
      ->group(group);
  verb->add_flag("--probability", choice->probability, "With --out: probabilities of an SVM, as in fit")->group(group);
  add_train_option(*verb, choice->data);
  add_data_options(*verb, choice->data, true);
  add_common_options(*verb, choice->common);
  set_example(*verb, "widelimit tune --network fc:4 --sweep --train digits --limit 500 --scale unit --machine ridge");
  verb->callback([choice, &program] { program.action = [choice] { run_tune(*choice); }; });
}

}  // namespace widelimit::app
