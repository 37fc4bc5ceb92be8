#include "experiments/experiments.hpp"

#include "experiments/tasks/digit_pair.hpp"
#include "experiments/tasks/mnist_task.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/data/labels/label_noise.hpp"
#include "widelimit/finite/training/targets.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/network/network.hpp"
#include "widelimit/report/bound_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// Options, parsed and validated before any computation.
struct BoundsChoice {
  std::string network;
  std::vector<std::string> digits;
  std::vector<Index> sizes;
  double svm_lambda = 0;
  double ridge_lambda = 0;
  double delta = 0;
  std::vector<double> flips;
  double noisy_lambda = 0;
  std::vector<Index> net_sizes;
  Index width = 0;
  double rate = 0;
  Index steps = 0;
};

BoundsChoice bounds_choice(const Setting& setting) {
  (void)Network::parse(setting.text("network"));
  BoundsChoice choice{.network = setting.text("network"),
                      .digits = two_digits(setting),
                      .sizes = setting.counts("sizes", 4),
                      .svm_lambda = setting.positive("svm-lambda"),
                      .ridge_lambda = setting.positive("ridge-lambda"),
                      .delta = setting.positive("delta"),
                      .flips = setting.numbers("flips", 0, 0.49),
                      .noisy_lambda = setting.positive("noisy-lambda"),
                      .net_sizes = setting.counts("net-sizes", 4),
                      .width = setting.count("width", 1),
                      .rate = setting.positive("rate"),
                      .steps = setting.count("steps", 1)};
  if (choice.delta >= 1) fail(Code::usage, "--delta {}: expected a number below 1", setting.text("delta"));
  std::sort(choice.sizes.begin(), choice.sizes.end());
  std::sort(choice.net_sizes.begin(), choice.net_sizes.end());
  return choice;
}

BoundTask digits_task(const Setting& setting, const MnistTask& task) {
  return {.k = view_of(task.k),
          .k_test = view_of(task.k_test),
          .engine = &setting.engine,
          .labels = task.train.labels,
          .test_labels = task.test.labels,
          .classes = 2,
          .targets = {},
          .test_targets = {},
          .semidefinite = task.semidefinite};
}

MachineOptions bound_machine(const Setting& setting, Machine machine, double lambda) {
  MachineOptions options{.machine = machine, .lambda = lambda};
  options.progress = setting.progress;
  return options;
}

void add_rows(Part& part, Outcome& outcome, const std::string& name, const std::vector<BoundRow>& rows, bool figures) {
  part.table = bound_table(rows);
  if (figures) part.pictures = bound_figures(rows);
  Json json = Json::array();
  for (const BoundRow& row : rows) {
    json.push_back(bound_json(row));
    if (!row.summary.converged() && outcome.trouble.empty()) {
      outcome.trouble =
          fmt::format("{}, n = {}: {}: {}", row.name, row.samples, text(row.summary.ending), row.summary.message);
    }
  }
  outcome.results[name] = std::move(json);
  outcome.parts.push_back(std::move(part));
}

/// Bounds of machines by n, for true and random labels; yᵀH⁻¹y is computed only once for both machines.
void machines_by_samples(const Setting& setting, const BoundsChoice& choice, const MnistTask& task, Outcome& outcome) {
  const BoundTask whole = digits_task(setting, task);
  const RademacherOptions options{.delta = choice.delta, .loss = {}, .clip = {}};
  std::vector<BoundRow> rows;
  for (const bool random : {false, true}) {
    for (const auto& [machine, lambda] :
         {std::pair(Machine::svm, choice.svm_lambda), std::pair(Machine::ridge, choice.ridge_lambda)}) {
      for (const Index size : choice.sizes) {
        BoundTask part = whole.first(std::min(size, whole.samples()));
        if (random) part = part.with_random_labels(setting.seed + 1);
        rows.push_back(bound_row(part, bound_machine(setting, machine, lambda), options, machine == Machine::svm));
        if (random) rows.back().labels = "random";
      }
    }
  }
  const BoundRow& last = rows[choice.sizes.size() - 1];
  outcome.sentence = fmt::format(
      "MNIST {} and {}, {} images, {} with true labels: test error {:.4f}, bounds {} (EQ) and {} (uniform in the "
      "norm).",
      choice.digits[0], choice.digits[1], last.samples, last.name, last.test.value_or(0),
      bound_text(last.machine ? std::optional(last.machine->textbook.value()) : std::nullopt),
      bound_text(last.machine ? std::optional(last.machine->uniform->terms.value()) : std::nullopt));
  Part part{.heading = "Kernel machines, true and random labels"};
  part.words = fmt::format(
      "MNIST {} and {}, values in [0, 1], NTK of {}, no bias; svm with λ = {:g}, ridge with λ = {:g}; δ = {:g}. Loss: "
      "the ramp min(1, max(0, 1 − yg)), an upper bound of the 0-1 loss with range 1 and Lipschitz constant 1. Test: "
      "error rate on {} test images, for random labels on test images with random labels. EQ: the bound of the work, "
      "for a norm B fixed in advance; all norms: uniform in B, valid for the fitted norm. NT-L: bound of kernel "
      "regression from labels and kernel alone; its a-priori form assumes K(x,x) = ½, \"to scale\" holds for any "
      "kernel. EQ calls its bound non-vacuous without giving a number; NT-L has a figure without numbers.",
      choice.digits[0], choice.digits[1], choice.network, choice.svm_lambda, choice.ridge_lambda, choice.delta,
      task.test.count());
  add_rows(part, outcome, "machines", rows, setting.figures);
}

/// Bounds of ridge on flipped labels for every n.
void flipped_by_samples(const Setting& setting, const BoundsChoice& choice, const MnistTask& task, Outcome& outcome) {
  const BoundTask whole = digits_task(setting, task);
  const RademacherOptions options{.delta = choice.delta, .loss = {}, .clip = {}};
  std::vector<BoundRow> rows;
  std::string shapes;
  for (const Index size : choice.sizes) {
    BoundTask part = whole.first(std::min(size, whole.samples()));
    stop_if_requested(setting.progress);
    const auto norm = interpolant_norm(part.gram(), *part.values(), setting.progress).square;
    const std::vector<Index> labels = part.labels;
    for (const double flip : choice.flips) {
      part.labels = flip_labels(labels, 2, flip, setting.seed);
      rows.push_back(bound_row(part, bound_machine(setting, Machine::ridge, choice.noisy_lambda), options, false));
      rows.back().labels = fmt::format("{:g} flipped", flip);
      add_noisy_bounds(rows.back(), flip, norm, choice.noisy_lambda);
    }
    if (norm && size == choice.sizes.back()) {
      const double best = noisy_label_best_lambda(*norm, part.samples());
      shapes = fmt::format(" At n = {} the scaling bound is minimal for a ridge of {:.3g}: {:.3f} without noise.",
                           part.samples(), best, noisy_label_shape({0}, *norm, part.samples(), best));
    }
  }
  Part part{.heading = "Flipped labels"};
  part.words = fmt::format(
      "Ridge with λ = {:g}, i.e. k(x,X)(H + {:g}·I)⁻¹ỹ. Test: error rate on clean labels. Clean labels: ((all norms) − "
      "p)/(1 − 2p), a guarantee that uses p but no clean label. Noise shape: NT-L Theorem 6 with all constants of O(·) "
      "set to 1, which is no guarantee.{}",
      choice.noisy_lambda, choice.noisy_lambda / 2, shapes);
  add_rows(part, outcome, "flipped", rows, setting.figures);
}

BoundRow network_row(const Setting& setting, const BoundsChoice& choice, const MnistTask& task,
                     const BoundTask& labelled, Index size) {
  stop_if_requested(setting.progress);
  const Loss loss{.kind = LossKind::hinge};
  const auto n = static_cast<std::size_t>(size);
  const std::vector<Index> labels(labelled.labels.begin(), labelled.labels.begin() + static_cast<std::ptrdiff_t>(n));
  const Matrix<double> y = class_targets(labels, 2, loss);
  TrainOptions options = setting.training();
  options.width = choice.width;
  options.loss = loss;
  options.regulariser = Regulariser::none;
  options.lambda = 0;
  options.rate = choice.rate / static_cast<double>(size);
  options.steps = choice.steps;
  options.records = 2;
  options.record_outputs = false;
  const NetAsMachine net = train_as_kernel_machine(
      Network::parse(choice.network), {.x = task.train.view().part(0, size), .y = y.view()}, options, setting.engine);
  if (!net.difference) fail(Code::numerical, "{}", net.trained.summary.message);
  BoundRow row{.labels = "true",
               .name = fmt::format("width {}", choice.width),
               .samples = size,
               .machine = path_bound(net, labels, 2, {.delta = choice.delta, .loss = {}, .clip = {}}),
               .label = {},
               .train = 0,
               .test = {},
               .clean = {},
               .noisy_shape = {},
               .summary = {}};
  const Matrix<double> f = predict_outputs(net.trained, task.test.view(), setting.engine);
  Index wrong = 0;
  for (Index i = 0; i < f.rows(); ++i) {
    wrong += (f(i, 0) > 0) != (labelled.test_labels[static_cast<std::size_t>(i)] == 1) ? 1 : 0;
  }
  row.test = static_cast<double>(wrong) / static_cast<double>(f.rows());
  return row;
}

void networks_by_samples(const Setting& setting, const BoundsChoice& choice, const MnistTask& task, Outcome& outcome) {
  std::vector<BoundRow> rows;
  for (const bool random : {false, true}) {
    BoundTask labelled = digits_task(setting, task);
    if (random) labelled = labelled.with_random_labels(setting.seed + 1);
    for (const Index size : choice.net_sizes) {
      rows.push_back(network_row(setting, choice, task, labelled, std::min(size, task.train.count())));
      if (random) rows.back().labels = "random";
    }
  }
  Part part{.heading = "Trained networks as kernel machines"};
  part.words = fmt::format(
      "{} of width {}, hinge loss, {} steps of size {:g}/n on the sum of losses, no regulariser. B² = aᵀKa and tr K of "
      "the kernel of Theorem 4.1, whose offset b(x) = f₀(x) does not depend on the sample. This is the quantity of the "
      "work, but no guarantee: the path kernel depends on the sample.",
      choice.network, choice.width, choice.steps, choice.rate);
  add_rows(part, outcome, "networks", rows, setting.figures);
}

}  // namespace

Experiment generalisation_bounds() {
  return {
      .name = "generalisation-bounds",
      .summary = "Bounds of the error rate and the test error: machines, networks, random and flipped labels",
      .work =
          "Chen et al. 2021, On the Equivalence between Neural Network and Support Vector Machine, section 4.1; "
          "Zhang 2024, Neural Tangent Kernel (lecture), generalisation and Theorem 6",
      .options = {{"network", "NET", "Network, whose NTK the machines use", "eq2", ""},
                  {"digits", "A,B", "The two digits to classify", "0,1", ""},
                  {"sizes", "N1,N2,…", "Training images of the machines", "100,300,1000", "100,300,1000,3000,10000"},
                  {"svm-lambda", "L", "λ of the SVM", "1", ""},
                  {"ridge-lambda", "L", "λ of ridge", "1", ""},
                  {"delta", "D", "Probability that a bound fails", "0.05", ""},
                  {"flips", "P,...", "Fractions of labels to flip", "0.1,0.2", "0.1,0.2,0.3"},
                  {"noisy-lambda", "L", "λ of ridge on flipped labels", "30", "100"},
                  {"net-sizes", "N1,N2,…", "Training images of the networks", "100,300", "100,300,1000"},
                  {"width", "M", "Width of the networks", "128", "256"},
                  {"rate", "ETA", "Step size on the mean loss", "1", ""},
                  {"steps", "N", "Training steps", "100", "200"}},
      .run = [](const Setting& setting) {
        const BoundsChoice choice = bounds_choice(setting);
        const Index most = std::max(choice.sizes.back(), choice.net_sizes.back());
        const MnistTask task = mnist_task(setting, choice.network, choice.digits, most);
        Outcome outcome;
        machines_by_samples(setting, choice, task, outcome);
        flipped_by_samples(setting, choice, task, outcome);
        networks_by_samples(setting, choice, task, outcome);
        outcome.timings.emplace_back("kernel", task.seconds);
        return outcome;
      }};
}

}  // namespace widelimit::experiment
