#include "experiments/experiments.hpp"

#include "experiments/tasks/unit_pair.hpp"
#include "widelimit/analysis/spectrum/label_choice.hpp"
#include "widelimit/analysis/spectrum/label_spectrum.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/data/labels/label_noise.hpp"
#include "widelimit/machine/ridge/ridge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// Options, parsed and validated before any computation.
struct ComplexityChoice {
  std::vector<std::string> sets;
  Index samples = 0;
  Index tests = 0;
  std::vector<double> shares;
  Index draws = 0;
};

/// Means over draws of random labels.
struct ComplexityRow {
  double share = 0;
  double complexity = 0;       ///< √(2yᵀH⁻¹y/n)
  double smallest = HUGE_VAL;  ///< over the draws
  double largest = 0;
  double error = 0;     ///< on test labels with the same noise
  double clean = 0;     ///< on the true test labels
  double absolute = 0;  ///< mean |f − y| on test labels with the same noise
};

/// Replaces test labels by random labels with the same probability, independently of the training labels.
std::vector<Index> replaced_tests(const Dataset& test, double share, std::uint64_t seed) {
  // A random label of two classes equals the old one with probability ½.
  return flip_labels(test.labels, 2, share / 2, seed + (std::uint64_t{1} << 40));
}

ComplexityRow row_of(const Setting& setting, const ComplexityChoice& choice, const UnitPair& pair,
                     const KernelSpectrum& spectrum, double share) {
  stop_if_requested(setting.progress);
  const Dataset& train = pair.data.train;
  const Dataset& test = *pair.data.test;
  // One factorisation for all draws, one column per draw.
  Matrix<double> y(train.count(), choice.draws, Content::unset);
  ComplexityRow row{.share = share};
  for (Index draw = 0; draw < choice.draws; ++draw) {
    const Matrix<double> one =
        label_targets({.kind = LabelKind::random, .share = share}, {.classes_of = train.labels, .classes = 2}, spectrum,
                      setting.seed + static_cast<std::uint64_t>(draw));
    for (Index i = 0; i < train.count(); ++i) y(i, draw) = one(i, 0);
    const auto found = LabelSpectrum(spectrum, one.view()).complexity();
    if (!found) fail(Code::numerical, "{}: the kernel is singular; use other images", pair.set);
    const double complexity = *found;
    row.complexity += complexity / static_cast<double>(choice.draws);
    row.smallest = std::min(row.smallest, complexity);
    row.largest = std::max(row.largest, complexity);
  }
  const Fit fit = fit_regression({view_of(pair.k), setting.engine}, y.view());
  if (!fit.summary.converged()) fail(Code::numerical, "kernel regression: {}", fit.summary.message);
  const Matrix<double> f = decision(fit, view_of(pair.k_test), setting.engine);
  const double each = 1 / static_cast<double>(choice.draws * test.count());
  for (Index draw = 0; draw < choice.draws; ++draw) {
    const std::vector<Index> noisy = replaced_tests(test, share, setting.seed + static_cast<std::uint64_t>(draw));
    for (Index i = 0; i < test.count(); ++i) {
      const bool second = f(i, draw) > 0;
      row.error += second != (noisy[usize(i)] == 1) ? each : 0.0;
      row.clean += second != (test.labels[usize(i)] == 1) ? each : 0.0;
      row.absolute += std::abs(f(i, draw) - (noisy[usize(i)] == 1 ? 1 : -1)) * each;
    }
  }
  return row;
}

void complexity_of_set(const Setting& setting, const ComplexityChoice& choice, const std::string& set,
                       Outcome& outcome) {
  const UnitPair pair = unit_pair(setting, set, "relu", choice.samples, choice.tests);
  const KernelSpectrum spectrum(GramMatrix(view_of(pair.k), setting.engine),
                                {.memory = setting.memory, .progress = setting.progress});
  Part part{.heading = fmt::format("{}, classes {} and {}, {} training and {} test images", set,
                                   pair.data.train.class_names[0], pair.data.train.class_names[1],
                                   pair.data.train.count(), pair.data.test->count())};
  part.table.columns = {"random labels", "sqrt(2y'H^-1y/n)", "from", "to", "test error", "mean |f - y|", "clean error"};
  Json json = Json::array();
  Series complexity{.name = "sqrt(2y'H^-1y/n)"};
  Series error{.name = "test error"};
  Series absolute{.name = "mean |f - y|"};
  for (const double share : choice.shares) {
    const ComplexityRow row = row_of(setting, choice, pair, spectrum, share);
    part.table.rows.push_back({share, row.complexity, row.smallest, row.largest, row.error, row.absolute, row.clean});
    json.push_back({{"share", share},
                    {"complexity", row.complexity},
                    {"smallest", row.smallest},
                    {"largest", row.largest},
                    {"test_error", row.error},
                    {"absolute_error", row.absolute},
                    {"clean_error", row.clean}});
    for (Series* line : {&complexity, &error, &absolute}) line->x.push_back(share);
    complexity.y.push_back(row.complexity);
    error.y.push_back(row.error);
    absolute.y.push_back(row.absolute);
  }
  part.words = fmt::format(
      "Kernel regression with H*, means over {} (equal fractions of training and test labels are replaced by "
      "random labels; \"clean\" is the error on the true test labels). The bound holds up to terms that vanish with n, "
      "and is vacuous if it is at least 1. NT-L (figure without numbers): the complexity increases with the fraction "
      "of random labels, like the error.",
      counted(choice.draws, "draw"));
  if (setting.figures) {
    part.pictures.push_back(
        {.figure = curves({complexity, error, absolute}, {.title = "Label complexity and test error, " + set,
                                                          .x_label = "fraction of random labels",
                                                          .y_label = "value"})});
  }
  outcome.sentence +=
      fmt::format("{}{}: √(2yᵀH⁻¹y/n) increases from {:.3g} to {:.3g}, the test error from {:.3g} to {:.3g}.",
                  outcome.sentence.empty() ? "" : " ", set, complexity.y.front(), complexity.y.back(), error.y.front(),
                  error.y.back());
  outcome.results[set] = std::move(json);
  outcome.timings.emplace_back(set + " kernel", pair.seconds);
  outcome.parts.push_back(std::move(part));
}

}  // namespace

Experiment label_complexity() {
  return {.name = "label-complexity",
          .summary = "√(2yᵀH⁻¹y/n) and the test error against the fraction of random labels",
          .work =
              "Zhang 2024, Neural Tangent Kernel (lecture), the bound from labels and kernel: Arora, Du, Hu, Li and "
              "Wang 2019",
          .options = {{"sets", "S,…", "mnist, cifar10 or both", "mnist,cifar10", ""},
                      {"samples", "N", "Training images of the first two classes", "1000", "5000"},
                      {"tests", "N", "Test images", "1000", "2000"},
                      {"shares", "P,…", "Fractions of labels to replace", "0,0.2,0.4,0.6,0.8,1",
                       "0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1"},
                      {"draws", "N", "Draws of random labels", "5", "5"}},
          .run = [](const Setting& setting) {
            ComplexityChoice choice{.sets = requested_sets(setting),
                                    .samples = setting.count("samples", 4),
                                    .tests = setting.count("tests", 1),
                                    .shares = setting.numbers("shares", 0, 1),
                                    .draws = setting.count("draws", 1)};
            std::sort(choice.shares.begin(), choice.shares.end());
            Outcome outcome;
            for (const std::string& set : choice.sets) complexity_of_set(setting, choice, set, outcome);
            return outcome;
          }};
}

}  // namespace widelimit::experiment
