#include "experiments/experiments.hpp"

#include "experiments/equivalence/certified_digits.hpp"
#include "widelimit/analysis/dynamics/descend.hpp"
#include "widelimit/analysis/scores.hpp"
#include "widelimit/machine/ridge/ridge_path.hpp"
#include "widelimit/report/figures/certificate_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace widelimit::experiment {

namespace {

/// The `paper` radii of the SVM of EQ during stochastic subgradient descent, compared with those of the minimiser.
struct SvmDescent {
  Part part;
  nlohmann::ordered_json results;
};

constexpr Index descent_batch = 64;

Trajectory descent_of(const Setting& setting, const MnistTask& task, double lambda, std::vector<Index> steps) {
  const Matrix<double> y = class_targets(task.train.labels, task.classes());
  DescendOptions options;
  options.loss.kind = LossKind::hinge;
  options.lambda = lambda;
  options.rate = 1 / static_cast<double>(task.train.count());  // rate 1 on the mean loss
  options.steps = steps.back();
  options.batch = std::min(descent_batch, task.train.count());
  options.seed = setting.seed;
  options.record_at = std::move(steps);
  options.record.samples = std::vector<Index>{};
  options.record.coefficients = true;
  options.check_rate = false;
  options.check_definite = !task.semidefinite;
  options.progress = setting.progress;
  return descend({view_of(task.k), setting.engine}, y.view(), options);
}

FittedMachine machine_at(const Trajectory& trajectory, std::size_t record, Index classes) {
  FittedMachine machine{.machine = Machine::svm, .scheme = Scheme::sign, .classes = classes, .fit = {}};
  const auto row = static_cast<Index>(record);
  machine.fit.alpha = Matrix<double>(trajectory.coefficients.cols(), 1);
  std::copy_n(trajectory.coefficients.view().row(row), trajectory.coefficients.cols(), machine.fit.alpha.data());
  machine.fit.bias = {0.0};
  return machine;
}

/// Certifies the SVM after each of `passes` (increasing) epochs of descent, on the first `tests` test images. EQ does
/// not state how long its SVM was trained, and the radii decrease during training. λ is relative to the sum of losses;
/// the step size is 1 on the mean of 64 losses, as in EQ for all of MNIST 0 and 1 (Figure A.1). O(samples·64) per step.
SvmDescent certify_svm_descent(const Setting& setting, const MnistTask& task, const std::string& network, double lambda,
                               std::span<const Index> passes, Index tests) {
  const Index steps_per_epoch = std::max<Index>(1, task.train.count() / descent_batch);
  std::vector<Index> steps{0};
  for (const Index pass : passes) steps.push_back(pass * steps_per_epoch);
  const Trajectory trajectory = descent_of(setting, task, lambda, steps);

  SvmDescent result;
  result.part.heading = "The support vector machine during training";
  result.part.table.columns = {"passes", "steps", "accuracy", "objective", "paper"};
  result.part.words = fmt::format(
      "λ = {:g}, step size 1 on the mean of {} hinge losses. The row of the table above is the minimiser; EQ trains "
      "its machine by subgradient descent, for an unstated time, and the radii decrease during training.",
      lambda, descent_batch);
  CertifyOptions options;
  options.method = CertificateMethod::paper;
  options.progress = setting.progress;
  for (std::size_t k = 1; k < steps.size(); ++k) {
    const FittedMachine machine = machine_at(trajectory, k, task.classes());
    const Matrix<double> g = decision(machine.fit, view_of(task.k_test), setting.engine);
    const double accuracy = class_scores(Scheme::sign, task.classes(), g.view(), task.test.labels).accuracy();
    const Model model = fitted_model(Network::parse(network), task.train, machine, lambda);
    const double radius = statistics(certify_digits(model, task, tests, 0, options, setting.engine)).mean;
    result.part.table.rows.push_back({passes[k - 1], steps[k], fmt::format("{:.2f} %", 100 * accuracy),
                                      fmt::format("{:.5g}", trajectory.objective[k]), fmt::format("{:.4g}", radius)});
    result.results.push_back({{"passes", passes[k - 1]},
                              {"steps", steps[k]},
                              {"accuracy", accuracy},
                              {"objective", trajectory.objective[k]},
                              {"paper", radius}});
  }
  return result;
}

using Json = nlohmann::ordered_json;

/// The network of EQ §4.2.
constexpr const char* certified_network = "eq2";

/// One row of EQ Table 3.
struct Table3Line {
  Machine machine;
  double lambda;
  double accuracy;
  double radius;
};

std::vector<Table3Line> eq_table_3_radii() {
  return {{Machine::regression, 0, 0.9995, 3.30202e-5}, {Machine::ridge, 0.001, 0.9995, 3.756122e-5},
          {Machine::ridge, 0.01, 0.9995, 6.505500e-5},  {Machine::ridge, 0.1, 0.9995, 2.229960e-4},
          {Machine::ridge, 1, 0.9995, 0.001005},        {Machine::ridge, 10, 0.9991, 0.005181},
          {Machine::ridge, 100, 0.9986, 0.020456},      {Machine::ridge, 1000, 0.9976, 0.026088},
          {Machine::svm, 0.064, 0.9995, 0.008054}};
}

/// A certification method, without a box or in the box of pixel values; the published theorem has no box.
struct MethodColumn {
  const char* name;
  CertificateMethod method;
  bool box;
};
constexpr std::array<MethodColumn, 5> method_columns{{{"paper", CertificateMethod::paper, false},
                                                      {"interval", CertificateMethod::interval, false},
                                                      {"interval, box", CertificateMethod::interval, true},
                                                      {"convex", CertificateMethod::convex, false},
                                                      {"convex, box", CertificateMethod::convex, true}}};

struct Table3Sizes {
  Index samples = 0;
  Index tests = 0;
  Index convex = 0;  ///< test images for the slower method `convex`
  Index attacks = 0;

  [[nodiscard]] Index tests_of(CertificateMethod method) const {
    return method == CertificateMethod::convex ? convex : tests;
  }
};

/// Fits all machines of the table: ridge for all λ by one path, the others separately.
std::vector<FittedMachine> table_machines(const Setting& setting, const MnistTask& task) {
  const std::vector<Table3Line> lines = eq_table_3_radii();
  std::vector<double> lambdas;
  for (const Table3Line& line : lines) {
    if (line.machine == Machine::ridge) lambdas.push_back(line.lambda);
  }
  const Matrix<double> y = class_targets(task.train.labels, task.classes());
  const GramMatrix k(view_of(task.k), setting.engine);
  RidgePathOptions along;
  along.progress = setting.progress;
  RidgePath path = ridge_path(k, y.view(), lambdas, along);
  std::vector<FittedMachine> machines;
  std::size_t ridge = 0;
  for (const Table3Line& line : lines) {
    stop_if_requested(setting.progress);
    if (line.machine == Machine::ridge) {
      machines.push_back({.machine = line.machine,
                          .scheme = Scheme::sign,
                          .classes = task.classes(),
                          .fit = std::move(path.points[ridge++].fit)});
      continue;
    }
    MachineOptions options{.machine = line.machine};
    if (line.lambda > 0) options.lambda = line.lambda;
    options.check_definite = !task.semidefinite;
    options.progress = setting.progress;
    machines.push_back(train_classes(k, task.train.labels, task.classes(), options));
  }
  return machines;
}

/// One row of the table: certificates by column; the last column includes the attack.
struct MachineRow {
  Table3Line published;
  double accuracy = 0;
  std::vector<Certificates> columns;
};

MachineRow certified_row(const Setting& setting, const Table3Sizes& sizes, const MnistTask& task,
                         const Table3Line& published, const FittedMachine& trained) {
  MachineRow row{.published = published};
  const Matrix<double> g = decision(trained.fit, view_of(task.k_test), setting.engine);
  row.accuracy = class_scores(Scheme::sign, task.classes(), g.view(), task.test.labels).accuracy();
  const Model model = fitted_model(Network::parse(certified_network), task.train, trained, published.lambda);
  for (const MethodColumn& column : method_columns) {
    CertifyOptions options;
    options.method = column.method;
    if (column.box) options.box = Box{};
    if (&column == &method_columns.back()) options.attack = AttackOptions{.seed = setting.seed};
    options.progress = setting.progress;
    row.columns.push_back(
        certify_digits(model, task, sizes.tests_of(column.method), sizes.attacks, options, setting.engine));
  }
  return row;
}

std::string radius_text(double radius) { return fmt::format("{:.4g}", radius); }

void add_table3_row(Part& part, Json& json, const MachineRow& row) {
  const Table3Line& published = row.published;
  std::vector<Cell> cells{std::string(to_string(published.machine)), fmt::format("{:g}", published.lambda),
                          fmt::format("{:.2f} %", 100 * row.accuracy), radius_text(published.radius)};
  Json entry{{"machine", to_string(published.machine)},
             {"lambda", published.lambda},
             {"accuracy", row.accuracy},
             {"published_accuracy", published.accuracy},
             {"published_radius", published.radius}};
  for (std::size_t c = 0; c < row.columns.size(); ++c) {
    const CertificateStatistics stats = statistics(row.columns[c]);
    cells.emplace_back(radius_text(stats.mean));
    entry["methods"].push_back({{"method", to_string(method_columns[c].method)},
                                {"box", method_columns[c].box},
                                {"mean", stats.mean},
                                {"deviation", stats.deviation},
                                {"certified", stats.correct},
                                {"seconds", row.columns[c].seconds}});
  }
  const CertificateStatistics last = statistics(row.columns.back());
  cells.emplace_back(last.attack_mean ? radius_text(*last.attack_mean) : "–");
  cells.emplace_back(last.ratio ? fmt::format("{:.2f}", *last.ratio) : "–");
  if (last.attack_mean) entry["attack"] = *last.attack_mean;
  if (last.ratio) entry["ratio"] = *last.ratio;
  entry["broken"] = last.broken;
  entry["attack_seconds"] = row.columns.back().attack_seconds;
  part.table.rows.push_back(std::move(cells));
  json.push_back(std::move(entry));
}

/// Plots radii of ridge against λ, including the published radii.
Illustration radii_by_lambda(const std::vector<MachineRow>& rows) {
  std::vector<Series> lines{{.name = "published"}};
  for (const MethodColumn& column : method_columns) lines.push_back({.name = column.name});
  lines.push_back({.name = "attack, box"});
  for (const MachineRow& row : rows) {
    if (row.published.machine != Machine::ridge) continue;
    std::vector<double> radii{row.published.radius};
    for (const Certificates& column : row.columns) radii.push_back(statistics(column).mean);
    radii.push_back(statistics(row.columns.back()).attack_mean.value_or(0));
    for (std::size_t s = 0; s < lines.size(); ++s) {
      if (!(radii[s] > 0)) continue;
      lines[s].x.push_back(row.published.lambda);
      lines[s].y.push_back(radii[s]);
    }
  }
  std::erase_if(lines, [](const Series& line) { return line.x.empty(); });
  return {.figure = curves(lines, {.title = "Mean radius by λ, ridge",
                                   .x_label = "λ",
                                   .y_label = "radius",
                                   .x_scale = AxisScale::log,
                                   .y_scale = AxisScale::log}),
          .caption = "Certificates are lower bounds, the attack is an upper bound."};
}

/// Plots the certified accuracy of one ridge machine against the radius.
Illustration digits_by_radius(const MachineRow& row, Index attacks) {
  std::vector<RadiusSeries> series;
  for (std::size_t c = 0; c < row.columns.size(); ++c) {
    series.push_back(certified_radii(method_columns[c].name, row.columns[c]));
  }
  RadiusSeries attacked = attacked_radii(row.columns.back());
  attacked.name = "attack, box";
  attacked.radii.resize(std::min(attacked.radii.size(), usize(attacks)));
  series.push_back(std::move(attacked));
  Illustration picture = certified_accuracy(series);
  picture.caption += fmt::format(" Ridge, λ = {:g}.", row.published.lambda);
  return picture;
}

void report_unconverged(const std::vector<FittedMachine>& machines, Outcome& outcome) {
  for (const FittedMachine& trained : machines) {
    const Summary& summary = trained.fit.summary;
    if (!summary.converged() && outcome.trouble.empty()) outcome.trouble = summary.message;
  }
}

std::string sentence_of(const MachineRow& row, const Table3Sizes& sizes) {
  const CertificateStatistics best = statistics(row.columns.back());
  std::string text = fmt::format(
      "MNIST 0 and 1, {} training and {} test images, ridge with λ = {:g}: published {:.3g}, paper {:.3g}, interval "
      "{:.3g}, convex {:.3g} with the box",
      sizes.samples, sizes.tests, row.published.lambda, row.published.radius, statistics(row.columns[0]).mean,
      statistics(row.columns[2]).mean, best.mean);
  if (best.ratio) text += fmt::format(", {:.2f} of the attack distance", *best.ratio);
  return text + ".";
}

Outcome run_table3(const Setting& setting) {
  Table3Sizes sizes{.samples = setting.count("samples", 2),
                    .tests = setting.count("tests", 1),
                    .convex = setting.count("convex", 1),
                    .attacks = setting.count("attacks", 1)};
  std::vector<Index> passes = setting.counts("passes", 1);
  std::sort(passes.begin(), passes.end());
  passes.erase(std::unique(passes.begin(), passes.end()), passes.end());
  const MnistTask task = mnist_task(setting, certified_network, {"0", "1"}, sizes.samples);
  sizes.samples = task.train.count();
  sizes.tests = std::min(sizes.tests, task.test.count());
  sizes.convex = std::min(sizes.convex, sizes.tests);
  sizes.attacks = std::min(sizes.attacks, sizes.convex);
  Outcome outcome;
  const std::vector<FittedMachine> machines = table_machines(setting, task);
  report_unconverged(machines, outcome);
  Part part{.heading = "Certified radii on MNIST 0 and 1"};
  part.table.columns = {"machine", "lambda", "accuracy", "published"};
  for (const MethodColumn& column : method_columns) part.table.columns.emplace_back(column.name);
  part.table.columns.insert(part.table.columns.end(), {"attack, box", "convex/attack, box"});
  Json json = Json::array();
  std::vector<MachineRow> rows;
  const std::vector<Table3Line> lines = eq_table_3_radii();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    rows.push_back(certified_row(setting, sizes, task, lines[i], machines[i]));
    add_table3_row(part, json, rows.back());
    if (lines[i].lambda == 1) outcome.sentence = sentence_of(rows.back(), sizes);
    if (setting.figures && lines[i].lambda == 1) part.pictures.push_back(digits_by_radius(rows.back(), sizes.attacks));
  }
  if (setting.figures) part.pictures.push_back(radii_by_lambda(rows));
  part.words = fmt::format(
      "Mean ℓ∞ radii over the correctly classified images among the first {} test images ({} for convex); accuracy "
      "over all {}. {} training images, values in [0, 1], NTK of {}, no bias. Published: Table 3 of \"On the "
      "Equivalence between Neural Network and Support Vector Machine\", all 12,665 training images; paper is its "
      "theorem, without a box. Box: perturbed pixels stay in [0, 1]. The attack is on the first {} images; the last "
      "column is the mean of radius/attack over them.",
      sizes.tests, sizes.convex, task.test.count(), sizes.samples, certified_network, sizes.attacks);
  outcome.results = {{"train", sizes.samples},
                     {"tests", sizes.tests},
                     {"convex", sizes.convex},
                     {"attacks", sizes.attacks},
                     {"machines", json}};
  outcome.timings.emplace_back("kernel", task.seconds);
  outcome.parts.push_back(std::move(part));
  SvmDescent descent = certify_svm_descent(setting, task, certified_network, lines.back().lambda, passes, sizes.tests);
  outcome.results["descent"] = std::move(descent.results);
  outcome.parts.push_back(std::move(descent.part));
  return outcome;
}

}  // namespace

Experiment certificates_table3() {
  return {.name = "certificates-table3",
          .summary = "Certified radii of kernel machines on MNIST 0 and 1, by λ and method, compared with an attack",
          .work = "Chen et al. 2021, On the Equivalence between Neural Network and Support Vector Machine, Table 3",
          .options = {{"samples", "N", "Training images of 0 and 1", "2000", "12665"},
                      {"tests", "N", "Test images to certify", "30", "2115"},
                      {"convex", "N", "Test images to certify by convex", "30", "300"},
                      {"attacks", "N", "Test images to attack", "20", "200"},
                      {"passes", "P,…", "Epochs of descent after which the SVM is certified", "1,10,100",
                       "1,10,100,200,300"}},
          .run = run_table3};
}

}  // namespace widelimit::experiment
