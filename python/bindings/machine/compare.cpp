#include "widelimit/analysis/comparison/compare.hpp"

#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/option_reader.hpp"
#include "python/bindings/base/remedies.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/base/memory.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

using NamedNetwork = std::pair<std::string, Network>;
using RowPair = std::pair<std::vector<Index>, std::vector<Index>>;

CompareOptions options_of(const OptionReader& reader, std::span<const double> weights) {
  CompareOptions options;
  options.tune.machine.machine = Machine::ridge;
  reader.parse("machine", options.tune.machine.machine, parse_machine);
  reader.take("epsilon", options.tune.machine.epsilon);
  reader.take("bias", options.tune.machine.bias);
  reader.parse("scheme", options.tune.machine.scheme, parse_scheme);
  reader.take("balanced", options.tune.machine.class_weights.balanced);
  reader.take("class_weights", options.tune.machine.class_weights.each);
  reader.take("lams", options.tune.lambdas);
  reader.take("folds", options.tune.folds);
  reader.take("seed", options.tune.seed);
  std::vector<RowPair> given;
  reader.take("given_folds", given);
  for (RowPair& rows : given) options.tune.given_folds.push_back({std::move(rows.first), std::move(rows.second)});
  reader.take("inner_folds", options.inner_folds);
  reader.parse("precision", options.precision, parse_precision);
  reader.parse("memory", options.memory, parse_bytes);
  options.tune.machine.weights = weights;
  return options;
}

nb::object pair_or_none(const std::optional<Interval>& interval) {
  return interval ? nb::object(nb::make_tuple(interval->low, interval->high)) : nb::object(nb::none());
}

nb::object predictions_array(MachinePredictions predictions) {
  return predictions.values.empty() ? as_array(std::move(predictions.classes))
                                    : as_array(std::move(predictions.values));
}

nb::dict row_of(ComparedKernel row, bool best) {
  nb::dict found;
  found["kernel"] = row.candidate.name;
  if (row.failure) {
    found["failure"] = row.failure->what() + arguments_of(row.failure->remedies());
    return found;
  }
  found["best"] = best;
  found["tied"] = row.tied();
  found["chosen"] = kernel_text(row.kernel());
  found["kind"] = std::holds_alternative<Network>(row.kernel())
                      ? nb::object(nb::str(row.candidate.kind == Kind::nngp ? "nngp" : "ntk"))
                      : nb::object(nb::none());
  found["lam"] = row.lambda;
  found["error"] = row.error;
  found["interval"] = pair_or_none(row.interval);
  found["tuned_error"] = row.tuned_error;
  found["test_error"] = row.test_error;
  found["test_interval"] = pair_or_none(row.test_interval);
  found["p"] = row.p;
  found["kernel_seconds"] = row.kernel_seconds;
  found["fit_seconds"] = row.fit_seconds;
  nb::list folds;
  for (FoldChoice& fold : row.folds) {
    folds.append(nb::make_tuple(kernel_text(row.tuned[fold.kernel].kernel), fold.lambda, fold.error,
                                predictions_array(std::move(fold.predictions))));
  }
  found["folds"] = folds;
  return found;
}

/// Returns (rows, best first; name of the paired test; folds; notes; quadrature error).
nb::tuple compare(const std::vector<std::string>& kernels, const std::vector<NamedNetwork>& networks,
                  const SampleArray& x, const std::optional<Labels>& labels, Index classes,
                  const std::optional<Numbers>& values, const std::optional<SampleArray>& x_test,
                  const std::optional<Labels>& test_labels, const std::optional<Numbers>& test_values,
                  const std::optional<Numbers>& weights, const nb::dict& given) {
  const OptionReader reader(given);
  CompareOptions options = options_of(reader, span_of(weights));
  Kind kind = Kind::ntk;
  reader.parse("kind", kind, parse_kind);
  bool sweep = false;
  reader.take("sweep", sweep);
  const Engine& engine = engine_of(given);
  const auto targets_of = [&](const std::optional<Labels>& names, const std::optional<Numbers>& numbers) {
    FitTargets targets;
    if (names) {
      targets.labels = span_of(*names);
      targets.classes = classes;
    } else {
      const std::span<const double> all = span_of(numbers);
      targets.values = {all.data(), std::ssize(all), 1, 1};
    }
    return targets;
  };
  Comparison found = unlocked([&](Progress* progress) {
    options.tune.machine.progress = progress;
    std::vector<Candidate> candidates;
    for (const std::string& text : kernels) candidates.push_back(classical_candidate(text));
    for (const auto& [name, network] : networks) {
      for (const Kind one : single_kinds(kind)) candidates.push_back(network_candidate(name, network, one, sweep));
    }
    if (candidates.empty()) candidates = usual_candidates(view_samples(x), kind);
    std::optional<TestSamples> test;
    if (x_test) test = {view_samples(*x_test), targets_of(test_labels, test_values)};
    return compare_kernels(candidates, view_samples(x), targets_of(labels, values), test, options, engine);
  });
  nb::list rows;
  double quadrature_error = 0;
  for (const std::size_t place : found.order()) {
    quadrature_error = std::max(quadrature_error, found.kernels[place].quadrature_error);
    rows.append(row_of(std::move(found.kernels[place]), place == found.best));
  }
  nb::list folds;
  for (SplitRows& fold : found.folds) {
    folds.append(nb::make_tuple(as_array(std::move(fold.train)), as_array(std::move(fold.test))));
  }
  return nb::make_tuple(rows, std::string(to_string(found.test)), folds, found.notes, quadrature_error);
}

}  // namespace

void bind_compare(nb::module_& module) {
  module.def("compare", &compare, "kernels"_a, "networks"_a, "x"_a, "labels"_a.none(), "classes"_a, "values"_a.none(),
             "x_test"_a.none(), "test_labels"_a.none(), "test_values"_a.none(), "weights"_a.none(), "options"_a,
             "(rows, test, folds, notes, quadrature error) of kernels compared on the same folds.");
}

}  // namespace widelimit::python
