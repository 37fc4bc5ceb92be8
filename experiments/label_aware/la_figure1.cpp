#include "experiments/experiments.hpp"

#include "experiments/label_aware/la_two_layer.hpp"
#include "experiments/tasks/image_predictions.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/machine/ridge/ridge.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// Accuracy of ridgeless regression on the empirical NTK of a network after an epoch, and its local elasticity.
struct EpochRow {
  Index epoch = 0;
  std::optional<double> accuracy;  ///< on the test images of the probe set
  double elasticity = 0;           ///< of train–train pairs
  double other = 0;                ///< with the other labels of the same images, if any
};

EpochRow epoch_row(const Setting& setting, const ProbeKernels& kernels) {
  EpochRow row{.epoch = kernels.epoch, .elasticity = kernels.train_elasticity()};
  const Matrix<double> targets = class_targets(kernels.labels, 2);
  const Fit fit = fit_regression(GramMatrix(AnyView(kernels.k.view()), setting.engine), targets.view(),
                                 {.progress = setting.progress});
  const Matrix<double> g = decision(fit, AnyView(kernels.k_test.view()), setting.engine);
  const ImagePredictions predictions = image_predictions(fit, Scheme::sign, 2, g.view(), kernels.test_labels);
  if (predictions.solved()) row.accuracy = predictions.score.accuracy();
  return row;
}

struct Figure1Choice {
  std::vector<LaPair> pairs, systems;
  Index train, test;
  TwoLayerOptions network;
  std::vector<Index> epochs;  ///< at which kernels are evaluated, including 0

  explicit Figure1Choice(const Setting& setting)
      : pairs(requested_pairs(setting, "pairs")),
        systems(requested_pairs(setting, "systems")),
        train(setting.count("train", 4)),
        test(setting.count("test", 4)),
        network(requested_two_layer_options(setting)),
        epochs(setting.counts("at", 0)) {
    if (systems.size() != 2) {
      fail(Code::usage, "--systems {}: expected two pairs of classes", setting.text("systems"));
    }
    if (train % 4 != 0 || test % 4 != 0) {
      fail(Code::usage, "--train {} --test {}: expected multiples of 4, for equally many of four combinations", train,
           test);
    }
    epochs.push_back(0);
    epochs.push_back(network.epochs);
    std::sort(epochs.begin(), epochs.end());
    epochs.erase(std::unique(epochs.begin(), epochs.end()), epochs.end());
    if (epochs.back() > network.epochs) {
      fail(Code::usage, "--at {}: training ends after {}", setting.text("at"), counted(network.epochs, "epoch"));
    }
  }
};

/// Images with two label systems: each image is a pair of pictures, one with a class of each system.
struct TwoSystems {
  std::array<LaImages, 2> images;  ///< the same images with the labels of the first and of the second system
};

/// Concatenates pictures: sample k has class k mod 2 of the first system and ⌊k/2⌋ mod 2 of the second.
Dataset side_by_side(const Dataset& first, const Dataset& second, bool labels_of_second) {
  const auto& a = std::get<Matrix<float>>(first.values);
  const auto& b = std::get<Matrix<float>>(second.values);
  Dataset result;
  result.class_names = (labels_of_second ? second : first).class_names;
  Matrix<float> values(a.rows(), a.cols() + b.cols());
  for (Index k = 0; k < values.rows(); ++k) {
    const Index own = (k / 2) % 2;
    const Index partner = 2 * ((k / 4) * 2 + k % 2) + own;
    std::copy_n(a.view().row(k), a.cols(), values.view().row(k));
    std::copy_n(b.view().row(partner), b.cols(), values.view().row(k) + a.cols());
    result.labels.push_back(labels_of_second ? own : k % 2);
  }
  result.shape = {1, 1, values.cols()};
  result.values = std::move(values);
  return result;
}

TwoSystems two_systems(const LaSource& source, const Figure1Choice& choice) {
  const LaImages first = source.images(choice.systems[0], choice.train, choice.test);
  const LaImages second = source.images(choice.systems[1], choice.train, choice.test);
  TwoSystems result;
  for (const bool of_second : {false, true}) {
    result.images[of_second ? 1 : 0] = with_constant({.train = side_by_side(first.train, second.train, of_second),
                                                      .test = side_by_side(first.test, second.test, of_second)});
  }
  return result;
}

Json epoch_json(const std::string& task, const std::vector<EpochRow>& rows) {
  Json json = Json::array();
  for (const EpochRow& row : rows) {
    Json entry{{"task", task}, {"epoch", row.epoch}, {"elasticity", row.elasticity}};
    if (row.accuracy) entry["accuracy"] = *row.accuracy;
    json.push_back(std::move(entry));
  }
  return json;
}

/// Returns an empty table with one column per epoch.
Table epoch_table(const Figure1Choice& choice, const char* first) {
  Table table{.columns = {first}};
  for (const Index epoch : choice.epochs) table.columns.push_back(fmt::format("epoch {}", epoch));
  return table;
}

Illustration epoch_figure(const std::vector<Series>& series, const std::string& title, const std::string& label,
                          const std::string& caption) {
  Illustration shown;
  shown.figure = curves(series, {.title = title, .x_label = "epoch", .y_label = label});
  shown.caption = caption;
  return shown;
}

/// (a): accuracy gain of regression on K_t over K₀.
void add_accuracies(const Setting& setting, const LaSource& source, const Figure1Choice& choice, Outcome& outcome) {
  Part part{.heading = "(a) Accuracy of regression on K_t", .table = epoch_table(choice, "pair")};
  std::vector<Series> series;
  Json json = Json::array();
  double gained = 0;
  Index differences = 0;
  for (const LaPair& pair : choice.pairs) {
    stop_if_requested(setting.progress);
    std::vector<EpochRow> rows;
    along_training(setting, with_constant(source.images(pair, choice.train, choice.test)), choice.network,
                   choice.epochs, [&](const ProbeKernels& kernels) { rows.push_back(epoch_row(setting, kernels)); });
    std::vector<Cell> line{pair.name()};
    Series curve{.name = pair.name()};
    for (const EpochRow& row : rows) {
      line.emplace_back(row.accuracy ? fmt::format("{:.2f}", 100 * *row.accuracy) : "–");
      if (!row.accuracy || !rows.front().accuracy) continue;
      curve.x.push_back(static_cast<double>(row.epoch));
      curve.y.push_back(100 * (*row.accuracy - *rows.front().accuracy));
    }
    part.table.rows.push_back(std::move(line));
    if (!curve.y.empty()) {
      gained += curve.y.back();
      ++differences;
      series.push_back(std::move(curve));
    }
    json.push_back(epoch_json(pair.name(), rows));
  }
  part.words = fmt::format(
      "Ridgeless regression on the empirical NTK K_t of a network after each of these epochs; epoch 0 is K₀. {} "
      "training and {} test images of each pair; kernels of the first {}. Width {}, Adam with rate 3·10⁻⁴ and batches "
      "of 128, squared loss on 0 and 1. The work plots the differences without numbers.",
      choice.train, choice.test, choice.network.probe, choice.network.width);
  if (setting.figures && !series.empty()) {
    part.pictures.push_back(epoch_figure(series, "Accuracy gain of K_t over K_0", "accuracy difference to K_0, points",
                                         "Figure 1(a) of the work, during training."));
  }
  if (differences > 0) {
    outcome.sentence = fmt::format("Accuracy of regression on K_t minus K₀: {:+.2f} points after {}, averaged over {}.",
                                   gained / static_cast<double>(differences), counted(choice.network.epochs, "epoch"),
                                   counted(differences, "pair"));
  }
  outcome.results["accuracies"] = std::move(json);
  outcome.parts.push_back(std::move(part));
}

/// (b) and (c): local elasticity under two label systems of the same images.
void add_systems(const Setting& setting, const LaSource& source, const Figure1Choice& choice, Outcome& outcome) {
  Part part{.heading = "(b), (c) Local elasticity under two label systems",
            .table = epoch_table(choice, "trained on, measured by")};
  const TwoSystems systems = two_systems(source, choice);
  std::vector<Series> series;
  Json json = Json::array();
  for (std::size_t own = 0; own < 2; ++own) {
    const std::size_t other = 1 - own;
    std::vector<EpochRow> rows;
    along_training(setting, systems.images[own], choice.network, choice.epochs, [&](const ProbeKernels& kernels) {
      EpochRow row = epoch_row(setting, kernels);
      const auto labels = std::span(systems.images[other].train.labels).first(usize(kernels.k.rows()));
      row.other = local_elasticity(AnyView(kernels.k.view()), labels).ratio;
      rows.push_back(row);
    });
    for (const bool measured_by_own : {true, false}) {
      const std::string name =
          fmt::format("{}, {}", choice.systems[own].name(), choice.systems[measured_by_own ? own : other].name());
      std::vector<Cell> line{name};
      Series curve{.name = name};
      for (const EpochRow& row : rows) {
        const double percent = 100 * (measured_by_own ? row.elasticity : row.other);
        line.emplace_back(fmt::format("{:.2f}", percent));
        curve.x.push_back(static_cast<double>(row.epoch));
        curve.y.push_back(percent);
      }
      part.table.rows.push_back(std::move(line));
      series.push_back(std::move(curve));
    }
    Json entry = epoch_json(choice.systems[own].name(), rows);
    for (std::size_t i = 0; i < rows.size(); ++i) entry[i]["elasticity_of_other_labels"] = rows[i].other;
    json.push_back(std::move(entry));
  }
  part.words = fmt::format(
      "Relative ratio of LA (9) in percent, pairs of training images. The work uses photographs of a cat or a dog with "
      "a bench or a chair, which are not public; our substitute is a picture of {} next to one of {}, in all four "
      "combinations. Both systems have the same images and the same initial network, so differences after epoch 0 are "
      "due to the labels.",
      choice.systems[0].name(), choice.systems[1].name());
  if (setting.figures) {
    part.pictures.push_back(
        epoch_figure(series, "Local elasticity during training", "relative ratio, percent",
                     "Trained on the first labels, measured by the second. Figures 1(b) and 1(c) of "
                     "the work, on other images."));
  }
  outcome.results["systems"] = std::move(json);
  outcome.parts.push_back(std::move(part));
}

}  // namespace

Experiment la_figure1() {
  return {.name = "la-figure1",
          .summary = "Effect of labels on the NTK of a network: accuracy and local elasticity during training",
          .work = "Chen, He and Su 2020, Label-Aware Neural Tangent Kernel, Figure 1",
          .options = {{"pairs", "A/B,…", "Pairs of classes of (a)", fmt::format("{}", fmt::join(elasticity_pairs, ",")),
                       ""},
                      {"systems", "A/B,C/D", "Two label systems of (b) and (c)", "cat/dog,automobile/truck", ""},
                      {"train", "N", "Training images", "1000", "10000"},
                      {"test", "N", "Test images", "500", "2000"},
                      {"width", "M", "Hidden units of the networks", "2048", "40960"},
                      {"epochs", "N", "Training epochs", "10", ""},
                      {"at", "E,…", "Epochs at which kernels are evaluated, in addition to the first and last", "1,2,5",
                       "1,2,3,5,7"},
                      {"probe", "N", "Maximal number of images for kernels", "500", "2000"}},
          .precision = Precision::f32,
          .run = [](const Setting& setting) {
            const Figure1Choice choice(setting);
            const LaSource source(setting);
            Outcome outcome;
            add_accuracies(setting, source, choice, outcome);
            add_systems(setting, source, choice, outcome);
            return outcome;
          }};
}

}  // namespace widelimit::experiment
