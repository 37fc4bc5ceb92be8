#include "experiments/experiments.hpp"

#include "experiments/label_aware/la_two_layer.hpp"
#include "experiments/label_aware/published_table.hpp"
#include "experiments/tasks/task_kernel.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/label_aware/label_aware.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// The rows of the table, in its order.
constexpr std::array<const char*, 4> elasticity_lines{"NN-init", "NN-trained", "NTK", "LANTK"};
constexpr std::size_t nn_init = 0;
constexpr std::size_t nn_trained = 1;
constexpr std::size_t ntk_line = 2;
constexpr std::size_t lantk_line = 3;

/// LANTK of frog/truck, train–train: presumably 60.07, close to the 60.08 of its test–train pairs.
constexpr double misprint = 60.57;

PublishedTable published_elasticity(bool test) {
  if (test) {
    return {.tasks = elasticity_pairs,
            .lines = {{"NN-init", {58.31, 55.06, 57.64, 54.62, 52.93, 54.94}},
                      {"NN-trained", {71.45, 67.91, 69.73, 65.80, 63.58, 65.53}},
                      {"NTK", {63.76, 58.30, 62.67, 57.84, 55.00, 58.14}},
                      {"LANTK", {66.53, 60.08, 65.20, 59.54, 55.97, 59.77}}}};
  }
  return {.tasks = elasticity_pairs,
          .lines = {{"NN-init", {58.37, 55.07, 57.50, 54.75, 52.93, 54.86}},
                    {"NN-trained", {71.99, 68.36, 69.98, 66.35, 63.99, 65.96}},
                    {"NTK", {63.83, 58.31, 62.43, 58.05, 55.01, 58.02}},
                    {"LANTK", {66.62, misprint, 64.90, 59.75, 55.94, 59.59}}}};
}

/// Relative ratios of one pair of classes, in percent.
struct PairElasticity {
  std::string pair;
  std::array<std::optional<double>, 4> train, test;
  double published_test = 0;  ///< LANTK, test points normalised by the diagonal of the NTK
};

std::vector<double> own_diagonal(const AnyMatrix& k) {
  std::vector<double> diagonal;
  std::visit(
      [&](const auto& m) {
        for (Index i = 0; i < m.rows(); ++i) diagonal.push_back(m(i, i));
      },
      k);
  return diagonal;
}

/// Adds the rows of the NTK and the label-aware kernel (KR-V1) of the infinitely wide network.
void add_kernels(const Setting& setting, const LaImages& images, double ratio, PairElasticity& result) {
  const Network network = Network::parse("eq2");
  TaskKernel kernel = task_kernel(setting, network, images.train.view(), images.test.view());
  const Diagonal own = diagonal(network, images.test.view(), setting.engine, Precision::f64, setting.progress);
  std::vector<double> test_diagonal(own.values.view().row(1), own.values.view().row(1) + own.values.cols());
  const std::vector<double> ntk_diagonal = test_diagonal;
  const auto add = [&](std::size_t line) {
    result.train[line] = 100 * local_elasticity(view_of(kernel.k), images.train.labels).ratio;
    result.test[line] = 100 * local_elasticity(view_of(kernel.k_test), images.test.labels, test_diagonal,
                                               images.train.labels, own_diagonal(kernel.k))
                                  .ratio;
  };
  add(ntk_line);
  const LabelAwareKernels made =
      make_label_aware(kernel.k, &kernel.k_test, {}, images.train.labels, 2,
                       {.method = LabelAwareMethod::kr1, .ratio = ratio}, setting.engine, setting.progress);
  test_diagonal = label_aware_diagonal(made.aware, ntk_diagonal, std::nullopt);
  add(lantk_line);
  result.published_test = 100 * local_elasticity(view_of(kernel.k_test), images.test.labels, ntk_diagonal,
                                                 images.train.labels, own_diagonal(kernel.k))
                                    .ratio;
}

PairElasticity of_pair(const Setting& setting, const LaPair& pair, const LaImages& images, double ratio,
                       const TwoLayerOptions& options) {
  PairElasticity result{.pair = pair.name()};
  add_kernels(setting, images, ratio, result);
  const std::array<Index, 2> ends{0, options.epochs};
  along_training(setting, images, options, ends, [&](const ProbeKernels& kernels) {
    const std::size_t line = kernels.epoch == 0 ? nn_init : nn_trained;
    result.train[line] = 100 * kernels.train_elasticity();
    result.test[line] = 100 * kernels.test_elasticity();
  });
  return result;
}

Part part_of(const std::vector<PairElasticity>& pairs, bool test, Json& json) {
  Part part{.heading = test ? "Test–train pairs" : "Train–train pairs", .table = {.columns = {"kernel"}}};
  for (const PairElasticity& pair : pairs) part.table.columns.push_back(pair.pair);
  const auto add = [&](const std::string& name, const auto& value) {
    std::vector<Cell> row{name};
    for (const PairElasticity& pair : pairs) {
      const std::optional<double> percent = value(pair);
      row.emplace_back(percent ? fmt::format("{:.2f}", *percent) : "–");
    }
    part.table.rows.push_back(std::move(row));
  };
  const PublishedTable theirs = published_elasticity(test);
  for (std::size_t line = 0; line < elasticity_lines.size(); ++line) {
    const std::string name = elasticity_lines[line];
    add(name, [&](const PairElasticity& pair) { return (test ? pair.test : pair.train)[line]; });
    if (test && line == lantk_line) {
      add("LANTK, as published", [](const PairElasticity& pair) { return std::optional(pair.published_test); });
    }
    add(name + ", published", [&](const PairElasticity& pair) { return theirs.at(name, pair.pair); });
    for (const PairElasticity& pair : pairs) {
      const auto ours = (test ? pair.test : pair.train)[line];
      Json entry{{"pairs", test ? "test-train" : "train-train"}, {"kernel", name}, {"task", pair.pair}};
      if (ours) entry["ratio"] = *ours / 100;
      if (test && line == lantk_line) entry["ratio_as_published"] = pair.published_test / 100;
      if (const auto number = theirs.at(name, pair.pair)) entry["published"] = *number / 100;
      json.push_back(std::move(entry));
    }
  }
  return part;
}

/// Returns the largest deviation of the kernel rows from the published values in points, excluding the presumed
/// misprint; std::nullopt if none is published.
std::optional<double> farthest(const std::vector<PairElasticity>& pairs) {
  std::optional<double> result;
  for (const PairElasticity& pair : pairs) {
    for (const std::size_t line : {ntk_line, lantk_line}) {
      for (const bool test : {false, true}) {
        const double ours = test && line == lantk_line ? pair.published_test : *(test ? pair.test : pair.train)[line];
        const auto theirs = published_elasticity(test).at(elasticity_lines[line], pair.pair);
        if (theirs && *theirs != misprint) result = std::max(result.value_or(0), std::abs(ours - *theirs));
      }
    }
  }
  return result;
}

/// Explains ratios outside of 0 to 100 %, if there are any: similarities of narrow networks can be negative on average.
std::string negative_words(const std::vector<PairElasticity>& pairs) {
  bool above = false;
  bool below = false;
  const auto look = [&](const std::optional<double>& percent) {
    above |= percent && *percent > 100;
    below |= percent && *percent < 0;
  };
  for (const PairElasticity& pair : pairs) {
    std::for_each(pair.train.begin(), pair.train.end(), look);
    std::for_each(pair.test.begin(), pair.test.end(), look);
    look(pair.published_test);
  }
  std::string words;
  if (above) words += " A ratio above 100 % means that the mean similarity between classes is negative.";
  if (below) words += " A ratio below 0 means that the mean similarity within classes is negative.";
  return words;
}

Outcome run_table3(const Setting& setting) {
  const std::vector<LaPair> class_pairs = requested_pairs(setting);
  const Index train = setting.count("train", 4);
  const Index test = setting.count("test", 4);
  const double ratio = setting.positive("ratio");
  const TwoLayerOptions options = requested_two_layer_options(setting);
  const LaSource source(setting);
  std::vector<PairElasticity> pairs;
  for (const LaPair& pair : class_pairs) {
    stop_if_requested(setting.progress);
    pairs.push_back(of_pair(setting, pair, with_constant(source.images(pair, train, test)), ratio, options));
  }
  Outcome outcome;
  Json json = Json::array();
  for (const bool tested : {false, true}) outcome.parts.push_back(part_of(pairs, tested, json));
  outcome.parts.back().words = fmt::format(
      "Relative ratio of LA (9) in percent, 50 if the kernel ignores labels. {} training and {} test images of each "
      "pair, (byte/255 − 0.5)/0.5 with a constant 1 appended; published: 10,000 and 2,000. NTK: two layers, ReLU; "
      "LANTK: KR-V1 with ratio {:g}. \"LANTK, as published\" normalises test images by the diagonal of the NTK, like "
      "the published program; the row above by that of the kernel itself. 60.57 of frog/truck is presumably a "
      "misprint. Networks: width {}, {} of Adam (rate 3·10⁻⁴, batches of 128) on the squared loss of 0 and 1, "
      "PyTorch initialisation, output/√m, kernels of the first {} images; published: 40,960 and 10 epochs. With this "
      "initialisation the contribution of the first layer to the kernel is d/m times that in the NTK, so NN-init "
      "depends on the width m.",
      train, test, ratio, options.width, counted(options.epochs, "epoch"), options.probe);
  outcome.parts.back().words += negative_words(pairs);
  outcome.results["ratios"] = std::move(json);
  double rise = 0;
  for (const PairElasticity& pair : pairs) rise += *pair.train[nn_trained] - *pair.train[nn_init];
  outcome.sentence = fmt::format("Training changes the relative ratio of networks by {:+.2f} points, averaged over {}",
                                 rise / static_cast<double>(pairs.size()), counted(std::ssize(pairs), "pair"));
  if (const auto off = farthest(pairs)) {
    outcome.results["farthest_from_published"] = *off / 100;
    outcome.sentence += fmt::format(
        "; NTK and LANTK are within {:.2f} points of the published ratios, except for 60.57 of frog/truck", *off);
  }
  outcome.sentence += ".";
  return outcome;
}

}  // namespace

Experiment lantk_table3() {
  return {.name = "lantk-table3",
          .summary = "Local elasticity of networks before and after training, of their NTK and a label-aware kernel",
          .work = "Chen, He and Su 2020, Label-Aware Neural Tangent Kernel, Table 3",
          .options = {{"pairs", "A/B,…", "Pairs of classes", fmt::format("{}", fmt::join(elasticity_pairs, ",")), ""},
                      {"train", "N", "Training images of a pair", "1000", "10000"},
                      {"test", "N", "Test images of a pair", "500", "2000"},
                      {"ratio", "R", "Mean size of the label-aware part, relative to that of the kernel", "0.1", ""},
                      {"width", "M", "Hidden units of the networks", "4096", "40960"},
                      {"epochs", "N", "Training epochs", "10", ""},
                      {"probe", "N", "Maximal number of images for kernels of networks", "500", "2000"}},
          .precision = Precision::f32,
          .run = run_table3};
}

}  // namespace widelimit::experiment
