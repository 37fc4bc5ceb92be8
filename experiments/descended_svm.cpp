#include "experiments/descended_svm.hpp"

#include "widelimit/analysis/dynamics/descend.hpp"
#include "widelimit/report/scores.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace widelimit::experiment {

namespace {

constexpr Index descent_batch = 64;

Trajectory descent_of(const Setting& setting, const MnistTask& task, double lambda, std::vector<Index> steps) {
  const Matrix<double> y = class_targets(task.train.labels, task.classes());
  DescendOptions options;
  options.loss.kind = LossKind::hinge;
  options.lambda = lambda;
  options.rate = 1 / static_cast<double>(task.train.count());  // of the mean, on the sum
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

FittedMachine machine_at(const Trajectory& trajectory, std::size_t moment, Index classes) {
  FittedMachine machine{.machine = Machine::svm, .scheme = Scheme::sign, .classes = classes, .fit = {}};
  const auto row = static_cast<Index>(moment);
  machine.fit.alpha = Matrix<double>(trajectory.coefficients.cols(), 1);
  std::copy_n(trajectory.coefficients.view().row(row), trajectory.coefficients.cols(), machine.fit.alpha.data());
  machine.fit.bias = {0.0};
  return machine;
}

}  // namespace

DescendedSvm descended_svm(const Setting& setting, const MnistTask& task, const std::string& network, double lambda,
                           std::span<const Index> passes, Index tests) {
  const Index a_pass = std::max<Index>(1, task.train.count() / descent_batch);
  std::vector<Index> steps{0};
  for (const Index pass : passes) steps.push_back(pass * a_pass);
  const Trajectory trajectory = descent_of(setting, task, lambda, steps);

  DescendedSvm result;
  result.part.heading = "The support vector machine while it is trained";
  result.part.table.columns = {"passes", "steps", "accuracy", "objective", "paper"};
  result.part.words = fmt::format(
      "λ = {:g}, steps of 1 on the mean of {} hinge losses. The line of the table above is the minimiser; EQ's machine "
      "is trained by subgradient descent, for how long it does not say, and radii fall as long as it goes on.",
      lambda, descent_batch);
  CertifyOptions options;
  options.method = CertificateMethod::paper;
  options.progress = setting.progress;
  for (std::size_t k = 1; k < steps.size(); ++k) {
    const FittedMachine machine = machine_at(trajectory, k, task.classes());
    const Matrix<double> g = decision(machine.fit, view_of(task.k_test), setting.engine);
    const double accuracy = score(Scheme::sign, task.classes(), g, task.test)->accuracy();
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

}  // namespace widelimit::experiment
