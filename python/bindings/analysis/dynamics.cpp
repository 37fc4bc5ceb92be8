#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/analysis/dynamics/descend.hpp"
#include "widelimit/analysis/dynamics/flow.hpp"
#include "widelimit/finite/training/targets.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

using OptionalTable = std::optional<Table>;

/// Arguments shared by flow and descend. None keeps the default of the library.
struct DynamicsArguments {
  const std::string& loss;
  std::optional<double> epsilon;
  std::optional<double> lambda;
  const std::optional<DenseArray>& test;
  const OptionalTable& alpha;
  const OptionalTable& offset;
  const OptionalTable& test_offset;
  const std::optional<std::vector<Index>>& record;
  bool coefficients;
  std::optional<bool> check_definite;

  template <typename Options>
  Options options(Progress* progress) const {
    Options result;
    result.loss.kind = parse_loss(loss);
    if (epsilon) result.loss.epsilon = *epsilon;
    if (lambda) result.lambda = *lambda;
    if (test) result.record.test = view_kernel(*test);
    if (alpha) result.start.alpha = view_of(*alpha);
    if (offset) result.start.offset = view_of(*offset);
    if (test_offset) result.start.test_offset = view_of(*test_offset);
    result.record.samples = record;
    result.record.coefficients = coefficients;
    if (check_definite) result.check_definite = *check_definite;
    result.progress = progress;
    return result;
  }
};

/// Reshapes times × (points·outputs) to times × points × outputs.
nb::object stacked(Matrix<double> rows, Index outputs) {
  const Index times = rows.rows();
  const Index points = outputs == 0 ? 0 : rows.cols() / outputs;
  return as_array(std::move(rows), {times, points, outputs});
}

/// Returns the fields of widelimit.Trajectory in order.
nb::tuple trajectory_tuple(Trajectory path) {
  nb::list events;
  for (const FlowEvent& event : path.events) {
    events.append(nb::make_tuple(event.time, event.sample, event.output, text(event.meeting)));
  }
  const RateCheck& rate = path.rate;
  const auto check = nb::make_tuple(rate.holds, rate.optimum, rate.largest_ratio, rate.at, rate.note);
  return nb::make_tuple(as_array(std::move(path.times)), stacked(std::move(path.train), path.outputs),
                        stacked(std::move(path.test), path.outputs),
                        stacked(std::move(path.coefficients), path.outputs), as_array(std::move(path.objective)),
                        as_array(std::move(path.loss)), as_array(std::move(path.alpha)),
                        as_array(std::move(path.samples)), events, path.event_count, check, path.recursion_error,
                        path.stable_step, path.step, as_tuple(path.summary));
}

nb::tuple flow_of(const KernelArray& k, const Table& targets, const std::string& loss, const Numbers& times,
                  std::optional<double> lambda, std::optional<double> epsilon, const std::optional<DenseArray>& test,
                  const OptionalTable& alpha, const OptionalTable& offset, const OptionalTable& test_offset,
                  const std::optional<std::vector<Index>>& record, bool coefficients, bool runge_kutta,
                  std::optional<double> tolerance, std::optional<Index> most_events, std::optional<Index> most_steps,
                  std::optional<int> threads, std::optional<bool> check_definite) {
  const DynamicsArguments arguments{loss,   epsilon,     lambda, test,         alpha,
                                    offset, test_offset, record, coefficients, check_definite};
  return trajectory_tuple(unlocked([&](Progress* progress) {
    auto options = arguments.options<FlowOptions>(progress);
    options.times.assign(times.data(), times.data() + times.size());
    if (runge_kutta) options.method = FlowMethod::runge_kutta;
    if (tolerance) options.tolerance = *tolerance;
    if (most_events) options.most_events = *most_events;
    if (most_steps) options.most_steps = *most_steps;
    return flow(gram_of(k, threads), view_of(targets), options);
  }));
}

nb::tuple descend_of(const KernelArray& k, const Table& targets, const std::string& loss, std::optional<double> rate,
                     const std::optional<std::string>& schedule, std::optional<Index> steps, std::optional<Index> batch,
                     std::optional<std::uint64_t> seed, std::optional<Index> record_every, std::optional<double> lambda,
                     std::optional<double> epsilon, const std::optional<DenseArray>& test, const OptionalTable& alpha,
                     const OptionalTable& offset, const OptionalTable& test_offset,
                     const std::optional<std::vector<Index>>& record, bool coefficients, std::optional<int> threads,
                     std::optional<bool> check_definite) {
  const DynamicsArguments arguments{loss,   epsilon,     lambda, test,         alpha,
                                    offset, test_offset, record, coefficients, check_definite};
  return trajectory_tuple(unlocked([&](Progress* progress) {
    auto options = arguments.options<DescendOptions>(progress);
    if (rate) options.rate = *rate;
    if (schedule) options.schedule = parse_schedule(*schedule);
    if (steps) options.steps = *steps;
    if (batch) options.batch = *batch;
    if (seed) options.seed = *seed;
    if (record_every) options.record_every = *record_every;
    return descend(gram_of(k, threads), view_of(targets), options);
  }));
}

nb::object targets_of(const std::string& loss, const Labels& labels, Index classes) {
  return as_array(class_targets(span_of(labels), classes, {parse_loss(loss)}));
}

}  // namespace

void bind_dynamics(nb::module_& module) {
  module.def("flow", &flow_of, "k"_a, "targets"_a, "loss"_a, "times"_a, "lam"_a.none(), "epsilon"_a.none(),
             "test"_a.none(), "alpha"_a.none(), "offset"_a.none(), "test_offset"_a.none(), "record"_a.none(),
             "coefficients"_a, "runge_kutta"_a, "tolerance"_a.none(), "most_events"_a.none(), "most_steps"_a.none(),
             "threads"_a.none(), "check_definite"_a.none(),
             "Gradient flow; returns the fields of widelimit.Trajectory in order.");
  module.def("descend", &descend_of, "k"_a, "targets"_a, "loss"_a, "rate"_a.none(), "schedule"_a.none(),
             "steps"_a.none(), "batch"_a.none(), "seed"_a.none(), "record_every"_a.none(), "lam"_a.none(),
             "epsilon"_a.none(), "test"_a.none(), "alpha"_a.none(), "offset"_a.none(), "test_offset"_a.none(),
             "record"_a.none(), "coefficients"_a, "threads"_a.none(), "check_definite"_a.none(),
             "Gradient descent; returns the fields of widelimit.Trajectory in order.");
  module.def("loss_targets", &targets_of, "loss"_a, "labels"_a, "classes"_a,
             "Targets of a loss for labels 0 … classes − 1: samples × outputs.");
}

}  // namespace widelimit::python
