#include "app/demo/demo_sections.hpp"

#include "app/certify/certify_page.hpp"
#include "app/shell/interrupt.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/finite/training/network_targets.hpp"
#include "widelimit/kernel/request.hpp"
#include "widelimit/machine/model.hpp"
#include "widelimit/report/figures/equivalence_figures.hpp"
#include "widelimit/report/figures/machine_figures.hpp"
#include "widelimit/report/fit_summary.hpp"
#include "widelimit/report/scores.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace widelimit::app {

namespace {

constexpr const char* demo_network = "fc:3(w_std=1.4142)";

/// Shuffled digits, four fifths of them for training, and the kernels of both parts.
struct DemoTask {
  TrainTest data;
  AnyMatrix train;
  AnyMatrix test;

  [[nodiscard]] Index classes() const { return std::ssize(data.train.class_names); }
};

DemoTask demo_task(const CommonOptions& options, const Engine& engine) {
  ProgressBar bar(options);
  DataRequest request{.train = "digits"};
  request.shuffle = options.seed;
  request.split = 0.8;
  request.scale = Scaling::standard;
  DemoTask task{.data = load_request(options, request), .train = {}, .test = {}};
  KernelRequest kernel_request{.kernel = Network::parse(demo_network)};
  kernel_request.kind = Kind::ntk;
  kernel_request.precision = parse_precision(options.precision);
  kernel_request.memory = options.memory_limit();
  kernel_request.progress = &bar;
  KernelResult result = compute_kernel(kernel_request, task.data.train, task.data.test, engine);
  for (NamedMatrix& matrix : result.matrices) {
    (matrix.name == "ntk" ? task.train : task.test) = std::move(matrix.values);
  }
  return task;
}

/// Selects λ by the held-out error and fits the machine with it.
void add_machine(MachineReport& report, const DemoTask& task, Machine machine, const CommonOptions& options,
                 const Engine& engine) {
  ProgressBar bar(options);
  stop_if_interrupted();
  TuneOptions tuning;
  tuning.machine = {.machine = machine, .check_definite = false, .progress = &bar};  // a network's kernel
  tuning.lambdas = logarithmic_grid(1e-4, 1e2, machine == Machine::ridge ? 13 : 7);
  tuning.seed = options.seed;
  const GramMatrix k(view_of(task.train), engine);
  const std::vector<Index>& labels = task.data.train.labels;
  const LambdaPath path{std::string(to_string(machine)), tune_classes(k, labels, task.classes(), tuning)};
  const auto best = best_point(path.points);
  if (!best) fail(Code::numerical, "{} has no solution on the digits for any λ", path.name);
  const TunePoint& point = path.points[*best];

  MachineOptions chosen = tuning.machine;
  chosen.lambda = point.lambda;
  const FittedMachine trained = train_classes(k, labels, task.classes(), chosen);
  const ClassScores found =
      class_scores(trained.scheme, trained.classes, decision(trained.fit, view_of(task.test), engine).view(),
                   task.data.test->labels);
  const std::string method = machine == Machine::ridge ? "leave-one-out" : fmt::format("{} folds", tuning.folds);
  report.table.rows.push_back({path.name, fmt::format("{:.3g}", point.lambda), method, *point.error(), found.accuracy(),
                               text(trained.fit.summary.ending)});
  report.results.push_back({{"machine", path.name},
                            {"lambda", point.lambda},
                            {"method", method},
                            {"held_out_error", *point.error()},
                            {"test", score_json(found, task.data.train.class_names)},
                            {"summary", summary_json(trained.fit.summary)}});
  report.best_accuracy = std::max(report.best_accuracy, found.accuracy());
  report.paths.push_back(error_by_lambda({path}, method, std::pair(std::size_t{0}, *best)));
  report.confusion.push_back(
      confusion_map(found.confusion, task.data.train.class_names, path.name + ": confusion matrix"));
}

}  // namespace

MachineReport demo_machines(const CommonOptions& options, const Engine& engine) {
  const DemoTask task = demo_task(options, engine);
  MachineReport report{.network = demo_network, .train = task.data.train.count(), .test = task.data.test->count()};
  report.table.columns = {"machine", "lambda", "selected by", "held-out error", "test accuracy", "ending"};
  report.results = nlohmann::ordered_json::array();
  for (const Machine machine : {Machine::svm, Machine::ridge}) add_machine(report, task, machine, options, engine);
  return report;
}

Equivalence demo_equivalence(const CommonOptions& options, const Engine& engine) {
  ProgressBar bar(options);
  stop_if_interrupted();
  DataRequest request{.train = "digits"};
  request.classes = {"0", "1"};
  request.limit = 40;
  request.scale = Scaling::minmax;
  const TrainTest data = load_request(options, request);
  EquivalenceOptions how;
  TrainOptions& train = how.train;
  train.loss.kind = LossKind::hinge;
  train.lambda = 1;
  train.rate = 0.1 / static_cast<double>(data.train.count());
  train.steps = 100;
  train.seed = options.seed;
  train.memory = options.memory_limit();
  train.progress = &bar;
  how.widths = {64, 256, 1024};
  how.seeds = 2;
  const NetworkTargets targets = network_targets(data, train.loss);
  Equivalence result = equivalence(Network::parse("fc:2(w_std=1.4142)"), targets.with(data), how, engine);
  if (const std::string trouble = result.trouble(); !trouble.empty()) fail(Code::numerical, "{}", trouble);
  return result;
}

void add_equivalence_section(Page& page, const Equivalence& result) {
  page.section("Networks of finite width compared with their machine").table(equivalence_table(result));
  page.paragraph(fmt::format(
      "Networks of three layers and the support vector machine of their tangent kernel learn to distinguish 0 from "
      "1 by the same {} steps. The largest difference of their outputs decreases as a power of the width with exponent "
      "{} (95 %); theory predicts −½.",
      result.steps.back(), slope_text(result.slope)));
  page.figures({equivalence_outputs(result), difference_by_width(result)});
}

namespace {

constexpr const char* demo_certified_network = "fc:1(w_std=1.4142)";
constexpr double brightest_digit = 16;
constexpr Index demo_certified_images = 36;

/// Scales pixels to [0, 1] by the range of the format instead of the data, so that one box holds for all images.
TrainTest pixel_digits(std::uint64_t seed) {
  DataRequest request{.train = "digits"};
  request.classes = {"3", "8"};
  request.shuffle = seed;
  request.split = 0.8;
  request.test_limit = demo_certified_images;
  TrainTest data = load_train_test(request);
  const auto features = static_cast<std::size_t>(data.train.shape.size());
  const Scaler pixels(Scaling::minmax, std::vector<double>(features, 0.0),
                      std::vector<double>(features, brightest_digit));
  pixels.apply(data.train);
  pixels.apply(*data.test);
  return data;
}

Model demo_model(const TrainTest& data, const Engine& engine) {
  KernelRequest kernel_request{.kernel = Network::parse(demo_certified_network)};
  kernel_request.kind = Kind::ntk;
  const KernelResult result = compute_kernel(kernel_request, data.train, std::nullopt, engine);
  const MachineOptions machine{.machine = Machine::ridge, .lambda = 1};
  const FittedMachine trained =
      train_classes({view_of(result.matrices.front().values), engine}, data.train.labels, 2, machine);
  if (!trained.fit.summary.converged()) fail(Code::numerical, "ridge on digits: {}", trained.fit.summary.message);
  return fitted_model(kernel_request.kernel, data.train, trained, machine.lambda);
}

}  // namespace

CertificateReport demo_certificates(const CommonOptions& options, const Engine& engine) {
  stop_if_interrupted();
  ProgressBar bar(options);
  const TrainTest data = pixel_digits(options.seed);
  const Model model = demo_model(data, engine);
  CertifyOptions how;
  how.box = Box{};
  how.attack = AttackOptions{.seed = options.seed};
  how.keep_attacked = true;
  how.progress = &bar;
  const Dataset& test = *data.test;
  CertificateReport report{
      .certified = certify_with_methods(
          certificate_methods(model), how,
          [&](const CertifyOptions& own) { return certify(model, test.view(), test.labels, own, engine); }),
      .train = data.train.count()};
  report.table = certified_table(report.certified, round_radii(report.certified.best(), 2));
  const Matrix<double> decisions =
      predict_decisions(model, {report.certified.best().attacked.view(), test.shape}, engine);
  const std::vector<Index> attacked_as = classes_of(model.scheme, 2, decisions.view());
  report.least_robust = least_robust_pictures({.title = {},
                                               .certified = report.certified,
                                               .table = report.table,
                                               .data = test,
                                               .names = model.classes,
                                               .labels = test.labels,
                                               .attacked_as = attacked_as,
                                               .box = how.box},
                                              least_robust(report.certified.best(), 9));
  return report;
}

void add_certificate_section(Page& page, const CertificateReport& report) {
  const CertificateStatistics stats = statistics(report.certified.best());
  page.section("Certificates").table(report.table);
  page.paragraph(
      fmt::format("Ridge regression on the tangent kernel of one hidden layer distinguishes 3 from 8; it is fitted to "
                  "{} images and classifies {} of {} held-out images correctly. A certified radius is proved: no image "
                  "whose pixels differ by at most the radius and stay in [0, 1] is classified differently. The attack "
                  "searches for the nearest image with another class. The published method (paper) gives small radii; "
                  "the second-order bound (convex) gives much larger ones.",
                  report.train, stats.correct, stats.samples));
  add_radius_figures(page, report.certified);
  if (report.least_robust) page.figure(*report.least_robust);
}

}  // namespace widelimit::app
