#include "experiments/experiments.hpp"

#include "experiments/log_slope.hpp"
#include "experiments/tasks/digit_pair.hpp"
#include "widelimit/analysis/equivalence/line_fit.hpp"
#include "widelimit/report/figures/equivalence_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// Largest rate on the mean loss; outputs come close to the margin while the network stays nearly linear.
constexpr double mean_rate = 0.1;

void add_slope(Part& part, Json& json, const std::string& name, const Equivalence& result,
               const std::string& published) {
  const bool ended = result.trouble().empty();
  part.table.rows.push_back({name, ended ? slope_text(result.slope) : result.trouble(),
                             ended ? Cell(result.difference.front()) : Cell(),
                             ended ? Cell(result.difference.back()) : Cell(), published});
  Json entry{{"name", name}, {"difference", result.difference}};
  write_slope(entry, result.slope);
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
      "The machine has the infinite-width kernel. Under `output` the contribution of the last layer to the kernel of "
      "the network grows with the width; under `weights` λ vanishes with it: this machine is the limit of neither.";
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

/// Training time λT, close to convergence for every λ, and the largest step size relative to 1/λ.
constexpr double trained_time = 4;
constexpr double largest_share = 0.05;

/// Logarithms of λ and of the final difference of each network.
struct LambdaPoints {
  std::vector<double> lambda, difference;
};

/// Returns the sorted, unique values of the option.
std::vector<double> requested_lambdas(const Setting& setting) {
  std::vector<double> lambdas = setting.numbers("lambdas", 1e-6, 1e6);
  std::sort(lambdas.begin(), lambdas.end());
  lambdas.erase(std::unique(lambdas.begin(), lambdas.end()), lambdas.end());
  return lambdas;
}

EquivalenceOptions lambda_options(const Setting& setting, const DigitPair& pair, double lambda) {
  EquivalenceOptions options = digit_options(setting, pair, mean_rate);
  options.train.lambda = lambda;
  options.train.rate = std::min(options.train.rate.value(), largest_share / lambda);
  options.train.steps = static_cast<Index>(std::ceil(trained_time / (*options.train.rate * lambda)));
  options.train.records = 2;
  options.kernel = MachineKernel::start;
  options.widths = {options.widths.front()};
  return options;
}

void add_local_slopes(Part& part, Json& json, const LambdaPoints& points) {
  const std::vector<LocalSlope> slopes = local_slopes(points.lambda, points.difference);
  for (std::size_t k = 0; k < slopes.size(); ++k) {
    const std::string error = slopes[k].error ? fmt::format(" ± {:.2f}", *slopes[k].error) : "";
    part.table.rows[k + 1][3] = fmt::format("{:.2f}{}", slopes[k].slope, error);
    json[k + 1]["slope_from_before"] = slopes[k].slope;
    if (slopes[k].error) json[k + 1]["error"] = *slopes[k].error;
  }
}

/// Measures the difference by λ. Theorem 3.5 uses the empirical NTK at initialisation, and its bound is O(1/λ).
void by_lambda(const Setting& setting, const DigitPair& pair, const std::vector<double>& lambdas, Outcome& outcome) {
  Part part{.heading = "By λ, with the empirical NTK at initialisation", .table = {}, .words = {}, .pictures = {}};
  part.table.columns = {"lambda", "difference at the end", "times lambda", "slope from the λ above"};
  Json json = Json::array();
  LambdaPoints points;
  for (const double lambda : lambdas) {
    const EquivalenceOptions options = lambda_options(setting, pair, lambda);
    const Equivalence result = compare_digits(setting, pair, setting.text("network"), options);
    if (!result.trouble().empty()) {
      if (outcome.trouble.empty()) outcome.trouble = result.trouble();
      continue;
    }
    double mean = 0;
    for (const EquivalenceRun& run : result.runs) {
      mean += run.final_difference / static_cast<double>(result.runs.size());
      points.lambda.push_back(std::log(lambda));
      points.difference.push_back(std::log(std::max(run.final_difference, 1e-300)));
    }
    part.table.rows.push_back({lambda, mean, mean * lambda, Cell()});
    json.push_back({{"lambda", lambda}, {"steps", options.train.steps}, {"final_difference", mean}});
  }
  add_local_slopes(part, json, points);
  const auto fit = fit_line(points.lambda, points.difference);
  const auto straight = lack_of_fit(points.lambda, points.difference);
  part.words = fmt::format(
      "Width {}, trained until λT = {:g}. Slope of log difference against log λ over all networks: {}{}. Stated: a "
      "bound O(1/λ) (Theorem 3.5), which holds if the third column does not grow with λ.",
      setting.counts("widths", 1).front(), trained_time, slope_text(fit),
      straight && *straight < 0.05 ? "; a test rejects linearity" : "");
  outcome.results["lambdas"] = std::move(json);
  outcome.results["lambda_slope"] = Json::object();
  write_slope(outcome.results["lambda_slope"], fit);
  outcome.parts.push_back(std::move(part));
}

}  // namespace

Experiment width_scaling() {
  return {.name = "width-scaling",
          .summary = "Decay of the difference of network and machine with the width, by regulariser, loss and λ",
          .work =
              "Chen et al. 2021, On the Equivalence between Neural Network and Support Vector Machine, Theorem 3.5 "
              "and Table 1",
          .options = {{"network", "NET", "Network; the work uses three layers", "fc:2(w_std=1.4142)", ""},
                      {"samples", "N", "Training images of 0 and 1", "32", "128"},
                      {"tests", "N", "Test images", "16", "64"},
                      {"widths", "M1,M2,…", "Widths of the networks", "64,256,512", "128,512,2048"},
                      {"seeds", "N", "Networks per width", "4", "8"},
                      {"steps", "N", "Training steps", "100", "300"},
                      {"lambda", "L", "λ, relative to the sum of losses", "4", ""},
                      {"lambdas", "L1,L2,…", "λ of Theorem 3.5, at the narrowest width", "1,3,10,30,100,300",
                       "0.3,1,3,10,30,100,300,1000"}},
          .run = [](const Setting& setting) {
            (void)Network::parse(setting.text("network"));
            const DigitPair pair = digit_pair(setting, setting.count("samples", 2), setting.count("tests", 1));
            const std::vector<double> lambdas = requested_lambdas(setting);
            Outcome outcome;
            by_regulariser(setting, pair, outcome);
            by_loss(setting, pair, outcome);
            by_lambda(setting, pair, lambdas, outcome);
            return outcome;
          }};
}

}  // namespace widelimit::experiment
