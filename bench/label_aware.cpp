// Target 17: the label-aware kernel by pairwise regression on ten features in float64 on two CPU cores, compared with
// its definition in NumPy, which stores the features of all n² pairs, also with SciPy's distances; its memory compared
// with the Gram matrix. NumPy, which takes a minute or two for 5,000 samples, runs once. --sketches then runs the
// published sketch (default: none); at 20,000 samples, where LA's program ran out of memory, it takes minutes.

#include "widelimit/kernel/label_aware/label_aware.hpp"

#include "bench/measure.hpp"
#include "bench/program.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/kernel/gram.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <sstream>
#include <vector>

namespace widelimit::bench {
namespace {

constexpr double target = 20;
/// Features of nearly parallel samples are accurate only to √ε, but random samples are not nearly parallel; normal
/// equations of condition 3e4 lose five more digits, which affect Z only if its features are redundant.
constexpr double close_enough = 1e-8;
constexpr double mebibyte = 1 << 20;

/// Two classes by the sign of the first coordinate, and Θ of a network with two hidden layers.
struct Task {
  Task(const Matrix<double>& x, const Engine& engine)
      : samples{x.view(), Shape{1, 1, x.cols()}}, kernel(fresh_kernel(engine)) {
    for (Index i = 0; i < x.rows(); ++i) labels.push_back(x(i, 0) > 0 ? 1 : 0);
  }
  [[nodiscard]] AnyMatrix fresh_kernel(const Engine& engine) const {
    return std::move(gram(Network::parse("fc:2"), samples, {.precision = Precision::f64}, engine).ntk);
  }
  [[nodiscard]] double gram_bytes() const { return sizeof(double) * std::pow(static_cast<double>(samples.count()), 2); }

  SampleView samples;
  std::vector<Index> labels;
  AnyMatrix kernel;
};

struct Run {
  double seconds = 0;
  double extra_bytes = 0;  ///< peak memory minus the memory before the run
  double explained = 0;
};

/// Overwrites `kernel` with the label-aware kernel.
Run make(const Task& task, AnyMatrix& kernel, LabelAwareMethod method, const Engine& engine) {
  std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak memory
  const auto before = static_cast<double>(peak_memory().value_or(0));
  Run run;
  run.seconds = seconds_of([&] {
    const LabelAwareKernels made =
        make_label_aware(kernel, nullptr, {.train = task.samples}, task.labels, 2, {.method = method}, engine);
    run.explained = std::get<PairRegression>(made.aware.estimate).explained;
    return 0;
  });
  run.extra_bytes = std::max(0.0, static_cast<double>(peak_memory().value_or(0)) - before);
  return run;
}

/// CPU seconds of all threads of this process.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double worst(const AnyMatrix& ours, const Matrix<double>& theirs) {
  const auto& entries = std::get<Matrix<double>>(ours);
  double difference = 0;
  double largest = 0;
  for (Index k = 0; k < theirs.rows() * theirs.cols(); ++k) {
    const double error = std::abs(entries.data()[k] - theirs.data()[k]);
    if (!(error <= difference)) difference = error;
    largest = std::max(largest, std::abs(theirs.data()[k]));
  }
  return difference / largest;
}

bool compare_with_peer(const Benchmark& benchmark) {
  const Settings& settings = benchmark.settings;
  const Index n = settings.rows;
  const Task task(benchmark.inputs, benchmark.engine);
  AnyMatrix kernel = task.fresh_kernel(benchmark.engine);
  const Run first = make(task, kernel, LabelAwareMethod::linear1, benchmark.engine);
  write_raw(benchmark.scratch / "theta", std::get<Matrix<double>>(task.kernel));
  Peer peer({settings.with_peer ? numpy_python() : "", peer_script("np_label_aware.py"), "--precision", "f64",
             "--input", (benchmark.scratch / "x").string(), "--rows", std::to_string(n), "--kernel",
             (benchmark.scratch / "theta").string()},
            benchmark.scratch / "log");
  double error = 0;
  if (peer.present()) {
    const auto file = benchmark.scratch / "k";
    peer.request("compute 0.1 scipy " + file.string());
    error = worst(kernel, read_raw<double>(file, n, n));
    if (!(error <= close_enough)) {
      fmt::print("RESULTS DIFFER by {:.1e}; not timed\n", error);
      return false;
    }
  }
  // The clocks return wall-clock seconds; `processor` holds the CPU seconds of the last call of each.
  std::vector<double> processor(3, 0.0);
  const auto time_peer = [&](const char* by, std::size_t place) {
    std::istringstream reply(peer.request(fmt::format("time 0.1 {}", by)));
    double time = 0;
    reply >> time >> processor[place];
    return time;
  };
  std::vector<std::function<double()>> clocks{[&] {
    std::copy_n(std::get<Matrix<double>>(task.kernel).data(), n * n, std::get<Matrix<double>>(kernel).data());
    const double before = processor_seconds();
    const double time = make(task, kernel, LabelAwareMethod::linear1, benchmark.engine).seconds;
    processor[0] = processor_seconds() - before;
    return time;
  }};
  if (peer.present()) clocks.push_back([&] { return time_peer("scipy", 2); });
  std::vector<double> seconds = medians_in_turn(clocks, settings.repeats);
  if (peer.present()) seconds.insert(seconds.begin() + 1, time_peer("numpy", 1));
  fmt::print("{:>16} {:>8} {:>9} {:>9} {:>9} {:>14} {:>11} {:>9} {:>10} {:>10}\n", "linear1", "n", "seconds", "CPU s",
             "/ours", "target", "CPU ratio", "error", "extra MiB", "Gram MiB");
  fmt::print("{:>16} {:>8} {:>9.4g} {:>9.4g} {:>9} {:>14} {:>11} {:>9.1e} {:>10.1f} {:>10.1f}\n", "widelimit", n,
             seconds[0], processor[0], "", "", "", error, first.extra_bytes / mebibyte, task.gram_bytes() / mebibyte);
  const std::vector<const char*> names{"NumPy", "NumPy and SciPy"};
  for (std::size_t k = 1; k < seconds.size(); ++k) {
    const double ratio = seconds[k] / seconds[0];
    fmt::print("{:>16} {:>8} {:>9.4g} {:>9.4g} {:>9} {:>14} {:>11}\n", names[k - 1], n, seconds[k], processor[k],
               fmt::format("{:.1f}x", ratio), k == 1 ? verdict_at_least(ratio, target) : "-",
               fmt::format("{:.1f}x", processor[k] / processor[0]));
  }
  return true;
}

/// Runs each method once; linear1 is the reference that the sketches approximate.
void sketches(const Benchmark& benchmark) {
  const Matrix<double> x = normal_inputs(*benchmark.settings.sketches, benchmark.settings.cols);
  Task task(x, benchmark.engine);
  fmt::print("{:>8} {:>8} {:>11} {:>11} {:>12} {:>12}\n", "", "n", "seconds", "explained", "extra MiB", "Gram MiB");
  for (const LabelAwareMethod method : {LabelAwareMethod::linear1, LabelAwareMethod::fjlt1, LabelAwareMethod::fjlt2}) {
    const Run run = make(task, task.kernel, method, benchmark.engine);
    fmt::print("{:>8} {:>8} {:>11.4g} {:>11.5f} {:>12.1f} {:>12.1f}\n", to_string(method), x.rows(), run.seconds,
               run.explained, run.extra_bytes / mebibyte, task.gram_bytes() / mebibyte);
    task.kernel = AnyMatrix(Matrix<double>());
    task.kernel = task.fresh_kernel(benchmark.engine);
  }
}

bool run_all(const Benchmark& benchmark) {
  fmt::print("Label-aware kernel, d = {}; {}; medians of {} rounds, NumPy once, seconds\n", benchmark.settings.cols,
             benchmark.engine.description(), benchmark.settings.repeats);
  if (!compare_with_peer(benchmark)) return false;
  if (*benchmark.settings.sketches > 0) sketches(benchmark);
  return true;
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) {
  return widelimit::bench::run_benchmark(argc, argv, "Label-aware kernel, compared with its definition in NumPy",
                                         {.rows = 5000, .cols = 784, .sketches = 0, .repeats = 2},
                                         widelimit::bench::run_all);
}
