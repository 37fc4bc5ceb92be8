#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/machine/label_aware.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/data/origin.hpp"
#include "widelimit/machine/model_file.hpp"
#include "widelimit/machine/posterior_factor.hpp"
#include "widelimit/machine/probability/probability.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

Matrix<double> copy_of(const Table& table) {
  Matrix<double> result(static_cast<Index>(table.shape(0)), static_cast<Index>(table.shape(1)), Content::unset);
  std::copy_n(table.data(), table.size(), result.data());
  return result;
}

Model make(const Network& network, const std::string& kind, const std::optional<std::string>& precision,
           const SampleArray& support, const std::string& machine, const std::string& scheme,
           const std::vector<std::string>& classes, double lambda, double epsilon, bool has_bias, const Table& alpha,
           const Numbers& bias, const std::optional<Table>& sigmoids, const std::string& record, bool posterior,
           bool channels_first) {
  Model model;
  model.kernel = network;
  model.kind = parse_kind(kind);
  if (precision) model.precision = parse_precision(*precision);
  const SampleView samples = view_samples(support);
  model.shape = samples.shape;
  model.support = copy_of(samples);
  model.machine = parse_machine(machine);
  model.scheme = parse_scheme(scheme);
  model.classes = classes;
  model.lambda = lambda;
  model.epsilon = epsilon;
  model.has_bias = has_bias;
  model.alpha = copy_of(alpha);
  model.bias.assign(bias.data(), bias.data() + bias.size());
  model.calibration = sigmoids_of(sigmoids);
  model.record = record;
  model.posterior = posterior;
  model.channels_first = channels_first;
  model.validate();
  return model;
}

void save(const std::string& path, const Model& model) {
  unlocked([&](Progress*) {
    save_model(path, model);
    return 0;
  });
}

nb::object decisions_of(const Model& model, const SampleArray& x, const nb::object& pair_features,
                        const std::string& backend, std::optional<int> threads) {
  const PythonPairFeatures functions(pair_features);
  return as_array(unlocked([&](Progress* progress) {
    PredictOptions options;
    options.pair_features = functions.get();
    options.progress = progress;
    return predict_decisions(model, view_samples(x), engine_of(backend, threads), options);
  }));
}

/// Returns (mean, variance, covariance or None).
nb::tuple posterior_of(const Model& model, PosteriorFactor& factor, const SampleArray& x, bool covariance,
                       const std::string& backend, std::optional<int> threads) {
  Posterior found = unlocked([&](Progress* progress) {
    PredictOptions options;
    options.covariance = covariance;
    options.progress = progress;
    return predict_posterior(model, view_samples(x), engine_of(backend, threads), factor, options);
  });
  const nb::object between = covariance ? as_array(std::move(found.covariance)) : nb::none();
  return nb::make_tuple(as_array(std::move(found.mean)), as_array(std::move(found.variance)), between);
}

nb::object predicted_classes(const Model& model, const Table& decisions) {
  const std::vector<Index> predicted = classes_of(model.scheme, std::ssize(model.classes), view_of(decisions));
  return as_array(std::vector<std::int64_t>(predicted.begin(), predicted.end()));
}

nb::object probabilities_of(const Model& model, const Table& decisions) {
  return as_array(unlocked([&](Progress*) {
    return class_probabilities(model.machine, model.scheme, std::ssize(model.classes), model.calibration,
                               copy_of(decisions));
  }));
}

nb::dict load(const std::string& path) {
  Model model = unlocked([&](Progress* progress) { return load_model(path, {std::nullopt, progress}); });
  nb::dict found;
  if (const auto* network = std::get_if<Network>(&model.kernel)) {
    found["network"] = network->to_text();
    found["kind"] = model.kind == Kind::ntk ? "ntk" : "nngp";
  } else {
    found["classical"] = std::get<ClassicalKernel>(model.kernel).to_text();
  }
  found["precision"] = std::string(to_string(model.precision));
  found["shape"] = std::array<Index, 3>{model.shape.height, model.shape.width, model.shape.channels};
  found["channels_first"] = model.channels_first;
  if (model.scaling) found["scaling"] = std::string(to_string(model.scaling->scaling()));
  found["machine"] = std::string(to_string(model.machine));
  found["scheme"] = std::string(to_string(model.scheme));
  found["classes"] = model.classes;
  found["lam"] = model.lambda;
  found["epsilon"] = model.epsilon;
  found["bias"] = model.has_bias;
  found["support"] = as_array(std::move(model.support), {model.supports(), model.shape.size()});
  found["alpha"] = as_array(std::move(model.alpha));
  found["offsets"] = as_array(std::move(model.bias));
  found["sigmoids"] = as_rows(model.calibration);
  found["record"] = model.record;
  found["posterior"] = model.posterior;
  if (model.label_aware) found["label_aware"] = nb::cast(std::move(*model.label_aware));
  return found;
}

}  // namespace

void bind_model(nb::module_& module) {
  nb::class_<Model>(module, "Model", "A fitted machine with its support samples.")
      .def_prop_ro("machine", [](const Model& m) { return std::string(to_string(m.machine)); })
      .def_prop_ro("scheme", [](const Model& m) { return std::string(to_string(m.scheme)); })
      .def_ro("classes", &Model::classes)
      .def_ro("lam", &Model::lambda)
      .def_ro("posterior", &Model::posterior)
      .def_ro("channels_first", &Model::channels_first)
      .def_prop_ro("supports", &Model::supports)
      .def_prop_ro("has_probabilities", [](const Model& m) { return has_probabilities(m.machine, m.calibration); })
      .def_prop_ro("kernel",
                   [](const Model& m) { return std::visit([](const auto& k) { return k.to_text(); }, m.kernel); })
      .def_prop_ro("shape",
                   [](const Model& m) {
                     return std::array<Index, 3>{m.shape.height, m.shape.width, m.shape.channels};
                   })
      .def_prop_ro("nodes", [](const Model& m) { return m.shape.nodes; })
      .def_prop_ro("scaling",
                   [](const Model& m) {
                     return m.scaling ? std::optional(std::string(to_string(m.scaling->scaling()))) : std::nullopt;
                   })
      .def_prop_ro("label_aware",
                   [](const Model& m) {
                     return m.label_aware ? std::optional(std::string(to_string(m.label_aware->method))) : std::nullopt;
                   })
      .def_prop_rw(
          "origin", [](const Model& m) { return origin_text(m.origin); },
          [](Model& m, const std::string& text) {
            m.origin = parse_origin_text(text);
            m.validate();
          },
          "How the samples were read and split, as JSON.");
  module.def("make_model", &make, "network"_a, "kind"_a, "precision"_a.none(), "support"_a, "machine"_a, "scheme"_a,
             "classes"_a, "lam"_a, "epsilon"_a, "bias"_a, "alpha"_a, "offsets"_a, "sigmoids"_a.none(), "record"_a,
             "posterior"_a, "channels_first"_a, "Builds and validates a model from its parts.");
  module.def(
      "set_label_aware",
      [](Model& model, const LabelAware& aware) {
        model.label_aware = copy_of(aware);
        model.validate();
      },
      "model"_a, "aware"_a, "Sets the label-aware part of the kernel of the model.");
  module.def(
      "set_scaling",
      [](Model& model, const Numbers& shift, const Numbers& scale) {
        model.scaling = Scaler(Scaling::standard, std::vector<double>(shift.data(), shift.data() + shift.size()),
                               std::vector<double>(scale.data(), scale.data() + scale.size()));
        model.validate();
      },
      "model"_a, "shift"_a, "scale"_a, "Makes the model standardise its input x to (x − shift)/scale.");
  module.def("save_model", &save, "path"_a, "model"_a, "Writes a model file atomically.");
  module.def(
      "read_model",
      [](const std::string& path) {
        return unlocked([&](Progress* progress) { return load_model(path, {std::nullopt, progress}); });
      },
      "path"_a, "Reads a model file.");
  module.def("model_decisions", &decisions_of, "model"_a, "x"_a, "pair_features"_a.none(), "backend"_a,
             "threads"_a.none(), "Outputs, n × outputs.");
  nb::class_<PosteriorFactor>(module, "PosteriorFactor", "Caches the factorisation for the posterior of a model.")
      .def(nb::init<>())
      .def_prop_ro("factorisations", &PosteriorFactor::factorisations);
  module.def("model_posterior", &posterior_of, "model"_a, "factor"_a, "x"_a, "covariance"_a, "backend"_a,
             "threads"_a.none(), "(mean, variance, covariance or None) of a model with a posterior.");
  module.def("model_classes", &predicted_classes, "model"_a, "decisions"_a,
             "Index of the predicted class of each row.");
  module.def("model_probabilities", &probabilities_of, "model"_a, "decisions"_a, "Class probabilities.");
  module.def("load_model", &load, "path"_a, "Reads and validates a model file; returns its contents as a dict.");
}

}  // namespace widelimit::python
