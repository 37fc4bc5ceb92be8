#include "widelimit/finite/tangent/step_kernel.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/finite/backward.hpp"
#include "widelimit/finite/training/weight_step.hpp"

#include <cmath>

namespace widelimit {

namespace {

template <std::floating_point T>
Matrix<double> steps_of(const Architecture& architecture, const Parameters<T>& parameters, const SampleView& x,
                        const SampleView& points, double rate, const Engine& engine, Progress* progress) {
  const PassOptions options{.input_signal = false, .gather_windows = false};
  const Tensor<T> others = read_samples<T>(points, architecture.input);
  const Trace<T> before = forward(architecture, parameters, others, options, engine);
  Matrix<double> result(x.count(), points.count());
  ProgressTicker ticker(progress, x.count(), "steps");
  Trace<T> after;
  for (Index i = 0; i < x.count(); ++i) {
    const Trace<T> own =
        forward(architecture, parameters, read_samples<T>(x.part(i, 1), architecture.input), options, engine);
    Tensor<T> one(1, architecture.output);
    one[0] = T{1};
    Parameters<T> moved = parameters;
    add_gradient(architecture, backward(architecture, parameters, own, std::move(one), options, engine), rate, moved,
                 engine);
    after.input().assign(others);
    forward(architecture, moved, options, engine, after);
    for (Index j = 0; j < points.count(); ++j) {
      const double change = static_cast<double>(after.output()[j]) - static_cast<double>(before.output()[j]);
      result(i, j) = change / rate;
      if (!std::isfinite(result(i, j))) {
        fail(Code::numerical, "a step of rate {} on sample {} overflows at point {}; choose a smaller rate", rate, i,
             j);
      }
    }
    ticker.at(i + 1);
  }
  return result;
}

}  // namespace

Matrix<double> step_kernel(const TrainedNetwork& network, bool start, const SampleView& x, const SampleView& points,
                           double rate, const Engine& engine, Progress* progress) {
  const Interruptible interruptible(progress);
  if (network.architecture.output.size() != 1) {
    fail(Code::usage, "the network has {} outputs; changes by single steps are defined for one output",
         network.architecture.output.size());
  }
  if (network.linearised) fail(Code::usage, "the step kernel of a linearised network is its tangent kernel; use that");
  if (!(rate > 0) || !std::isfinite(rate))
    fail(Code::usage, "the step size is {}; it must be positive and finite", rate);
  for (const SampleView* some : {&x, &points}) {
    if (some->shape.size() != network.shape.size()) {
      fail(Code::input, "samples of shape {}; the network was trained on {}", to_string(some->shape),
           to_string(network.shape));
    }
  }
  return std::visit(
      [&](const auto& parameters) {
        return steps_of(network.architecture, parameters, x, points, rate, engine, progress);
      },
      start ? network.start : network.parameters);
}

}  // namespace widelimit
