// Kernel of the neural tangent hierarchy for n, 2n and 4n samples on two CPU cores: the cost grows as n². For n <= 20,
// compared with the definition, which sums over n⁴ terms, on the same directions.

#include "widelimit/analysis/hierarchy/nth_kernel.hpp"

#include "bench/measure.hpp"
#include "bench/program.hpp"
#include "widelimit/analysis/hierarchy/directions.hpp"
#include "widelimit/analysis/hierarchy/fourth_order.hpp"
#include "widelimit/kernel/gram.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace widelimit::bench {
namespace {

constexpr Index definition_samples = 20;
constexpr Index definition_directions = 8;
constexpr double definition_tolerance = 1e-10;

/// Rows of norm 1, with labels ±1 by the sign of the first coordinate.
struct Task {
  Task(const Matrix<double>& inputs, Index samples) : x(samples, inputs.cols()), y(usize(samples)) {
    for (Index i = 0; i < samples; ++i) {
      double square = 0;
      for (Index j = 0; j < inputs.cols(); ++j) square += inputs(i, j) * inputs(i, j);
      for (Index j = 0; j < inputs.cols(); ++j) x(i, j) = inputs(i, j) / std::sqrt(square);
      y[usize(i)] = inputs(i, 0) > 0 ? 1 : -1;
    }
  }
  [[nodiscard]] SampleView view() const { return {x.view(), Shape{1, 1, x.cols()}}; }

  Matrix<double> x;
  std::vector<double> y;
};

struct DefinitionCheck {
  double difference = 0;
  double definition_seconds = 0;
  double product_seconds = 0;
};

DefinitionCheck compare_with_definition(const Activation& activation, const Task& task, const Engine& engine) {
  const Network network{{Dense{.w_std = std::sqrt(static_cast<double>(task.x.cols()))}, activation, Dense{}}};
  const Gram theta = gram(network, task.view(), {}, engine);
  const GramMatrix h(view_of(theta.ntk), engine);
  Matrix<double> w(definition_directions, task.x.cols());
  Directions(task.x.view(), true, 0, engine).write(0, 0, w.view());
  Matrix<double> by_products;
  Matrix<double> by_definition;
  DefinitionCheck check;
  check.product_seconds = seconds_of([&] {
    const LabelWeights weights = label_weights(h, task.y, nullptr);
    FourthOrderSum sum(activation, task.x.view(), weights, engine);
    sum.add(w.view());
    by_products = {task.x.rows(), task.x.rows()};
    sum.take(by_products);
    return 0;
  });
  check.definition_seconds = seconds_of([&] {
    by_definition = fourth_order_by_definition(activation, task.x.view(), h, task.y, w.view());
    return 0;
  });
  double largest = 0;
  for (Index i = 0; i < by_products.rows() * by_products.cols(); ++i) {
    check.difference =
        std::max(check.difference, std::abs(by_products.data()[i] / definition_directions - by_definition.data()[i]));
    largest = std::max(largest, std::abs(by_definition.data()[i]));
  }
  check.difference /= largest;
  return check;
}

bool run(const Benchmark& benchmark) {
  const Settings& settings = benchmark.settings;
  const NthOptions options{.samples = 4096};
  fmt::print("NTH kernel, d = {}, {} directions; {}; medians of {} rounds, seconds\n", settings.cols, options.samples,
             benchmark.engine.description(), settings.repeats);
  for (const char* name : {"erf", "relu"}) {
    const Activation activation = parse_activation(name);
    const Index few = std::min(definition_samples, settings.rows);
    const DefinitionCheck check = compare_with_definition(activation, Task(benchmark.inputs, few), benchmark.engine);
    fmt::print("{}: n = {}, {} directions: definition {:.3f} s, products {:.5f} s, difference {:.1e}\n", name, few,
               definition_directions, check.definition_seconds, check.product_seconds, check.difference);
    if (!(check.difference <= definition_tolerance)) {
      fmt::print("RESULTS DIFFER: {:.1e}; not timed\n", check.difference);
      return false;
    }
    fmt::print("{:>8} {:>10} {:>8} {:>14} {:>16}\n", "n", "widelimit", "/before", "rel. error", "cost ~ n^2");
    double before = 0;
    for (const Index n : {settings.rows / 4, settings.rows / 2, settings.rows}) {
      const Task task(benchmark.inputs, n);
      double error = 0;
      const double seconds = medians_in_turn({[&] {
                                               return seconds_of([&] {
                                                 NthKernel found = nth_kernel(activation, task.view(), task.y, {},
                                                                              options, benchmark.engine);
                                                 error = found.relative_error;
                                                 return found;
                                               });
                                             }},
                                             settings.repeats)[0];
      fmt::print("{:>8} {:>10.2f} {:>8} {:>14.2g} {:>16}\n", n, seconds,
                 before > 0 ? fmt::format("{:.1f}x", seconds / before) : "-", error,
                 before > 0 ? verdict_at_most(seconds / before, 5) : "-");
      before = seconds;
    }
  }
  return true;
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) {
  return widelimit::bench::run_benchmark(argc, argv,
                                         "NTH kernel by the number of samples, compared with its definition",
                                         {.rows = 2000, .repeats = 1}, widelimit::bench::run);
}
