#include "experiments/experiments.hpp"

#include "experiments/tasks/task_kernel.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/data/labels/label_noise.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/finite/training/targets.hpp"
#include "widelimit/finite/training/train.hpp"
#include "widelimit/machine/ridge/ridge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// The table of NT-L for CIFAR-10: test accuracy of ResNet-34 in percent.
struct PublishedNoise {
  double share;
  double softmax;
  double squared;
  double softmax_aux;
  double squared_aux;
};
constexpr std::array<PublishedNoise, 4> published_noise{{{0, 94.05, 93.88, 94.22, 94.25},
                                                         {0.2, 89.73, 89.96, 92.07, 92.31},
                                                         {0.4, 86.35, 85.92, 87.81, 88.92},
                                                         {0.6, 79.13, 78.68, 82.60, 83.90}}};

/// Candidate ridges, relative to the mean diagonal of the kernel.
constexpr std::array<double, 4> tried_ridges{0.01, 0.1, 1, 10};

/// Options, parsed and validated before any computation.
struct ClassNoise {
  Network network;
  std::vector<std::string> sets;
  std::vector<double> shares;
  bool pairs = false;
  Index samples = 0;
  Index tests = 0;
  Index width = 0;
  Index epochs = 0;
  Index batch = 0;
};

ClassNoise class_noise(const Setting& setting) {
  const std::string& kind = setting.text("noise");
  if (kind != "symmetric" && kind != "pair") {
    fail(Code::usage, "--noise {}: choose symmetric or pair", kind);
  }
  ClassNoise choice{.network = Network::parse(setting.text("network")),
                    .sets = {},
                    .shares = setting.numbers("shares", 0, 0.9),
                    .pairs = kind == "pair",
                    .samples = setting.count("samples", 50),
                    .tests = setting.count("tests", 1),
                    .width = setting.count("width", 1),
                    .epochs = setting.count("epochs", 1),
                    .batch = setting.count("batch", 1)};
  const std::string& sets = setting.text("data");
  if (sets != "cifar10") choice.sets.emplace_back("mnist");
  if (sets != "mnist") choice.sets.emplace_back("cifar10");
  if (sets != "mnist" && sets != "cifar10" && sets != "both") {
    fail(Code::usage, "--data {}: choose mnist, cifar10 or both", sets);
  }
  if (choice.batch > choice.samples) {
    fail(Code::usage, "--batch {}: there are only {} training images", choice.batch, choice.samples);
  }
  return choice;
}

/// Training images, validation images (a quarter as many), and test images.
struct NoiseTask {
  std::string name;
  Dataset train;
  Matrix<double> others;  ///< validation images, then test images
  Shape shape;
  Index chosen_by = 0;
  std::vector<Index> labels;            ///< labels of the training images
  std::vector<Index> chosen_by_labels;  ///< true labels of the validation images
  std::vector<Index> test_labels;
  Index classes = 0;

  [[nodiscard]] SampleView seen() const { return train.view().part(0, std::ssize(labels)); }
  [[nodiscard]] SampleView unseen() const { return {others.view(), shape}; }
};

NoiseTask noise_task(const Setting& setting, const ClassNoise& choice, const std::string& name) {
  const Index chosen_by = (choice.samples + 3) / 4;
  DataRequest request{.train = name + ":train", .test = name + ":test"};
  request.limit = choice.samples + chosen_by;
  request.test_limit = choice.tests;
  request.scale = name == "mnist" ? Scaling::byte : Scaling::channel;
  TrainTest data = setting.load(request);
  if (data.train.count() < choice.samples + chosen_by) {
    fail(Code::usage, "--samples {}: {} has only {} training images, a fifth of which is used for validation",
         choice.samples, name, data.train.count());
  }
  const std::vector<Index>& all = data.train.labels;
  NoiseTask task{.name = name,
                 .train = {},
                 .others = {},
                 .shape = data.train.view().shape,
                 .chosen_by = chosen_by,
                 .labels = {all.begin(), all.begin() + choice.samples},
                 .chosen_by_labels = {all.begin() + choice.samples, all.end()},
                 .test_labels = data.test->labels,
                 .classes = std::ssize(data.train.class_names)};
  task.others = Matrix<double>(chosen_by + data.test->count(), task.shape.size());
  const auto copy = [&](const SampleView& from, Index to) {
    std::visit(
        [&](const auto& rows) {
          for (Index i = 0; i < rows.rows; ++i) std::copy_n(rows.row(i), rows.cols, task.others.view().row(to + i));
        },
        from.dense("images"));
  };
  copy(data.train.view().part(choice.samples, chosen_by), 0);
  copy(data.test->view(), chosen_by);
  task.train = std::move(data.train);
  return task;
}

/// Returns the fraction of samples whose largest output is that of their label; outputs are stored by row.
double right_share(const double* outputs, const std::vector<Index>& labels, Index classes) {
  Index right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double* row = outputs + static_cast<Index>(i) * classes;
    right += std::max_element(row, row + classes) - row == labels[i] ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(labels.size());
}

/// Labels at one noise level.
struct NoisyLabels {
  std::vector<Index> train;
  std::vector<Index> chosen_by;
  double wrong = 0;  ///< fraction of wrong training labels
};

NoisyLabels draw_labels(const Setting& setting, const ClassNoise& choice, const NoiseTask& task, double share) {
  const Matrix<double> transition =
      choice.pairs ? pair_noise(task.classes, share) : symmetric_noise(task.classes, share);
  NoisyLabels noisy{.train = noisy_labels(task.labels, transition.view(), setting.seed),
                    .chosen_by = noisy_labels(task.chosen_by_labels, transition.view(), ~setting.seed)};
  Index wrong = 0;
  for (std::size_t i = 0; i < noisy.train.size(); ++i) wrong += noisy.train[i] != task.labels[i] ? 1 : 0;
  noisy.wrong = static_cast<double>(wrong) / static_cast<double>(noisy.train.size());
  return noisy;
}

/// Kernel ridge regression, (H + λI)⁻¹ỹ, with λ selected on noisy validation labels; ties go to the smaller λ.
struct ChosenRidge {
  double lambda = 0;
  double accuracy = 0;
};

double mean_of_diagonal(const AnyMatrix& k) {
  return std::visit(
      [](const auto& matrix) {
        double sum = 0;
        for (Index i = 0; i < matrix.rows(); ++i) sum += static_cast<double>(matrix(i, i));
        return sum / static_cast<double>(matrix.rows());
      },
      k);
}

ChosenRidge chosen_ridge(const Setting& setting, const NoiseTask& task, const TaskKernel& kernel,
                         const NoisyLabels& noisy) {
  const Matrix<double> y = class_targets(noisy.train, task.classes, Loss{});
  const double unit = mean_of_diagonal(kernel.k);
  ChosenRidge best;
  double most = -1;
  for (const double ridge : tried_ridges) {
    const Fit fit = fit_ridge({view_of(kernel.k), setting.engine}, y.view(), {.lambda = 2 * ridge * unit});
    if (!fit.summary.converged()) continue;
    const Matrix<double> g = decision(fit, view_of(kernel.k_test), setting.engine);
    const double right = right_share(g.data(), noisy.chosen_by, task.classes);
    if (right <= most) continue;
    most = right;
    best = {ridge * unit, right_share(g.view().row(task.chosen_by), task.test_labels, task.classes)};
  }
  if (most < 0) fail(Code::numerical, "no ridge makes the kernel of {} positive definite", task.name);
  return best;
}

/// A training method.
struct NoiseMethod {
  const char* name;
  LossKind loss;
  Regulariser regulariser;
};
constexpr std::array<NoiseMethod, 6> noise_methods{{{"squared", LossKind::squared, Regulariser::none},
                                                    {"squared, RDI", LossKind::squared, Regulariser::init},
                                                    {"squared, AUX", LossKind::squared, Regulariser::aux},
                                                    {"cross-entropy", LossKind::softmax, Regulariser::none},
                                                    {"cross-entropy, RDI", LossKind::softmax, Regulariser::init},
                                                    {"cross-entropy, AUX", LossKind::softmax, Regulariser::aux}}};

struct NoiseRun {
  std::vector<double> epochs;
  std::vector<double> accuracy;  ///< on the test images, with their true labels
  double fitted = 0;             ///< final accuracy on the noisy training labels
  std::size_t stop = 0;          ///< record selected by early stopping on noisy validation labels
  std::string trouble;
};

std::optional<double> published_percent(const NoiseTask& task, const ClassNoise& choice, const NoiseMethod& method,
                                        double share) {
  if (task.name != "cifar10" || choice.pairs || method.regulariser == Regulariser::init) return std::nullopt;
  const auto* row = std::find_if(published_noise.begin(), published_noise.end(),
                                 [&](const PublishedNoise& each) { return each.share == share; });
  if (row == published_noise.end()) return std::nullopt;
  const bool plain = method.regulariser == Regulariser::none;
  if (method.loss == LossKind::softmax) return plain ? row->softmax : row->softmax_aux;
  return plain ? row->squared : row->squared_aux;
}

/// Momentum used in all trainings.
constexpr double noise_momentum = 0.9;

NoiseRun train_on_noise(const Setting& setting, const ClassNoise& choice, const NoiseTask& task,
                        const NoisyLabels& noisy, const NoiseMethod& method, double lambda) {
  stop_if_requested(setting.progress);
  const Loss loss{method.loss};
  const Matrix<double> y = class_targets(noisy.train, task.classes, loss);
  const Index in_epoch = choice.samples / choice.batch;
  TrainOptions options = setting.training();
  options.width = choice.width;
  options.loss = loss;
  options.regulariser = method.regulariser;
  // ½Σ(f − ỹ)² + λ/2‖w − w₀‖² is half of Σ(f − ỹ)² + λ‖w − w₀‖², i.e. `init` with 2λ.
  const bool doubled = method.regulariser == Regulariser::init && method.loss == LossKind::squared;
  options.lambda = method.regulariser == Regulariser::none ? 0 : (doubled ? 2 : 1) * lambda;
  options.epochs = choice.epochs;
  options.batch = choice.batch;
  options.optimiser.momentum = noise_momentum;
  options.schedule.kind = ScheduleKind::cosine;
  options.centred = true;
  for (Index epoch = 0; epoch <= choice.epochs; ++epoch) options.record_at.push_back(epoch * in_epoch);
  const TrainedNetwork trained =
      train(choice.network, {.x = task.seen(), .y = y.view(), .test = task.unseen()}, options, setting.engine);
  NoiseRun run;
  if (!trained.summary.finished()) run.trouble = trained.summary.message;
  double most = -1;
  for (Index k = 0; k < trained.record.count(); ++k) {
    const double* outputs = trained.record.test_outputs.data() + k * task.others.rows() * task.classes;
    run.epochs.push_back(static_cast<double>(trained.record.steps[static_cast<std::size_t>(k)]) /
                         static_cast<double>(in_epoch));
    run.accuracy.push_back(right_share(outputs + task.chosen_by * task.classes, task.test_labels, task.classes));
    const double right = right_share(outputs, noisy.chosen_by, task.classes);
    if (right <= most) continue;
    most = right;
    run.stop = static_cast<std::size_t>(k);
  }
  if (!trained.record.accuracy.empty()) run.fitted = trained.record.accuracy.back();
  return run;
}

std::string percent_right(double share) { return fmt::format("{:.2f} %", 100 * share); }

/// Runs all methods at one noise level.
void at_share(const Setting& setting, const ClassNoise& choice, const NoiseTask& task, const TaskKernel& kernel,
              double share, Outcome& outcome) {
  const NoisyLabels noisy = draw_labels(setting, choice, task, share);
  const ChosenRidge ridge = chosen_ridge(setting, task, kernel, noisy);
  Part part{
      .heading = fmt::format("{} with {:g} % wrong labels", task.name, 100 * share),
      .table = {.columns = {"method", "labels fitted", "last epoch", "stopped early", "at epoch", "NT-L, ResNet-34"}}};
  part.table.rows.push_back({"kernel ridge regression", "–", percent_right(ridge.accuracy), "–", "–", "–"});
  Json json{{"data", task.name},      {"share", share},          {"wrong", noisy.wrong},
            {"lambda", ridge.lambda}, {"ridge", ridge.accuracy}, {"methods", Json::array()}};
  std::vector<Series> lines;
  double plain = 0;
  double stopped = 0;
  double aux = 0;
  for (const NoiseMethod& method : noise_methods) {
    const NoiseRun run = train_on_noise(setting, choice, task, noisy, method, ridge.lambda);
    const double last = run.accuracy.back();
    const double early = run.accuracy[run.stop];
    const auto theirs = published_percent(task, choice, method, share);
    if (!run.trouble.empty()) outcome.trouble = fmt::format("{}, {}: {}", task.name, method.name, run.trouble);
    part.table.rows.push_back({run.trouble.empty() ? method.name : fmt::format("{} (failed)", method.name),
                               percent_right(run.fitted), percent_right(last), percent_right(early),
                               fmt::format("{:g}", run.epochs[run.stop]),
                               theirs ? fmt::format("{:.2f} %", *theirs) : "–"});
    json["methods"].push_back({{"method", method.name},
                               {"fitted", run.fitted},
                               {"last", last},
                               {"early", early},
                               {"early_epoch", run.epochs[run.stop]},
                               {"epochs", run.epochs},
                               {"accuracy", run.accuracy}});
    if (theirs) json["methods"].back()["published"] = *theirs / 100;
    lines.push_back({.name = method.name, .x = run.epochs, .y = run.accuracy});
    if (method.loss != LossKind::squared) continue;
    if (method.regulariser == Regulariser::none) plain = last, stopped = early;
    if (method.regulariser == Regulariser::aux) aux = last;
  }
  part.words = fmt::format(
      "{} training images with {:.1f} % wrong labels ({} noise), {} test images with true labels; {} of width {}, f − "
      "f₀ trained for {} epochs with batches of {}, momentum {:g} and a cosine schedule, λ = {:.3g} for RDI, AUX and "
      "kernel ridge regression, for which it is selected. Early stopping and λ are selected on {} further images with "
      "the same label noise. Labels fitted: final accuracy on the noisy training labels.",
      choice.samples, 100 * noisy.wrong, choice.pairs ? "pair" : "symmetric", std::ssize(task.test_labels),
      setting.text("network"), choice.width, choice.epochs, choice.batch, noise_momentum, ridge.lambda, task.chosen_by);
  if (task.name == "cifar10") {
    part.words +=
        " The numbers of NT-L are for ResNet-34 on all 50,000 images with augmentation, with early stopping for the "
        "plain losses; networks and data differ in size, so only the order of methods is comparable.";
  }
  if (setting.figures) {
    part.pictures.push_back({.figure = curves(lines, {.title = fmt::format("{}, {:g} % noise", task.name, 100 * share),
                                                      .x_label = "epoch",
                                                      .y_label = "test accuracy"})});
  }
  outcome.results["runs"].push_back(json);
  outcome.parts.push_back(std::move(part));
  outcome.sentence = fmt::format(
      "On {} with {:g} % wrong labels the accuracy of the squared loss is {}, with early stopping {}, with AUX {}; "
      "that of kernel ridge regression is {}.",
      task.name, 100 * share, percent_right(plain), percent_right(stopped), percent_right(aux),
      percent_right(ridge.accuracy));
}

}  // namespace

Experiment noisy_labels_cnn() {
  return {
      .name = "noisy-labels-cnn",
      .summary = "Small CNNs on ten classes with wrong labels: RDI, AUX, early stopping and kernel ridge regression",
      .work = "Zhang 2024, Neural Tangent Kernel (lecture), table of label noise: Hu, Li and Yu 2020",
      .options = {{"network", "NET", "Network to train, whose NTK kernel ridge regression uses",
                   "conv(strides=2, w_std=1.4142) relu conv(strides=2, w_std=1.4142) relu flatten dense", ""},
                  {"data", "SET", "mnist, cifar10 or both", "both", ""},
                  {"shares", "P,...", "Probabilities of a wrong label", "0.4", "0,0.2,0.4,0.6"},
                  {"noise", "KIND", "symmetric (any other class) or pair (the next class)", "symmetric", ""},
                  {"samples", "N", "Training images", "1200", "4000"},
                  {"tests", "N", "Test images", "1000", "10000"},
                  {"width", "M", "Channels of every hidden layer", "48", "64"},
                  {"epochs", "E", "Epochs", "30", "40"},
                  {"batch", "N", "Batch size", "50", "100"}},
      .precision = Precision::f32,
      .run = [](const Setting& setting) {
        const ClassNoise choice = class_noise(setting);
        Outcome outcome;
        outcome.results["runs"] = Json::array();
        for (const std::string& name : choice.sets) {
          const NoiseTask task = noise_task(setting, choice, name);
          const TaskKernel kernel = task_kernel(setting, choice.network, task.seen(), task.unseen());
          outcome.timings.emplace_back(name + " kernel", kernel.seconds);
          for (const double share : choice.shares) at_share(setting, choice, task, kernel, share, outcome);
        }
        return outcome;
      }};
}

}  // namespace widelimit::experiment
