#include "experiments/experiments.hpp"

#include "experiments/log_slope.hpp"
#include "experiments/tasks/digit_pair.hpp"
#include "widelimit/report/figures/equivalence_figures.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace widelimit::experiment {

namespace {

/// Few records, since evaluating a wide network on all images costs as much as hundreds of steps of 64.
constexpr Index stochastic_records = 11;

/// Adds the result of one call of `equivalence` to the outcome.
void add_comparison(const Setting& setting, Outcome& outcome, const std::string& key, const std::string& heading,
                    const Equivalence& result, const std::string& published) {
  Part part{.heading = heading, .table = equivalence_table(result), .words = {}, .pictures = {}};
  for (const std::string& sentence : slope_sentences(result)) part.words += sentence + " ";
  part.words += "Published: " + published;
  if (setting.figures && !result.paths.empty()) part.pictures = equivalence_figures(result);
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  write_slope(json, result.slope);
  for (const EquivalenceRun& run : result.runs) {
    json["runs"].push_back({{"width", run.width},
                            {"seed", run.seed},
                            {"difference", run.difference},
                            {"loss", run.loss},
                            {"machine_loss", run.machine_loss}});
  }
  outcome.results[key] = std::move(json);
  double seconds = result.kernel_seconds;
  for (const EquivalenceRun& run : result.runs) seconds += run.seconds;
  outcome.timings.emplace_back(heading, seconds);
  outcome.sentence += fmt::format("{}{}: largest difference {:.3g} at width {}, {:.3g} at width {}.",
                                  outcome.sentence.empty() ? "" : " ", heading, result.difference.front(),
                                  result.runs.front().width, result.difference.back(), result.runs.back().width);
  if (outcome.trouble.empty()) outcome.trouble = result.trouble();
  outcome.parts.push_back(std::move(part));
}

void full_batch(const Setting& setting, Outcome& outcome) {
  const DigitPair pair = digit_pair(setting, setting.count("samples", 2), 0);
  for (const double rate : {0.1, 0.01}) {
    const EquivalenceOptions options = digit_options(setting, pair, rate);
    add_comparison(
        setting, outcome, rate == 0.1 ? "rate_0.1" : "rate_0.01",
        fmt::format("Figure 1, {} images, rate {:g}", pair.data.train.count(), rate),
        compare_digits(setting, pair, setting.text("network"), options),
        "the SVM agrees better with wider networks, and very well at width 10,000 (curves without numbers).");
  }
}

void stochastic(const Setting& setting, Outcome& outcome) {
  const DigitPair pair = digit_pair(setting, setting.count("sgd-samples", 2), setting.count("sgd-tests", 1));
  EquivalenceOptions options = digit_options(setting, pair, 1);
  options.train.batch = std::min<Index>(64, pair.data.train.count());
  options.train.records = stochastic_records;
  add_comparison(
      setting, outcome, "stochastic",
      fmt::format("Figure A.1, batches of {} of {} images, rate 1", options.train.batch, pair.data.train.count()),
      compare_digits(setting, pair, setting.text("network"), options),
      "networks and SVM agree under stochastic descent on all 12,665 images (curves without numbers).");
}

}  // namespace

Experiment equivalence_figure() {
  return {.name = "equivalence",
          .summary = "Networks and the SVM of their NTK during training on MNIST 0 and 1",
          .work =
              "Chen et al. 2021, On the Equivalence between Neural Network and Support Vector Machine, Figures 1 "
              "and A.1",
          .options = {{"network", "NET", "Network; the work uses three layers", "fc:2(w_std=1.4142)", ""},
                      {"samples", "N", "Training images for full batches", "128", ""},
                      {"sgd-samples", "N", "Training images for mini-batches", "1000", "12665"},
                      {"sgd-tests", "N", "Test images for mini-batches", "200", "2115"},
                      {"widths", "M1,M2,…", "Widths of the networks", "64,256,512", "100,300,1000,3000,10000"},
                      {"seeds", "N", "Networks per width", "2", "1"},
                      {"steps", "N", "Training steps", "150", "1000"},
                      {"lambda", "L", "λ, relative to the sum of losses", "1", ""}},
          .run = [](const Setting& setting) {
            (void)Network::parse(setting.text("network"));
            Outcome outcome;
            full_batch(setting, outcome);
            stochastic(setting, outcome);
            return outcome;
          }};
}

}  // namespace widelimit::experiment
