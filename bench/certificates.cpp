// Certified radii of ridge regression on MNIST 0 and 1 with the tangent kernel of EQ's network, all test points against
// all training points (--rows 12665 --tests 2115), compared with the published algorithm in NumPy on two CPU cores; and
// the ratio of convex radii to them.

#include "bench/measure.hpp"
#include "bench/program.hpp"
#include "experiments/equivalence/certified_digits.hpp"
#include "widelimit/base/error.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace widelimit::bench {
namespace {

using experiment::MnistTask;

constexpr const char* network = "eq2";
constexpr double target = 20;
constexpr double convex_target = 10;
/// Number of test points for the comparison of convex radii, sufficient for a mean.
constexpr Index convex_tests = 20;

CertifyOptions options_of(CertificateMethod method) {
  CertifyOptions options;
  options.method = method;
  return options;
}

Model fitted(const MnistTask& task, const Engine& engine, double lambda) {
  const MachineOptions options{.machine = Machine::ridge, .lambda = lambda};
  const FittedMachine trained = train_classes({view_of(task.k), engine}, task.train.labels, task.classes(), options);
  if (!trained.fit.summary.converged()) fail(Code::numerical, "{}", trained.fit.summary.message);
  return fitted_model(Network::parse(network), task.train, trained, lambda);
}

Matrix<double> as_doubles(const SampleView& samples) {
  return std::visit(
      [](const auto& rows) {
        Matrix<double> result(rows.rows, rows.cols, Content::unset);
        for (Index i = 0; i < rows.rows; ++i) std::copy_n(rows.row(i), rows.cols, result.view().row(i));
        return result;
      },
      samples.dense("benchmarks"));
}

void write_problem(const Scratch& scratch, const Model& model, const MnistTask& task) {
  write_raw(scratch / "train", as_doubles(model.support_view()));
  write_raw(scratch / "test", as_doubles(task.test.view()));
  write_raw(scratch / "alpha", model.alpha);
  Matrix<double> signs(task.test.count(), 1);
  for (Index i = 0; i < signs.rows(); ++i) signs(i, 0) = task.test.labels[usize(i)] == 1 ? 1 : -1;
  write_raw(scratch / "signs", signs);
}

/// Largest relative difference of radii; both searches end within their tolerance.
double radius_difference(const std::vector<double>& ours, const Matrix<double>& theirs) {
  double largest = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double other = theirs(static_cast<Index>(i), 0);
    const double scale = std::max(std::abs(ours[i]), std::abs(other));
    if (scale > 0) largest = std::max(largest, std::abs(ours[i] - other) / scale);
  }
  return largest;
}

/// Compares the radii of EQ's theorem, then times both; returns false if the radii differ.
bool compare_with_peer(const Benchmark& benchmark, const MnistTask& task, const Model& model, Index tests) {
  const Settings& settings = benchmark.settings;
  const Scratch& scratch = benchmark.scratch;
  const auto certified = [&](CertificateMethod method) {
    return experiment::certify_digits(model, task, tests, 0, options_of(method), benchmark.engine);
  };
  const Certificates paper = certified(CertificateMethod::paper);
  if (settings.with_peer) write_problem(scratch, model, task);
  Peer peer({settings.with_peer ? numpy_python() : "", peer_script("np_certificates.py"), "--train",
             (scratch / "train").string(), "--test", (scratch / "test").string(), "--alpha",
             (scratch / "alpha").string(), "--signs", (scratch / "signs").string(), "--cols",
             std::to_string(task.train.shape.size()), "--tolerance", fmt::format("{}", CertifyOptions{}.tolerance)},
            scratch / "log");
  if (!peer.present()) fmt::print("no NumPy ({})\n", peer.why_absent());
  double difference = 0;
  std::vector<std::function<double()>> clocks;
  for (const auto method : {CertificateMethod::interval, CertificateMethod::paper}) {
    clocks.emplace_back([&certified, method] { return seconds_of([&] { return certified(method); }); });
  }
  if (peer.present()) {
    peer.request(fmt::format("compute {} {}", tests, (scratch / "radii").string()));
    difference = radius_difference(paper.radius, read_raw<double>(scratch / "radii", tests, 1));
    // Each search ends at most its tolerance below the radius that the theorem proves.
    if (!(difference <= 2 * CertifyOptions{}.tolerance)) {
      fmt::print("RESULTS DIFFER: relative difference of the theorem's radii {:.1e}; not timed\n", difference);
      return false;
    }
    clocks.emplace_back([&] { return std::stod(peer.request(fmt::format("time {}", tests))); });
  }
  const auto seconds = medians_in_turn(clocks, settings.repeats);
  fmt::print("mean radius of the theorem {:.4g}\n", statistics(paper).mean);
  fmt::print("interval {:.3f} s, paper {:.3f} s", seconds[0], seconds[1]);
  if (peer.present()) {
    fmt::print(", NumPy {:.3f} s: {:.1f}x interval, {}, {:.1f}x paper; radii of the theorem differ by {:.1e}",
               seconds[2], seconds[2] / seconds[0], verdict_at_least(seconds[2] / seconds[0], target),
               seconds[2] / seconds[1], difference);
  }
  fmt::print("\n");
  return true;
}

/// Compares a method with `convex`: mean radii for the same balls, and seconds per point of `convex`. The published
/// theorem has no box constraint and is compared in all of space, the others in the box of pixel values.
void compare_with_convex(const Engine& engine, const MnistTask& task, const Model& model, CertificateMethod other,
                         Index tests) {
  std::vector<double> means;
  double seconds = 0;
  for (const auto method : {other, CertificateMethod::convex}) {
    CertifyOptions options = options_of(method);
    if (other != CertificateMethod::paper) options.box = Box{};
    const Certificates found = experiment::certify_digits(model, task, tests, 0, options, engine);
    means.push_back(statistics(found).mean);
    seconds = found.seconds / static_cast<double>(tests);
  }
  const double ratio = means[1] / means[0];
  const bool published = other == CertificateMethod::paper;  // the target is a ratio to these radii
  fmt::print("{:>8g} {:>14} {:>12.5g} {:>12.5g} {:>8.1f}x {:>14} {:>16.3f}\n", model.lambda,
             published ? "paper" : "interval, box", means[0], means[1], ratio,
             published ? verdict_at_least(ratio, convex_target) : "-", seconds);
}

bool run(const Benchmark& benchmark) {
  const Settings& settings = benchmark.settings;
  const experiment::Setting setting{.engine = benchmark.engine};
  std::optional<MnistTask> task;
  try {
    task = experiment::mnist_task(setting, network, {"0", "1"}, settings.rows);
  } catch (const Error& error) {
    if (error.code() != Code::input) throw;
    fmt::print("skipped: {}\n", error.what());
    return true;
  }
  const Index tests = std::min(settings.tests, task->test.count());
  fmt::print("Certificates, MNIST 0 and 1, {} training and {} test points, ridge; medians of {} rounds\n",
             task->train.count(), tests, settings.repeats);
  if (!compare_with_peer(benchmark, *task, fitted(*task, benchmark.engine, 1), tests)) return false;
  fmt::print("{:>8} {:>14} {:>12} {:>12} {:>9} {:>14} {:>16}\n", "lambda", "method", "its radius", "convex", "ratio",
             "target", "seconds per point");
  for (const double lambda : {0.01, 1.0, 10.0}) {
    const Model model = fitted(*task, benchmark.engine, lambda);
    for (const auto other : {CertificateMethod::paper, CertificateMethod::interval}) {
      compare_with_convex(benchmark.engine, *task, model, other, std::min(tests, convex_tests));
    }
  }
  return true;
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) {
  return widelimit::bench::run_benchmark(argc, argv, "Certified radii, compared with the published algorithm in NumPy",
                                         {.rows = 6000, .cols = 2, .tests = 200, .repeats = 3}, widelimit::bench::run);
}
