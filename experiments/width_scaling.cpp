#include "experiments/width_scaling.hpp"

#include "experiments/digit_pair.hpp"
#include "widelimit/report/equivalence_figures.hpp"

#include <fmt/format.h>

#include <cmath>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// Largest rate on the mean of losses, and steps as asked for: outputs come near the margin and stay in the regime
/// where a network is nearly linear.
constexpr double mean_rate = 0.1;

void add_slope(Part& part, Json& json, const std::string& name, const Equivalence& result,
               const std::string& published) {
  const bool ended = result.trouble().empty();
  part.table.rows.push_back({name, ended ? slope_text(result.slope) : result.trouble(),
                             ended ? Cell(result.difference.front()) : Cell(),
                             ended ? Cell(result.difference.back()) : Cell(), published});
  Json entry{{"name", name}, {"difference", result.difference}};
  tell_fit(entry, result.slope);
  json.push_back(std::move(entry));
}

Part slope_part(const std::string& heading, const std::string& first) {
  Part part;
  part.heading = heading;
  part.table.columns = {first, "slope [95 %]", "narrowest", "widest", "stated"};
  return part;
}

void by_regulariser(const Setting& setting, const DigitPair& pair, Outcome& outcome) {
  Part part = slope_part("By regulariser, hinge loss", "regulariser");
  Json json = Json::array();
  for (const Regulariser regulariser : {Regulariser::output, Regulariser::weights, Regulariser::init}) {
    EquivalenceOptions options = digit_options(setting, pair, mean_rate);
    options.train.regulariser = regulariser;
    const Equivalence result = compare_digits(setting, pair, setting.text("network"), options);
    add_slope(part, json, std::string(to_string(regulariser)), result,
              regulariser == Regulariser::output ? "-1/2 (Theorem 3.5, with the network's own kernel)"
              : regulariser == Regulariser::init ? "-1/2"
                                                 : "none");
    if (regulariser == Regulariser::init) {
      outcome.sentence = fmt::format("Distance to initialisation, hinge: slope {}.", slope_text(result.slope));
      if (setting.figures && !result.paths.empty()) part.pictures.push_back(difference_by_width(result));
    }
  }
  part.words =
      "The machine has the kernel of infinite width. Under `output` the last layer's part of the network's kernel "
      "grows "
      "with the width; under `weights` λ vanishes with it: neither has this machine for a limit.";
  outcome.results["regularisers"] = std::move(json);
  outcome.parts.push_back(std::move(part));
}

void by_loss(const Setting& setting, const DigitPair& pair, Outcome& outcome) {
  Part part = slope_part("By loss, distance to initialisation", "loss");
  Json json = Json::array();
  for (const LossKind loss :
       {LossKind::squared, LossKind::hinge, LossKind::squared_hinge, LossKind::insensitive, LossKind::logistic}) {
    EquivalenceOptions options = digit_options(setting, pair, mean_rate);
    options.train.loss.kind = loss;
    const Equivalence result = compare_digits(setting, pair, setting.text("network"), options);
    add_slope(part, json, std::string(to_string(loss)), result, "-1/2");
    if (outcome.trouble.empty()) outcome.trouble = result.trouble();
  }
  part.words = "The losses of Table 1. Stated: Theorem 3.5, O(ln m/√m) for all of them.";
  outcome.results["losses"] = std::move(json);
  outcome.parts.push_back(std::move(part));
}

/// Theorem 3.5 compares with the network's own kernel before training, and bounds by 1/λ.
void by_lambda(const Setting& setting, const DigitPair& pair, Outcome& outcome) {
  Part part{.heading = "By λ, the network's own kernel", .table = {}, .words = {}, .pictures = {}};
  part.table.columns = {"lambda", "difference at the end", "times lambda"};
  Json json = Json::array();
  std::vector<double> x;
  std::vector<double> y;
  for (const double factor : {1.0, 4.0, 16.0}) {
    EquivalenceOptions options = digit_options(setting, pair, mean_rate);
    options.train.lambda *= factor;
    options.kernel = MachineKernel::start;
    options.widths = {options.widths.front()};
    const Equivalence result = compare_digits(setting, pair, setting.text("network"), options);
    if (!result.trouble().empty()) {
      if (outcome.trouble.empty()) outcome.trouble = result.trouble();
      continue;
    }
    double mean = 0;
    for (const EquivalenceRun& run : result.runs)
      mean += run.final_difference / static_cast<double>(result.runs.size());
    part.table.rows.push_back({options.train.lambda, mean, mean * options.train.lambda});
    json.push_back({{"lambda", options.train.lambda}, {"final_difference", mean}});
    x.push_back(std::log(options.train.lambda));
    y.push_back(std::log(std::max(mean, 1e-300)));
  }
  part.words = fmt::format(
      "Slope of log difference against log λ: {}. Stated: a bound that falls as 1/λ, slope −1 (Theorem 3.5).",
      slope_text(fit_line(x, y)));
  outcome.results["lambdas"] = std::move(json);
  outcome.parts.push_back(std::move(part));
}

}  // namespace

Experiment width_scaling() {
  return {.name = "width-scaling",
          .summary = "How the difference of network and machine falls with the width, by regulariser, loss and λ",
          .work =
              "Chen et al. 2021, On the Equivalence between Neural Network and Support Vector Machine, Theorem 3.5 "
              "and Table 1",
          .options = {{"network", "NET", "Network; the work has three layers", "fc:2(w_std=1.4142)", ""},
                      {"samples", "N", "Training images of 0 and 1", "32", "128"},
                      {"tests", "N", "Test images", "16", "64"},
                      {"widths", "M1,M2,…", "Widths of the networks", "64,256,512", "256,1024,4096"},
                      {"seeds", "N", "Networks of each width", "4", "8"},
                      {"steps", "N", "Steps of training", "100", "300"},
                      {"lambda", "L", "λ beside the sum of losses", "4", ""}},
          .run = [](const Setting& setting) {
            (void)Network::parse(setting.text("network"));
            const DigitPair pair = digit_pair(setting, setting.count("samples", 2), setting.count("tests", 1));
            Outcome outcome;
            by_regulariser(setting, pair, outcome);
            by_loss(setting, pair, outcome);
            by_lambda(setting, pair, outcome);
            return outcome;
          }};
}

}  // namespace widelimit::experiment
