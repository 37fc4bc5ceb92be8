#include "app/shell/interrupt.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"
#include "app/train/train_options.hpp"

#include "widelimit/analysis/equivalence/equivalence.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/finite/training/network_targets.hpp"
#include "widelimit/report/figures/equivalence_figures.hpp"

namespace widelimit::app {

namespace {

/// Values of the options of `equivalence`.
struct EquivalenceChoice {
  TrainChoice train;
  std::vector<Index> widths;
  Index seeds = EquivalenceOptions{}.seeds;
  std::string kernel{to_string(EquivalenceOptions{}.kernel)};
  bool parts = EquivalenceOptions{}.parts;

  [[nodiscard]] EquivalenceOptions options() const {
    EquivalenceOptions result;
    result.train = train.options();
    result.widths = widths;
    result.seeds = seeds;
    result.kernel = parse_machine_kernel(kernel);
    result.parts = parts;
    result.validate();
    return result;
  }
};

void add_equivalence_options(CLI::App& verb, EquivalenceChoice& choice) {
  constexpr const char* group = "Networks and machine";
  TrainChoice& train = choice.train;
  verb.add_option("--network", train.network, "Network: text, preset, JSON, or a file with one of these")
      ->type_name("NET")
      ->required()
      ->group(group);
  verb.add_option("--widths", choice.widths, "Widths of the hidden layers of the networks to compare")
      ->type_name("M1,M2,…")
      ->delimiter(',')
      ->required()
      ->group(group);
  verb.add_option("--seeds", choice.seeds, "Networks per width, with seeds --seed, --seed + 1, …")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--machine-kernel", choice.kernel,
                  "limit (kernel of infinite width) or start (the network's own kernel before training)")
      ->type_name("K")
      ->capture_default_str()
      ->group(group);
  verb.add_flag("--parts", choice.parts,
                "Split the difference into the random error of the initial kernel and its change in training")
      ->group(group);
  verb.add_flag("--linearised", train.numbers.linearised, "Train networks linearised at initialisation")->group(group);
  verb.add_option("--records", train.numbers.records,
                  "Number of steps at which to compare, including the first and the last")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  add_training_options(verb, train);
  add_train_option(verb, train.data);
  add_data_options(verb, train.data, true);
  add_common_options(verb, train.common);
}

nlohmann::ordered_json equivalence_settings(const EquivalenceChoice& choice, const Network& network) {
  nlohmann::ordered_json settings = train_settings(choice.train, network, choice.train.data.parsed());
  for (const char* other : {"width", "optimiser", "momentum", "centred", "parameterisation"}) settings.erase(other);
  settings["widths"] = choice.widths;
  settings["seeds"] = choice.seeds;
  settings["machine_kernel"] = choice.kernel;
  settings["parts"] = choice.parts;
  return settings;
}

void add_slope(nlohmann::ordered_json& json, const std::string& key, const std::optional<LineFit>& slope) {
  json[key] = nullptr;
  json[key + "_interval"] = nullptr;
  if (!slope) return;
  json[key] = slope->slope;
  if (slope->interval) json[key + "_interval"] = {slope->interval->first, slope->interval->second};
}

void add_local_slopes(nlohmann::ordered_json& json, const Equivalence& result) {
  json["local_slopes"] = nlohmann::ordered_json::array();
  for (const WidthSlope& local : result.local_slopes) {
    nlohmann::ordered_json entry{{"from", local.from}, {"to", local.to}, {"slope", local.slope}, {"error", nullptr}};
    if (local.error) entry["error"] = *local.error;
    json["local_slopes"].push_back(std::move(entry));
  }
  json["settled"] = nullptr;
  if (result.straightness) json["settled"] = result.settled();
}

nlohmann::ordered_json run_json(const EquivalenceRun& run, bool parts) {
  nlohmann::ordered_json json{{"width", run.width},
                              {"seed", run.seed},
                              {"difference", run.difference},
                              {"train_difference", run.train_difference},
                              {"test_difference", run.test_difference},
                              {"final_difference", run.final_difference},
                              {"loss", run.loss},
                              {"machine_loss", run.machine_loss},
                              {"distance", run.weight_distance},
                              {"seconds", run.seconds}};
  if (parts) {
    json["kernel_part"] = run.kernel_part;
    json["movement_part"] = run.movement_part;
  }
  return json;
}

nlohmann::ordered_json equivalence_json(const Equivalence& result, const std::vector<Index>& widths) {
  nlohmann::ordered_json json{{"widths", widths}, {"difference", result.difference}};
  add_slope(json, "slope", result.slope);
  add_slope(json, "final_slope", result.final_slope);
  add_local_slopes(json, result);
  const bool parts = !result.kernel_part.empty();
  if (parts) {
    json["kernel_part"] = result.kernel_part;
    json["movement_part"] = result.movement_part;
    add_slope(json, "kernel_slope", result.kernel_slope);
    add_slope(json, "movement_slope", result.movement_slope);
  }
  if (!result.slope) json["note"] = "slope: " + slope_text(result.slope);
  if (!result.settled()) json["note"] = slope_sentences(result)[1];
  for (const EquivalenceRun& run : result.runs) json["runs"].push_back(run_json(run, parts));
  nlohmann::ordered_json paths = nlohmann::ordered_json::array();
  for (const EquivalencePath& path : result.paths) {
    paths.push_back({{"width", path.width},
                     {"difference", path.difference},
                     {"loss", path.loss},
                     {"machine_loss", path.machine_loss}});
  }
  json["record"] = {{"steps", result.steps}, {"paths", std::move(paths)}};
  return json;
}

void write_equivalence_page(const std::string& file, const std::string& title, const Equivalence& result,
                            const nlohmann::ordered_json& settings) {
  std::string output =
      "Networks of finite width and the kernel machine that is their limit, trained by the same steps and batches.";
  for (const std::string& sentence : slope_sentences(result)) output += " " + sentence;
  Page page(title, output);
  page.section("By width").table(equivalence_table(result));
  page.paragraph(
      "Difference is the largest |f − g| over all recorded steps, training and test points; all numbers are means over "
      "the seeds.");
  page.section("Comparison").figures(equivalence_figures(result));
  page.settings(settings).write(file);
}

void run_equivalence(const EquivalenceChoice& choice) {
  EquivalenceOptions options = choice.options();
  const CommonOptions& common = choice.train.common;
  const Network network = Network::parse(choice.train.network);
  const DataRequest loading = choice.train.data.parsed();
  const auto engine = common.make_engine();
  common.check_report(true);
  const TrainTest data = load_request(common, loading);
  warn_layout(common, network, data.train.shape);
  ProgressBar bar(common);
  options.train.progress = &bar;
  const NetworkTargets targets = network_targets(data, options.train.loss);
  const Equivalence result = equivalence(network, targets.with(data), options, *engine);
  if (const std::string trouble = result.trouble(); !trouble.empty()) fail(Code::numerical, "{}", trouble);

  Record record("equivalence");
  record.settings = equivalence_settings(choice, network);
  record.settings["rate"] = result.rate;
  record.notes = data.notes;
  record.seed = common.seed;
  record.ran_on(*engine, options.train.precision);
  record.timings.emplace_back("kernel", result.kernel_seconds);
  double seconds = 0;
  for (const EquivalenceRun& run : result.runs) seconds += run.seconds;
  record.timings.emplace_back("train", seconds);
  record.results = equivalence_json(result, options.widths);
  std::string output = table_text(equivalence_table(result));
  if (!options.train.rate) output += fmt::format("learning rate {:.4g}, stable for all widths\n", result.rate);
  for (const std::string& sentence : slope_sentences(result)) output += sentence + "\n";
  if (common.report) {
    write_equivalence_page(*common.report, fmt::format("Networks and their machine on {}", data.train.name), result,
                           record.page_settings());
    add_report(record, output, *common.report);
  }
  print_result(common, record, output);
}

}  // namespace

void add_equivalence(Program& program) {
  auto* verb = program.cli.add_subcommand(
      "equivalence", "Compare networks of several widths with the kernel machine that is their limit");
  const auto choice = std::make_shared<EquivalenceChoice>();
  add_equivalence_options(*verb, *choice);
  set_example(*verb,
              "widelimit equivalence --network fc:2 --train digits --classes 0,1 --scale unit --limit 32 "
              "--widths 64,256 --seeds 2 --loss hinge --lambda 1 --steps 50 --report equivalence.html");
  verb->callback([choice, &program] { program.action = [choice] { run_equivalence(*choice); }; });
}

}  // namespace widelimit::app
