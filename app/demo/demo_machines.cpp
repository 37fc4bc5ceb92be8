#include "app/demo/demo_machines.hpp"

#include "app/shell/interrupt.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/kernel/request.hpp"
#include "widelimit/report/fit_summary.hpp"
#include "widelimit/report/machine_figures.hpp"
#include "widelimit/report/scores.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace widelimit::app {

namespace {

constexpr const char* demo_network = "fc:3(w_std=1.4142)";

/// Digits in a random order, four fifths to learn from, and the kernels of both parts.
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
  DemoTask task{.data = load_within(options, request), .train = {}, .test = {}};
  KernelRequest wanted{.kernel = Network::parse(demo_network)};
  wanted.kind = Kind::ntk;
  wanted.precision = parse_precision(options.precision);
  wanted.memory = options.memory_limit();
  wanted.progress = &bar;
  KernelAnswer answer = compute_kernel(wanted, task.data.train, task.data.test, engine);
  for (NamedMatrix& matrix : answer.matrices) {
    (matrix.name == "ntk" ? task.train : task.test) = std::move(matrix.values);
  }
  return task;
}

/// λ by what is left out, then the machine of that λ.
void add_machine(MachineShow& show, const DemoTask& task, Machine machine, const CommonOptions& options,
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
  if (!best) fail(Code::numerical, "{} has no answer on the digits for any λ", path.name);
  const TunePoint& point = path.points[*best];

  MachineOptions chosen = tuning.machine;
  chosen.lambda = point.lambda;
  const Trained trained = train_classes(k, labels, task.classes(), chosen);
  const auto found =
      score(trained.scheme, trained.classes, decision(trained.fit, view_of(task.test), engine), *task.data.test);
  const std::string method = machine == Machine::ridge ? "leave-one-out" : fmt::format("{} folds", tuning.folds);
  show.table.rows.push_back({path.name, fmt::format("{:.3g}", point.lambda), method, *point.error(), found->accuracy(),
                             text(trained.fit.summary.ending)});
  show.results.push_back({{"machine", path.name},
                          {"lambda", point.lambda},
                          {"method", method},
                          {"held_out_error", *point.error()},
                          {"test", score_json(*found)},
                          {"summary", summary_json(trained.fit.summary)}});
  show.best_accuracy = std::max(show.best_accuracy, found->accuracy());
  show.paths.push_back(error_by_lambda({path}, method, std::pair(std::size_t{0}, *best)));
  show.confusion.push_back(
      confusion_map(found->confusion, task.data.train.class_names, path.name + ": who is taken for whom"));
}

}  // namespace

MachineShow show_machines(const CommonOptions& options, const Engine& engine) {
  const DemoTask task = demo_task(options, engine);
  MachineShow show{.network = demo_network, .train = task.data.train.count(), .test = task.data.test->count()};
  show.table.columns = {"machine", "lambda", "chosen by", "error left out", "test accuracy", "ending"};
  show.results = nlohmann::ordered_json::array();
  for (const Machine machine : {Machine::svm, Machine::ridge}) add_machine(show, task, machine, options, engine);
  return show;
}

}  // namespace widelimit::app
