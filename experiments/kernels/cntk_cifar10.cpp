#include "experiments/experiments.hpp"

#include "experiments/kernels/cntk_rows.hpp"
#include "experiments/tasks/task_kernel.hpp"
#include "widelimit/report/drawing/pictures.hpp"
#include "widelimit/report/fit_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

std::string accuracy_text(const ImagePredictions& predictions) {
  if (!predictions.solved()) return text(predictions.summary.ending);
  return fmt::format("{:.2f} ± {:.2f}", 100 * predictions.score.accuracy(), 100 * predictions.standard_error());
}

std::string lambda_text(const ImagePredictions& predictions) { return fmt::format("{:.2g}", predictions.lambda); }

/// Returns our minus the published accuracy, in standard errors.
std::optional<double> difference(const CntkRow& row) {
  const auto theirs = row.published_percent();
  const ImagePredictions& predictions = row.machines.regression;
  if (!theirs || !predictions.solved() || predictions.standard_error() == 0) return std::nullopt;
  return (row.percent() - *theirs) / (100 * predictions.standard_error());
}

Table table_of(const std::vector<CntkRow>& rows) {
  Table table{.columns = {"kernel", "depth", "regression %", "published %", "difference", "ridge %", "λ", "SVM %", "λ",
                          "condition", "kernel s"}};
  for (const CntkRow& row : rows) {
    const CntkMachines& m = row.machines;
    const auto theirs = row.published_percent();
    const auto off = difference(row);
    const auto condition = m.regression.summary.condition;
    table.rows.push_back({row.kernel, row.depth > 0 ? Cell(row.depth) : Cell(), accuracy_text(m.regression),
                          theirs ? fmt::format("{:.2f}", *theirs) : "–", off ? fmt::format("{:+.1f}", *off) : "–",
                          accuracy_text(m.ridge), lambda_text(m.ridge), accuracy_text(m.svm), lambda_text(m.svm),
                          condition ? fmt::format("{:.1e}", *condition) : "–",
                          row.seconds > 0 ? fmt::format("{:.3g}", row.seconds) : "–"});
  }
  return table;
}

Json predictions_json(const ImagePredictions& predictions) {
  Json json{{"lambda", predictions.lambda}};
  add_predictions(json, predictions);
  return json;
}

Json rows_json(const std::vector<CntkRow>& rows) {
  Json json = Json::array();
  for (const CntkRow& row : rows) {
    Json entry{{"kernel", row.kernel}};
    if (row.depth > 0) entry["depth"] = row.depth;
    entry.update({{"train", row.train},
                  {"test", row.test},
                  {"regression", predictions_json(row.machines.regression)},
                  {"ridge", predictions_json(row.machines.ridge)},
                  {"svm", predictions_json(row.machines.svm)},
                  {"kernel_seconds", row.seconds}});
    if (const auto theirs = row.published_percent()) entry["published"] = *theirs / 100;
    json.push_back(std::move(entry));
  }
  return json;
}

/// Plots accuracy of regression by depth: ours at both sizes, and the published accuracies for 2,000 images.
Illustration accuracy_by_depth(const std::vector<CntkRow>& vanilla, const std::vector<CntkRow>& compared) {
  std::vector<Series> series;
  const auto add = [&](const std::vector<CntkRow>& rows, Readout readout, const std::string& name) {
    Series line{.name = name};
    for (const CntkRow& row : rows) {
      if (row.readout != readout || !row.machines.regression.solved()) continue;
      if (line.x.empty()) line.name = fmt::format("{}, {} images", name, row.train);
      line.x.push_back(static_cast<double>(row.depth));
      line.y.push_back(row.percent());
    }
    if (!line.x.empty()) series.push_back(std::move(line));
  };
  add(vanilla, Readout::vanilla, "vanilla");
  if (compared.front().train != vanilla.front().train || compared.front().test != vanilla.front().test) {
    add(compared, Readout::vanilla, "vanilla");
  }
  add(compared, Readout::pooled, "pooled");
  for (const Readout readout : {Readout::vanilla, Readout::pooled}) {
    Series line{.name = readout == Readout::vanilla ? "vanilla, published, 2000" : "pooled, published, 2000"};
    for (const PublishedDepth& one : published_depths()) {
      line.x.push_back(static_cast<double>(one.depth));
      line.y.push_back(*one.accuracy(readout, 2000));
    }
    series.push_back(std::move(line));
  }
  Illustration shown;
  shown.figure = curves(series, {.title = "Accuracy by depth",
                                 .x_label = "depth",
                                 .y_label = "test accuracy, percent",
                                 .x_scale = AxisScale::log});
  shown.caption = "Ridgeless kernel regression. Depth D means D − 1 convolutions and the readout.";
  return shown;
}

constexpr std::size_t hardest_shown = 12;

/// Returns the test images misclassified by regression with the most negative margins, in increasing order.
std::vector<Index> hardest(const ImagePredictions& predictions) {
  std::vector<Index> order;
  for (Index i = 0; i < std::ssize(predictions.score.margins); ++i) {
    if (predictions.score.margins[usize(i)] < 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return predictions.score.margins[usize(a)] < predictions.score.margins[usize(b)];
  });
  order.resize(std::min(order.size(), hardest_shown));
  return order;
}

/// Returns the first row of the best accuracy, or nullptr without solutions.
const CntkRow* best_of(const std::vector<CntkRow>& rows, Readout readout) {
  const CntkRow* best = nullptr;
  for (const CntkRow& row : rows) {
    if (row.readout != readout) continue;
    if (row.machines.regression.solved() && (best == nullptr || row.percent() > best->percent())) best = &row;
  }
  return best;
}

/// Counts the kernels of the same images and readout that misclassify an image.
std::string wrong_of(const std::vector<CntkRow>& rows, const CntkRow& like, Index image, Index label) {
  Index wrong = 0;
  Index all = 0;
  for (const CntkRow& row : rows) {
    if (row.readout != like.readout || !row.machines.regression.solved()) continue;
    ++all;
    wrong += row.machines.regression.predicted[usize(image)] != label ? 1 : 0;
  }
  return fmt::format("{} of {}", wrong, all);
}

/// Adds table rows and pictures of the hardest images for the most accurate kernel of a readout.
void add_hardest(const Setting& setting, const CifarImages& images, const std::vector<CntkRow>& rows, Readout readout,
                 Part& part, Json& json) {
  const CntkRow* best = best_of(rows, readout);
  if (best == nullptr) return;
  const ImagePredictions& predictions = best->machines.regression;
  const std::string kernel = fmt::format("{}, depth {}", best->kernel, best->depth);
  std::vector<Pictured> sheet;
  for (const Index image : hardest(predictions)) {
    const Index label = images.test.labels[usize(image)];
    const std::string& name = images.train.class_names[usize(label)];
    const std::string& taken = images.train.class_names[usize(predictions.predicted[usize(image)])];
    const double margin = predictions.score.margins[usize(image)];
    part.table.rows.push_back(
        {kernel, image, name, taken, fmt::format("{:.3f}", margin), wrong_of(rows, *best, image, label)});
    json.push_back({{"kernel", best->kernel},
                    {"depth", best->depth},
                    {"image", image},
                    {"class", name},
                    {"taken_for", taken},
                    {"margin", margin}});
    sheet.push_back({fmt::format("{}: {}", name, taken), {images.picture(image)}});
  }
  if (!setting.figures || sheet.empty()) return;
  Illustration shown;
  shown.figure = picture_sheet(sheet, images.test.shape, 0, 255, fmt::format("Hardest for {}", kernel));
  shown.caption = fmt::format("True and predicted class. {} training images, {} test images.", best->train, best->test);
  part.pictures.push_back(std::move(shown));
}

Part hardest_part(const Setting& setting, const CntkRows& rows, Json& json) {
  Part part{.heading = "The hardest test images",
            .table = {.columns = {"kernel", "image", "class", "taken for", "margin", "wrong depths"}}};
  json = Json::array();
  add_hardest(setting, rows.images, rows.vanilla, Readout::vanilla, part, json);
  add_hardest(setting, rows.images, rows.compared, Readout::pooled, part, json);
  part.words =
      "Margin: output of the true class minus the largest other output, for ridgeless regression at the most accurate "
      "depth; image indices start at 0. Wrong depths: number of kernels with this readout that misclassify the image.";
  return part;
}

/// Describes the source of the images: the JPEG version cycles through the classes, the original order is random.
std::string source_words(const Dataset& train) {
  for (Index i = 0; i < train.count(); ++i) {
    if (train.labels[usize(i)] != i % std::ssize(train.class_names)) return "in the order of the original files";
  }
  return "of a version stored as JPEG, with some loss of detail, equally many of each class";
}

std::string protocol_words(const CntkRows& rows, const CntkChoice& choice, Precision precision) {
  return fmt::format(
      "The first {} training and {} test images {}. Each channel is standardised on the training images. 3×3 filters, "
      "w_std = √2, no bias, mean over equal positions, all layers trained. Regression has λ = 0 and targets 0.9 and "
      "−0.1, as published; ridge has the same targets and the λ of minimal leave-one-out error, the SVM (one-vs-one) "
      "that of minimal five-fold cross-validation error, both among 10⁻⁶ … 10 times the mean diagonal, on at most "
      "2,000 images. ± is the binomial standard error on the test images; difference: our minus the published "
      "accuracy, in these standard errors. They do not include the choice of training images: the work does not state "
      "which 2,000 it used. Kernels in {}; published: float32.",
      choice.train, choice.test, source_words(rows.images.train), precision == Precision::f32 ? "float32" : "float64");
}

std::string pooled_words(const CntkChoice& choice) {
  return fmt::format(
      "The first {} training and {} test images for all kernels. Pooled: global average pooling, first and last layer "
      "frozen, as published; published accuracies exist for 2,000 and 50,000 training images and are shown at these "
      "sizes only. All pairs of positions of two images take a few milliseconds of CPU time, about a thousand times as "
      "long as equal positions.",
      choice.pooled_train, choice.pooled_test);
}

std::string sentence(const CntkRows& rows) {
  std::string words = fmt::format("CIFAR-10, ridgeless regression, {} training images:", rows.vanilla.front().train);
  double farthest = 0;
  Index compared = 0;
  for (const CntkRow& row : rows.vanilla) {
    if (!row.machines.regression.solved()) continue;
    words += fmt::format(" vanilla depth {} {:.2f} %,", row.depth, row.percent());
    if (const auto theirs = row.published_percent()) {
      ++compared;
      farthest = std::max(farthest, std::abs(row.percent() - *theirs));
    }
  }
  words.back() = ';';
  if (compared > 0) words += fmt::format(" within {:.2f} points of the {} published accuracies;", farthest, compared);
  if (const CntkRow* best = best_of(rows.compared, Readout::pooled)) {
    words += fmt::format(" pooled depth {} {:.2f} % with {} images;", best->depth, best->percent(), best->train);
  }
  words.back() = '.';
  return words;
}

/// Describes the first machine without a solution.
std::string trouble(const std::vector<CntkRow>& rows) {
  for (const CntkRow& row : rows) {
    for (const auto& [name, predictions] :
         {std::pair("regression", &row.machines.regression), std::pair("ridge", &row.machines.ridge),
          std::pair("SVM", &row.machines.svm)}) {
      if (predictions->summary.converged()) continue;
      return fmt::format("{}, depth {}, {}: {}: {}", row.kernel, row.depth, name, text(predictions->summary.ending),
                         predictions->summary.message);
    }
  }
  return "";
}

Outcome run_cntk(const Setting& setting) {
  const CntkChoice choice(setting);
  const CntkRows rows = cntk_rows(setting, choice);
  Outcome outcome;
  Part vanilla{.heading = fmt::format("Vanilla kernels, {} training and {} test images", choice.train, choice.test),
               .table = table_of(rows.vanilla),
               .words = protocol_words(rows, choice, setting.precision)};
  if (setting.figures) vanilla.pictures.push_back(accuracy_by_depth(rows.vanilla, rows.compared));
  outcome.parts.push_back(std::move(vanilla));
  outcome.parts.push_back({.heading = fmt::format("Pooled kernels, {} training and {} test images", choice.pooled_train,
                                                  choice.pooled_test),
                           .table = table_of(rows.compared),
                           .words = pooled_words(choice)});
  Json hard;
  outcome.parts.push_back(hardest_part(setting, rows, hard));
  outcome.results["vanilla"] = rows_json(rows.vanilla);
  outcome.results["compared"] = rows_json(rows.compared);
  outcome.results["hardest"] = std::move(hard);
  for (const auto* some : {&rows.vanilla, &rows.compared}) {
    for (const CntkRow& row : *some) {
      if (row.seconds == 0) continue;
      outcome.timings.emplace_back(row.depth > 0 ? fmt::format("{} {}", row.kernel, row.depth) : row.kernel,
                                   row.seconds);
    }
    if (outcome.trouble.empty()) outcome.trouble = trouble(*some);
  }
  outcome.sentence = sentence(rows);
  return outcome;
}

}  // namespace

Experiment cntk_cifar10() {
  return {.name = "cntk-cifar10",
          .summary = "Kernel regression, ridge and SVM with CNTKs on CIFAR-10, by depth",
          .work = "Arora et al. 2019, On Exact Computation with an Infinitely Wide Neural Net, Table 1",
          .options = {{"train", "N", "Training images of the vanilla kernels", "2000", ""},
                      {"test", "N", "Test images of the vanilla kernels", "10000", ""},
                      {"depths", "D,…", "Depths of the vanilla kernels: number of convolutions plus one", "3,4,6,11,21",
                       ""},
                      {"pooled-train", "N", "Training images of the pooled kernels", "100", "2000"},
                      {"pooled-test", "N", "Test images of the pooled kernels", "100", "10000"},
                      {"pooled-depths", "D,…", "Depths of the pooled kernels", "3,4,6", "3,4,6,11,21"},
                      {"further", "NET;…", "Further networks on the images of the pooled kernels", "lenet5;myrtle5",
                       "lenet5;myrtle5;myrtle7;myrtle10"},
                      {"csv", "FILE", "CSV file of all rows, updated after each kernel", "", ""},
                      grams_option()},
          .precision = Precision::f32,
          .run = run_cntk};
}

}  // namespace widelimit::experiment
