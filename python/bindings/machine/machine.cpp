#include "widelimit/machine/fit_data.hpp"

#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/machine/label_aware.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/machine/probability/probability.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

/// The weights must outlive the result.
MachineOptions machine_options(const std::optional<Numbers>& weights, const nb::dict& given) {
  const OptionReader reader(given);
  MachineOptions options;
  reader.parse_required("machine", options.machine, parse_machine);
  reader.take("lam", options.lambda);
  reader.take("epsilon", options.epsilon);
  reader.take("bias", options.bias);
  reader.parse("scheme", options.scheme, parse_scheme);
  options.weights = span_of(weights);
  reader.take("tolerance", options.tolerance);
  reader.take("probability", options.probability);
  reader.take("check_definite", options.check_definite);
  reader.take("indefinite", options.indefinite);
  return options;
}

/// Returns (scheme, (alpha, bias, summary), sigmoids).
nb::tuple machine_tuple(FittedMachine trained) {
  return nb::make_tuple(std::string(to_string(trained.scheme)), as_tuple(std::move(trained.fit)),
                        as_rows(trained.calibration));
}

nb::tuple classes(const KernelArray& k, const Labels& labels, Index count, const std::optional<Numbers>& weights,
                  const nb::dict& given) {
  MachineOptions options = machine_options(weights, given);
  const std::optional<int> threads = threads_of(given);
  return machine_tuple(unlocked([&](Progress* progress) {
    options.progress = progress;
    return train_classes(gram_of(k, threads), span_of(labels), count, options);
  }));
}

nb::tuple values(const KernelArray& k, const Table& targets, const std::optional<Numbers>& weights,
                 const nb::dict& given) {
  MachineOptions options = machine_options(weights, given);
  const std::optional<int> threads = threads_of(given);
  return machine_tuple(unlocked([&](Progress* progress) {
    options.progress = progress;
    return train_values(gram_of(k, threads), view_of(targets), options);
  }));
}

/// Fits a machine to samples: labels for classification, targets for regression. Returns ((scheme, (alpha, bias,
/// summary), sigmoids), quadrature error, label-aware part or None).
nb::tuple samples(const Network& network, const SampleArray& x, const std::optional<Labels>& labels, Index count,
                  const std::optional<Table>& targets, const std::optional<Numbers>& weights,
                  const std::optional<nb::dict>& label_aware, const nb::object& pair_features, const nb::dict& given) {
  const OptionReader reader(given);
  KernelRequest request{.kernel = network, .method = Method::exact};
  reader.parse("kind", request.kind, parse_kind);
  reader.parse("precision", request.precision, parse_precision);
  FitDataOptions options{.machine = machine_options(weights, given)};
  reader.parse("solver", options.solver, parse_solver);
  if (label_aware) options.label_aware = label_aware_options(*label_aware);
  const PythonPairFeatures functions(pair_features);
  options.pair_features = functions.get();
  const Engine& engine = engine_of(given);
  FittedData fitted = unlocked([&](Progress* progress) {
    request.progress = options.machine.progress = progress;
    FitTargets y{.labels = labels ? span_of(*labels) : std::span<const Index>(), .classes = labels ? count : 0};
    if (targets) y.values = view_of(*targets);
    return fit_samples(request, view_samples(x), y, options, engine);
  });
  const double error = fitted.quadrature_error;
  const nb::object learned = fitted.label_aware ? nb::cast(std::move(fitted.label_aware->aware)) : nb::none();
  return nb::make_tuple(machine_tuple(std::move(fitted.machine)), error, learned);
}

/// Fits a classifier to a label-aware kernel made from the Gram matrix of the samples. Returns ((scheme, (alpha, bias,
/// summary), sigmoids), label-aware part).
nb::tuple aware_kernel(const DenseArray& k, const Labels& labels, Index count, const std::optional<Numbers>& weights,
                       const nb::dict& label_aware, const nb::dict& given) {
  FitDataOptions options{.machine = machine_options(weights, given)};
  options.label_aware = label_aware_options(label_aware);
  const Engine& engine = processor(given);
  FittedData fitted = unlocked([&](Progress* progress) {
    options.machine.progress = progress;
    AnyMatrix copy = copy_of_kernel(k);
    return fit_kernel(copy, {.labels = span_of(labels), .classes = count}, options, engine);
  });
  const nb::object learned = nb::cast(std::move(fitted.label_aware->aware));
  return nb::make_tuple(machine_tuple(std::move(fitted.machine)), learned);
}

Matrix<double> copied(const Table& table) {
  const MatrixView<const double> view = view_of(table);
  Matrix<double> result(view.rows, view.cols, Content::unset);
  std::copy_n(view.data, table.size(), result.data());
  return result;
}

nb::object decisions(const Table& alpha, const Numbers& bias, const KernelArray& k) {
  if (bias.size() != alpha.shape(1)) fail(Code::input, "{} biases for {} outputs", bias.size(), alpha.shape(1));
  return as_array(unlocked([&](Progress*) {
    const Fit fit{.alpha = copied(alpha), .bias = {bias.data(), bias.data() + bias.size()}, .summary = {}};
    if (const auto* dense = std::get_if<DenseArray>(&k)) return decision(fit, view_kernel(*dense));
    const auto& held = std::get<DeviceArray>(k);
    Matrix<double> outputs = decision(fit, held.synchronized(), held.engine());
    // A non-finite entry propagates to every output of its row, whatever the coefficients.
    const auto numbers = std::span(outputs.data(), usize(outputs.rows() * outputs.cols()));
    if (!std::all_of(numbers.begin(), numbers.end(), [](double g) { return std::isfinite(g); })) {
      fail(Code::input, "K(test, train) on {} has entries that are not finite", held.engine().name());
    }
    return outputs;
  }));
}

nb::object predicted(const std::string& scheme, Index count, const Table& outputs) {
  return as_array(classes_of(parse_scheme(scheme), count, view_of(outputs)));
}

nb::object probabilities(const std::string& machine, const std::string& scheme, Index count,
                         const std::optional<Table>& sigmoids, const Table& outputs) {
  return as_array(unlocked([&](Progress*) {
    return class_probabilities(parse_machine(machine), parse_scheme(scheme), count, sigmoids_of(sigmoids),
                               copied(outputs));
  }));
}

/// Returns sample weights times class weights; class weights are balanced, or one per class in `each`.
nb::object weights_of(const std::string& machine, const Labels& labels, Index count, const std::optional<Numbers>& each,
                      const std::optional<Numbers>& weights) {
  MachineOptions options;
  options.machine = parse_machine(machine);
  options.weights = span_of(weights);
  options.class_weights.balanced = !each;
  const std::span<const double> given = span_of(each);
  options.class_weights.each.assign(given.begin(), given.end());
  return as_array(sample_weights(options, span_of(labels), count));
}

}  // namespace

void bind_machine(nb::module_& module) {
  module.def("train_classes", &classes, "k"_a, "labels"_a, "classes"_a, "weights"_a.none(), "options"_a,
             "(scheme, (alpha, bias, summary), sigmoids) of a classifier for labels 0 … classes − 1.");
  module.def("train_values", &values, "k"_a, "targets"_a, "weights"_a.none(), "options"_a,
             "(scheme, (alpha, bias, summary), None) of a regressor, one column per target.");
  module.def("fit_samples", &samples, "network"_a, "x"_a, "labels"_a.none(), "classes"_a, "targets"_a.none(),
             "weights"_a.none(), "label_aware"_a.none(), "pair_features"_a.none(), "options"_a,
             "((scheme, (alpha, bias, summary), sigmoids), quadrature error, label-aware part or None) of a machine on "
             "the kernel of a network.");
  module.def("fit_aware_kernel", &aware_kernel, "k"_a, "labels"_a, "classes"_a, "weights"_a.none(), "label_aware"_a,
             "options"_a,
             "((scheme, (alpha, bias, summary), sigmoids), label-aware part) of a classifier on a label-aware kernel "
             "made from the Gram matrix k.");
  module.def("sample_weights", &weights_of, "machine"_a, "labels"_a, "classes"_a, "each"_a.none(), "weights"_a.none(),
             "Sample weights times class weights; the latter are balanced if `each` is None.");
  module.def("decisions", &decisions, "alpha"_a, "bias"_a, "k"_a, "Outputs on new points, from K(test, train).");
  module.def("classes_of", &predicted, "scheme"_a, "classes"_a, "outputs"_a,
             "Index of the predicted class of each row.");
  module.def("probabilities", &probabilities, "machine"_a, "scheme"_a, "classes"_a, "sigmoids"_a.none(), "outputs"_a,
             "Class probabilities, from the outputs of a logistic or calibrated machine.");
}

}  // namespace widelimit::python
