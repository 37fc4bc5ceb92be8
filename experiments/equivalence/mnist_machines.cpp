#include "experiments/experiments.hpp"

#include "experiments/tasks/mnist_task.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/network/network.hpp"
#include "widelimit/report/figures/machine_figures.hpp"
#include "widelimit/report/fit_summary.hpp"
#include "widelimit/report/scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// One row of EQ Table 3, or a machine of Table 1 without a published accuracy.
struct PublishedFit {
  Machine machine;
  std::optional<double> lambda;    ///< as published; std::nullopt: --lambda
  std::optional<double> accuracy;  ///< as published
};

/// Returns the test accuracies on MNIST 0 and 1 of EQ Table 3; kernel regression is its KRR with λ = 0.
std::vector<PublishedFit> eq_table_3() {
  return {{Machine::regression, 0.0, 0.9995}, {Machine::ridge, 0.001, 0.9995},  {Machine::ridge, 0.01, 0.9995},
          {Machine::ridge, 0.1, 0.9995},      {Machine::ridge, 1.0, 0.9995},    {Machine::ridge, 10.0, 0.9991},
          {Machine::ridge, 100.0, 0.9986},    {Machine::ridge, 1000.0, 0.9976}, {Machine::svm, 0.064, 0.9995},
          {Machine::hard_svm, 0.0, {}},       {Machine::svm2, {}, {}},          {Machine::svr, {}, {}},
          {Machine::logistic, {}, {}}};
}

/// Samples used to select λ for ten classes; leave-one-out on ten thousand would take longer than the fits.
constexpr Index choosing_samples = 2000;

/// Options, parsed and validated before any computation.
struct MachinesChoice {
  std::string network;
  Index samples = 0;
  Index ten_samples = 0;
  double lambda = 0;
};

MachinesChoice choice_of(const Setting& setting) {
  (void)Network::parse(setting.text("network"));
  return {.network = setting.text("network"),
          .samples = setting.count("samples", 2),
          .ten_samples = setting.count("ten-samples", 100),
          .lambda = setting.positive("lambda")};
}

struct MachineEvaluation {
  FittedMachine trained;
  ClassScores score;
  std::vector<std::string> classes;  ///< names
};

MachineOptions machine_options(const Setting& setting, const MnistTask& task, Machine machine, double lambda) {
  MachineOptions options{.machine = machine};
  options.check_definite = !task.semidefinite;
  if (lambda > 0) options.lambda = lambda;  // else the default, unused by a machine without λ
  options.progress = setting.progress;
  return options;
}

/// Fits and scores a machine. Support vector regression is fitted to ±1 and predicts by the sign.
MachineEvaluation evaluate_machine(const Setting& setting, const MnistTask& task, const MachineOptions& options) {
  stop_if_requested(setting.progress);
  const GramMatrix k(view_of(task.k), setting.engine);
  MachineEvaluation evaluation;
  FittedMachine& trained = evaluation.trained;
  if (options.machine == Machine::svr) {
    trained = train_values(k, class_targets(task.train.labels, task.classes()).view(), options);
    trained.scheme = Scheme::sign;
    trained.classes = task.classes();
  } else {
    trained = train_classes(k, task.train.labels, task.classes(), options);
  }
  const Matrix<double> g = decision(trained.fit, view_of(task.k_test), setting.engine);
  evaluation.score = class_scores(trained.scheme, trained.classes, g.view(), task.test.labels);
  evaluation.classes = task.test.class_names;
  return evaluation;
}

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string optimality_text(const Summary& summary) {
  if (summary.gap) return fmt::format("gap {:.1g}", *summary.gap);
  return summary.gradient ? fmt::format("residual {:.1g}", *summary.gradient) : "–";
}

void add_fit(Part& part, Outcome& outcome, Json& json, const std::string& name, double lambda,
             const MachineEvaluation& evaluation, std::optional<double> published) {
  const Summary& summary = evaluation.trained.fit.summary;
  const bool has_solution = summary.ending == Ending::converged || summary.ending == Ending::iteration_limit;
  part.table.rows.push_back({name, fmt::format("{:g}", lambda),
                             has_solution ? percent(evaluation.score.accuracy()) : "–",
                             has_solution ? Cell(evaluation.score.samples - evaluation.score.correct) : Cell(),
                             published ? percent(*published) : "–", text(summary.ending), optimality_text(summary),
                             fmt::format("{:.3g}", summary.seconds)});
  Json entry{{"machine", name}, {"lambda", lambda}};
  if (has_solution) entry["test"] = score_json(evaluation.score, evaluation.classes);
  if (published) entry["published"] = *published;
  entry["summary"] = summary_json(summary);
  json.push_back(std::move(entry));
  if (!summary.converged() && outcome.trouble.empty()) {
    outcome.trouble = fmt::format("{}, λ = {:g}: {}: {}", name, lambda, text(summary.ending), summary.message);
  }
}

Table empty_table() {
  return {.columns = {"machine", "lambda", "test accuracy", "wrong", "published", "ending", "proof", "seconds"}};
}

void two_digits(const Setting& setting, const MachinesChoice& choice, Outcome& outcome) {
  const MnistTask task = mnist_task(setting, choice.network, {"0", "1"}, choice.samples);
  Part part{.heading = "All seven machines on MNIST 0 and 1", .table = empty_table()};
  std::vector<std::pair<std::string, std::vector<double>>> margins;
  Json json = Json::array();
  double farthest = 0;
  int published = 0;
  for (const PublishedFit& line : eq_table_3()) {
    const double used = line.lambda.value_or(choice.lambda);
    const MachineEvaluation evaluation =
        evaluate_machine(setting, task, machine_options(setting, task, line.machine, used));
    const std::string name(to_string(line.machine));
    add_fit(part, outcome, json, name, used, evaluation, line.accuracy);
    if (line.accuracy) {
      ++published;
      farthest = std::max(farthest, std::abs(evaluation.score.accuracy() - *line.accuracy));
    }
    if (line.machine != Machine::ridge) margins.emplace_back(name, evaluation.score.margins);
  }
  part.words = fmt::format(
      "{} training and {} test images, values in [0, 1], NTK of {}, no bias. Published: Table 3 of \"On the "
      "Equivalence between Neural Network and Support Vector Machine\", trained on all 12,665 images, with its λ; "
      "machines without a published accuracy use λ = {:g} (default: that of its SVM). SVR is fitted to ±1 with ε = "
      "{:g}. Gap: relative duality gap; residual: of the linear system. Seconds are those of the fit; both kernels "
      "took {:.3g} s.",
      task.train.count(), task.test.count(), choice.network, choice.lambda, MachineOptions{}.epsilon, task.seconds);
  if (setting.figures) part.pictures.push_back(margin_histogram(margins));
  outcome.results["two_digits"] = {
      {"train", task.train.count()}, {"test", task.test.count()}, {"kernel_seconds", task.seconds}, {"fits", json}};
  outcome.timings.emplace_back("kernel, two digits", task.seconds);
  outcome.sentence =
      fmt::format("MNIST 0 and 1, {} training images: within {:.2f} points of each of the {} published accuracies.",
                  task.train.count(), 100 * farthest, published);
  outcome.parts.push_back(std::move(part));
}

/// Returns the λ among 1e-4 … 10 with the smallest held-out error on training samples.
TunePoint choose_lambda(const MnistTask& task, const MachineOptions& options, std::uint64_t seed) {
  const Index few = std::min(choosing_samples, task.train.count());
  const AnyView corner = std::visit([&](const auto& k) { return AnyView(k.view().block(0, 0, few, few)); }, task.k);
  TuneOptions tuning{.machine = options, .lambdas = logarithmic_grid(1e-4, 10, 6), .seed = seed};
  const auto points =
      tune_classes(corner, std::span(task.train.labels).first(static_cast<std::size_t>(few)), task.classes(), tuning);
  const auto best = best_point(points);
  return best ? points[*best] : points.back();
}

void ten_digits(const Setting& setting, const MachinesChoice& choice, Outcome& outcome) {
  const MnistTask task = mnist_task(setting, choice.network, {}, choice.ten_samples);
  Part part{.heading = "Ridge and SVM on all ten digits", .table = empty_table()};
  Json json = Json::array();
  for (const Machine machine : {Machine::ridge, Machine::svm}) {
    MachineOptions options = machine_options(setting, task, machine, 1);
    options.lambda = choose_lambda(task, options, setting.seed).lambda;
    const MachineEvaluation evaluation = evaluate_machine(setting, task, options);
    const std::string name(to_string(machine));
    add_fit(part, outcome, json, name, options.lambda, evaluation, std::nullopt);
    outcome.sentence +=
        fmt::format(" Ten digits, {} images: {} {}.", task.train.count(), name, percent(evaluation.score.accuracy()));
    if (setting.figures) {
      part.pictures.push_back(
          confusion_map(evaluation.score.confusion, task.train.class_names, name + ": confusion matrix"));
    }
  }
  part.words = fmt::format(
      "{} training and {} test images. λ minimises the error among 1e-4, 1e-3, … 10 on the first {} training images, "
      "for ridge by exact leave-one-out, for the SVM (one-vs-one) by 5-fold cross-validation. There is no published "
      "accuracy for ten digits. Both kernels took {:.3g} s.",
      task.train.count(), task.test.count(), std::min(choosing_samples, task.train.count()), task.seconds);
  outcome.results["ten_digits"] = {
      {"train", task.train.count()}, {"test", task.test.count()}, {"kernel_seconds", task.seconds}, {"fits", json}};
  outcome.timings.emplace_back("kernel, ten digits", task.seconds);
  outcome.parts.push_back(std::move(part));
}

}  // namespace

Experiment mnist_machines() {
  return {
      .name = "mnist-machines",
      .summary = "Test accuracy of every kernel machine on MNIST: 0 and 1, and all ten digits",
      .work = "Chen et al. 2021, On the Equivalence between Neural Network and Support Vector Machine, Tables 2 and 3",
      .options = {{"network", "NET", "Network whose NTK the machines use", "eq2", ""},
                  {"samples", "N", "Training images of 0 and 1", "2000", "12665"},
                  {"ten-samples", "N", "Training images of all ten digits", "2000", "10000"},
                  {"lambda", "L", "λ of the machines without a published accuracy", "0.064", ""}},
      .run = [](const Setting& setting) {
        const MachinesChoice choice = choice_of(setting);
        Outcome outcome;
        two_digits(setting, choice, outcome);
        ten_digits(setting, choice, outcome);
        return outcome;
      }};
}

}  // namespace widelimit::experiment
