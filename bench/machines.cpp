// Whole classifiers on MNIST, from kernel to accuracy on two CPU cores: digits 0 and 1 with all 12,665 training images,
// and all ten digits with 10,000, by SVM (one against one, with bias) and ridge, compared with scikit-learn's SVC and
// KernelRidge on the same precomputed Gram matrix.

#include "widelimit/machine/machine.hpp"

#include "bench/measure.hpp"
#include "bench/program.hpp"
#include "experiments/tasks/mnist_task.hpp"
#include "widelimit/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace widelimit::bench {
namespace {

using experiment::MnistTask;

struct Digits {
  const char* name;
  std::vector<std::string> classes;  ///< empty: all
  Index most;                        ///< maximum number of training images
  double lambda;
};

std::vector<Digits> tasks() {
  return {{"MNIST 0 and 1", {"0", "1"}, 12665, 0.064}, {"MNIST, ten digits", {}, 10000, 0.01}};
}

/// scikit-learn's solver has another stopping rule: predictions may differ for this many of a thousand test images.
constexpr double most_different = 2;

/// Predictions of a machine for the test images, and the summary of its fit.
struct Predictions {
  std::vector<Index> classes;
  Summary summary;
};

Predictions predict(const Benchmark& benchmark, const MnistTask& task, const MachineOptions& options) {
  const FittedMachine trained =
      train_classes({view_of(task.k), benchmark.engine}, task.train.labels, task.classes(), options);
  const Matrix<double> g = decision(trained.fit, view_of(task.k_test), benchmark.engine);
  return {classes_of(trained.scheme, task.classes(), g.view()), trained.fit.summary};
}

double share_of_equal(const std::vector<Index>& a, const std::vector<Index>& b) {
  double equal = 0;
  for (std::size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i] ? 1 : 0;
  return equal / static_cast<double>(a.size());
}

Matrix<double> column(const std::vector<Index>& labels) {
  Matrix<double> result(std::ssize(labels), 1);
  std::transform(labels.begin(), labels.end(), result.data(), [](Index label) { return static_cast<double>(label); });
  return result;
}

std::vector<Index> read_classes(const std::filesystem::path& path, Index samples) {
  const Matrix<double> raw = read_raw<double>(path, samples, 1);
  std::vector<Index> classes;
  for (Index i = 0; i < samples; ++i) classes.push_back(static_cast<Index>(raw(i, 0)));
  return classes;
}

/// Prints a line: fit times, accuracies, and our duality gap. Returns false if results differ or ours did not converge.
bool measure(const Benchmark& benchmark, const MnistTask& task, const MachineOptions& options, Peer& peer) {
  const std::string name(to_string(options.machine));
  const Predictions ours = predict(benchmark, task, options);
  if (!ours.summary.converged()) {
    fmt::print("{:<6} {}: {}; not timed\n", name, text(ours.summary.ending), ours.summary.message);
    return false;
  }
  const auto fit = [&] {
    return train_classes({view_of(task.k), benchmark.engine}, task.train.labels, task.classes(), options);
  };
  std::vector<std::function<double()>> clocks{[&] { return seconds_of(fit); }};
  const std::string request = fmt::format("{} {}", name, options.lambda);
  std::optional<double> their_accuracy;
  if (peer.present()) {
    const auto file = benchmark.scratch / "predictions";
    peer.request(fmt::format("compute {} {}", request, file.string()));
    const std::vector<Index> theirs = read_classes(file, task.test.count());
    const double different = 1000 * (1 - share_of_equal(ours.classes, theirs));
    if (different > most_different) {
      fmt::print("{:<6} RESULTS DIFFER for {:.1f} of a thousand test images; not timed\n", name, different);
      return false;
    }
    their_accuracy = share_of_equal(theirs, task.test.labels);
    clocks.push_back([&] { return std::stod(peer.request("time " + request)); });
  }
  const auto seconds = medians_in_turn(clocks, benchmark.settings.repeats);
  fmt::print("{:<6} {:>8g} {:>10.3f} {:>9.2f} %", name, options.lambda, seconds[0],
             100 * share_of_equal(ours.classes, task.test.labels));
  if (their_accuracy) {
    fmt::print(" {:>12.3f} {:>7.1f}x {:>9.2f} %", seconds[1], seconds[1] / seconds[0], 100 * *their_accuracy);
  } else {
    fmt::print(" {:>12} {:>8} {:>11}", "-", "-", "-");
  }
  fmt::print("  {}\n", ours.summary.gap ? fmt::format("{:.1e}", *ours.summary.gap) : "-");
  return true;
}

bool run_task(const Benchmark& benchmark, const Digits& digits) {
  const Settings& settings = benchmark.settings;
  const experiment::Setting setting{.engine = benchmark.engine};
  const MnistTask task = experiment::mnist_task(setting, "eq2", digits.classes, std::min(settings.rows, digits.most));
  fmt::print("{}, {} training and {} test images; both kernels in {:.3f} s; medians of {} rounds, seconds of the fit\n",
             digits.name, task.train.count(), task.test.count(), task.seconds, settings.repeats);
  const Scratch& scratch = benchmark.scratch;
  if (settings.with_peer) {
    write_raw(scratch / "gram", std::get<Matrix<double>>(task.k));
    write_raw(scratch / "test", std::get<Matrix<double>>(task.k_test));
    write_raw(scratch / "labels", column(task.train.labels));
  }
  Peer peer(
      {settings.with_peer ? numpy_python() : "", peer_script("sk_machines.py"), "--gram", (scratch / "gram").string(),
       "--test", (scratch / "test").string(), "--labels", (scratch / "labels").string()},
      scratch / "log");
  if (!peer.present()) fmt::print("no scikit-learn ({})\n", peer.why_absent());
  fmt::print("{:<6} {:>8} {:>10} {:>11} {:>12} {:>8} {:>11}  {}\n", "", "lambda", "widelimit", "accuracy",
             "scikit-learn", "/ours", "accuracy", "our gap");
  bool good = true;
  for (const Machine machine : {Machine::svm, Machine::ridge}) {
    // SVC always has a bias, KernelRidge never.
    MachineOptions options{.machine = machine, .lambda = digits.lambda, .bias = machine == Machine::svm};
    options.check_definite = !task.semidefinite;
    good = measure(benchmark, task, options, peer) && good;
  }
  return good;
}

bool run(const Benchmark& benchmark) {
  bool good = true;
  try {
    for (const Digits& digits : tasks()) good = run_task(benchmark, digits) && good;
  } catch (const Error& error) {
    if (error.code() != Code::input) throw;
    fmt::print("skipped: {}\n", error.what());
  }
  return good;
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) {
  return widelimit::bench::run_benchmark(argc, argv, "Classifiers on MNIST, compared with scikit-learn",
                                         {.rows = 12665, .cols = 2, .repeats = 3}, widelimit::bench::run);
}
