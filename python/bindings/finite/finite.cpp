#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/finite/train_options.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/data/origin.hpp"
#include "widelimit/finite/network_file.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/finite/tangent/ntk_product.hpp"
#include "widelimit/finite/training/targets.hpp"
#include "widelimit/finite/training/train.hpp"
#include "widelimit/machine/probability/network_probabilities.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

/// Returns the metadata that is stored with a network.
NetworkNotes notes_of(const std::vector<std::string>& classes, bool channels_first,
                      const std::optional<std::string>& loss, const std::optional<std::string>& origin) {
  NetworkNotes notes;
  notes.channels_first = channels_first;
  notes.classes = classes;
  if (loss) notes.record = nlohmann::json{{"loss", *loss}}.dump();
  if (origin) notes.origin = parse_origin_text(*origin);
  return notes;
}

/// Checkpoint file: path, classes, channels_first, loss.
using CheckpointFile = std::tuple<std::string, std::vector<std::string>, bool, std::string>;

TrainedNetwork trained_on(const Network& network, const SampleArray& x, const Table& y,
                          const std::optional<SampleArray>& test, const std::optional<Table>& test_y,
                          const nb::dict& given, const std::optional<CheckpointFile>& checkpoint,
                          const TrainedNetwork* resume) {
  TrainOptions options = train_options(given);
  options.from = resume;
  if (checkpoint) {
    const auto& [path, classes, channels_first, loss] = *checkpoint;
    options.checkpoint = [path = path, notes = notes_of(classes, channels_first, loss, {})](
                             const TrainedNetwork& trained) { save_network(path, trained, notes); };
  }
  const Engine& engine = engine_of(given);
  TrainData data{view_samples(x), view_of(y)};
  if (test) data.test = view_samples(*test);
  if (test_y) data.test_y = view_of(*test_y);
  return unlocked([&](Progress* progress) {
    options.progress = progress;
    return train(network, data, options, engine);
  });
}

/// Returns the lists of the record by name; outputs have shape records × samples × outputs.
nb::dict record_of(const TrainedNetwork& trained) {
  const TrainingRecord& record = trained.record;
  const Index outputs = trained.architecture.output.size();
  nb::dict result;
  result["steps"] = as_array(std::vector<std::int64_t>(record.steps.begin(), record.steps.end()));
  const auto add = [&](const char* name, const std::vector<double>& values) {
    result[name] = values.empty() ? nb::object(nb::none()) : as_array(std::vector<double>(values));
  };
  add("times", record.times);
  add("loss", record.loss);
  add("objective", record.objective);
  add("distance", record.distance);
  add("accuracy", record.accuracy);
  add("test_loss", record.test_loss);
  add("test_accuracy", record.test_accuracy);
  const auto add_outputs = [&](const char* name, const std::vector<double>& values) {
    if (values.empty()) {
      result[name] = nb::none();
      return;
    }
    const Index samples = static_cast<Index>(values.size()) / (record.count() * outputs);
    Matrix<double> copy(record.count(), samples * outputs, Content::unset);
    std::copy(values.begin(), values.end(), copy.data());
    result[name] = as_array(std::move(copy), {record.count(), samples, outputs});
  };
  add_outputs("outputs", record.outputs);
  add_outputs("test_outputs", record.test_outputs);
  return result;
}

nb::tuple summary_of(const TrainedNetwork& trained) {
  const TrainSummary& summary = trained.summary;
  return nb::make_tuple(text(summary.ending), summary.message, summary.steps, summary.time, summary.weights,
                        summary.seconds, summary.rate);
}

/// Returns a read-only array on the memory of the trained network; the array keeps the network alive.
template <std::floating_point T>
nb::object shared_array(const Values<T>& values, std::initializer_list<std::size_t> dims, const nb::object& owner) {
  const std::vector<std::size_t> shape(dims);
  return nb::cast(nb::ndarray<nb::numpy, const T>(values.data(), shape.size(), shape.data(), owner));
}

nb::list weights_of(const nb::object& self, bool start) {
  const auto& trained = nb::cast<const TrainedNetwork&>(self);
  nb::list list;
  std::visit(
      [&](const auto& parameters) {
        for (std::size_t l = 0; l < parameters.slots.size(); ++l) {
          const WeightSlot& slot = trained.architecture.slots[l];
          const auto rows = static_cast<std::size_t>(slot.fan_in);
          const auto cols = static_cast<std::size_t>(slot.fan_out);
          const auto& weights = parameters.slots[l];
          list.append(nb::make_tuple(shared_array(weights.w, {rows, cols}, self),
                                     slot.biased() ? shared_array(weights.b, {cols}, self) : nb::object(nb::none())));
        }
      },
      start ? trained.start : trained.parameters);
  return list;
}

nb::object predicted_outputs(const TrainedNetwork& trained, const SampleArray& x, const std::string& backend,
                             std::optional<int> threads) {
  const Engine& engine = engine_of(backend, threads);
  return as_array(
      unlocked([&](Progress* progress) { return predict_outputs(trained, view_samples(x), engine, progress); }));
}

/// Returns the samples in the precision of the network. Throws Error{input} if their shape differs from training.
template <std::floating_point T>
Tensor<T> samples_for(const TrainedNetwork& trained, const SampleArray& x) {
  const SampleView view = view_samples(x);
  if (view.shape.size() != trained.shape.size()) {
    fail(Code::input, "samples of shape {}; the network was trained on {}", to_string(view.shape),
         to_string(trained.shape));
  }
  return read_samples<T>(view, trained.architecture.input);
}

template <std::floating_point T>
AnyMatrix ntk_of(const TrainedNetwork& trained, const Parameters<T>& parameters, const SampleArray& x1,
                 const std::optional<SampleArray>& x2, const NtkOptions& options, const Engine& engine) {
  const Tensor<T> left = samples_for<T>(trained, x1);
  if (!x2) return empirical_ntk(trained.architecture, parameters, left, left, options, engine);
  return empirical_ntk(trained.architecture, parameters, left, samples_for<T>(trained, *x2), options, engine);
}

/// Returns the weights at which gradients are taken: for a linearised network, always those at the start.
const AnyParameters& tangent_point(const TrainedNetwork& trained, bool start) {
  return start || trained.linearised ? trained.start : trained.parameters;
}

nb::object ntk_matrix(const TrainedNetwork& trained, const SampleArray& x1, const std::optional<SampleArray>& x2,
                      const std::string& outputs, bool start, const std::string& backend, std::optional<int> threads) {
  NtkOptions options{.outputs = parse_ntk_outputs(outputs)};
  const Engine& engine = engine_of(backend, threads);
  return as_array(unlocked([&](Progress* progress) {
    options.progress = progress;
    return std::visit([&](const auto& parameters) { return ntk_of(trained, parameters, x1, x2, options, engine); },
                      tangent_point(trained, start));
  }));
}

template <std::floating_point T>
Matrix<double> product_of(const TrainedNetwork& trained, const Parameters<T>& parameters, const SampleArray& x1,
                          const SampleArray& x2, const Table& v, const Engine& engine, Progress* progress) {
  const MatrixView<const double> given = view_of(v);
  if (given.cols != trained.architecture.output.size()) {
    fail(Code::input, "v has {} columns for {} outputs", given.cols, trained.architecture.output.size());
  }
  Tensor<T> vector(given.rows, trained.architecture.output);
  std::transform(given.data, given.data + vector.size(), vector.data(), [](double x) { return static_cast<T>(x); });
  const Tensor<T> product = ntk_product(trained.architecture, parameters, samples_for<T>(trained, x1),
                                        samples_for<T>(trained, x2), vector, engine, progress);
  Matrix<double> result(product.count(), given.cols, Content::unset);
  std::copy(product.values().begin(), product.values().end(), result.data());
  return result;
}

nb::object ntk_vector(const TrainedNetwork& trained, const SampleArray& x1, const SampleArray& x2, const Table& v,
                      bool start, const std::string& backend, std::optional<int> threads) {
  const Engine& engine = engine_of(backend, threads);
  return as_array(unlocked([&](Progress* progress) {
    return std::visit(
        [&](const auto& parameters) { return product_of(trained, parameters, x1, x2, v, engine, progress); },
        tangent_point(trained, start));
  }));
}

void save_trained(const TrainedNetwork& trained, const std::string& path, const std::vector<std::string>& classes,
                  bool channels_first, const std::optional<std::string>& loss,
                  const std::optional<std::string>& origin) {
  const NetworkNotes notes = notes_of(classes, channels_first, loss, origin);
  unlocked([&](Progress*) {
    save_network(path, trained, notes);
    return 0;
  });
}

nb::tuple load_trained(const std::string& path) {
  SavedNetwork saved = unlocked([&](Progress* progress) { return load_network(path, {std::nullopt, progress}); });
  const std::optional<Scaler>& scaling = saved.notes.scaling;
  const bool scaled = scaling && scaling->scaling() != Scaling::none;
  const nb::object name = scaled ? nb::object(nb::str(std::string(to_string(scaling->scaling())).c_str())) : nb::none();
  const std::optional<LossKind> loss = trained_loss(saved.notes);
  return nb::make_tuple(std::move(saved.trained), saved.notes.classes, name, saved.notes.channels_first,
                        loss ? std::optional(std::string(to_string(*loss))) : std::nullopt,
                        origin_text(saved.notes.origin));
}

/// Returns a matrix without columns if the loss defines no probabilities.
nb::object probabilities_of(const std::string& loss, const Table& outputs) {
  Matrix<double> copy(static_cast<Index>(outputs.shape(0)), static_cast<Index>(outputs.shape(1)), Content::unset);
  std::copy_n(outputs.data(), outputs.size(), copy.data());
  return as_array(network_probabilities(parse_loss(loss), copy));
}

nb::object targets_of(const Labels& labels, Index classes, const std::string& loss) {
  return as_array(class_targets(span_of(labels), classes, {parse_loss(loss)}));
}

}  // namespace

void bind_finite(nb::module_& module) {
  nb::class_<TrainedNetwork>(module, "TrainedNetwork", "A trained network of finite width.")
      .def_ro("network", &TrainedNetwork::network)
      .def_prop_ro("width", [](const TrainedNetwork& t) { return t.widths.hidden; })
      .def_prop_ro("outputs", [](const TrainedNetwork& t) { return t.architecture.output.size(); })
      .def_prop_ro("shape",
                   [](const TrainedNetwork& t) {
                     return std::array<Index, 3>{t.shape.height, t.shape.width, t.shape.channels};
                   })
      .def_prop_ro("widths", [](const TrainedNetwork& t) { return t.widths.layers; })
      .def_prop_ro("resumable", [](const TrainedNetwork& t) { return t.state.has_value(); })
      .def_ro("seed", &TrainedNetwork::seed)
      .def_ro("centred", &TrainedNetwork::centred)
      .def_ro("linearised", &TrainedNetwork::linearised)
      .def_prop_ro("regulariser", [](const TrainedNetwork& t) { return std::string(to_string(t.regulariser)); })
      .def_prop_ro("precision", [](const TrainedNetwork& t) { return std::string(to_string(t.precision())); });
  module.def("train", &trained_on, "network"_a, "x"_a, "y"_a, "test"_a.none(), "test_y"_a.none(), "options"_a,
             "checkpoint"_a.none(), "resume"_a.none(),
             "Returns a TrainedNetwork; options as a dict, None for a default; checkpoint: (path, classes, "
             "channels_first, loss).");
  module.def("trained_record", &record_of, "trained"_a, "The training record as a dict; None for absent entries.");
  module.def("trained_summary", &summary_of, "trained"_a, "(ending, message, steps, time, weights, seconds, rate).");
  module.def("trained_weights", &weights_of, "trained"_a, "start"_a, "(w, b) of each layer; b is None without bias.");
  module.def("predict_outputs", &predicted_outputs, "trained"_a, "x"_a, "backend"_a, "threads"_a.none(),
             "Outputs, n × outputs.");
  module.def("empirical_ntk", &ntk_matrix, "trained"_a, "x1"_a, "x2"_a.none(), "outputs"_a, "start"_a, "backend"_a,
             "threads"_a.none(), "Empirical NTK matrix.");
  module.def("ntk_product", &ntk_vector, "trained"_a, "x1"_a, "x2"_a, "v"_a, "start"_a, "backend"_a, "threads"_a.none(),
             "Matrix-free product of the empirical NTK with a vector.");
  module.def("save_network", &save_trained, "trained"_a, "path"_a, "classes"_a, "channels_first"_a, "loss"_a.none(),
             "origin"_a.none(), "Writes a network file.");
  module.def("load_network", &load_trained, "path"_a,
             "(trained, classes, name of its scaling or None, channels_first, loss or None, origin as JSON).");
  module.def("network_probabilities", &probabilities_of, "loss"_a, "outputs"_a,
             "Class probabilities for the training loss; without columns if the loss defines none.");
  module.def("class_targets", &targets_of, "labels"_a, "classes"_a, "loss"_a,
             "Target outputs of a network for classes.");
}

}  // namespace widelimit::python
