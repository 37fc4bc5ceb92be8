#include "widelimit/network/network.hpp"

#include "python/bindings/rooms.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/network/presets.hpp"
#include "widelimit/network/shape.hpp"
#include "widelimit/recipe/recipe.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

nb::module_ json_module() { return nb::module_::import_("json"); }

/// Throws Error{input} if an object is not serialisable as JSON.
std::string json_text(const nb::object& list) {
  try {
    return nb::cast<std::string>(json_module().attr("dumps")(list));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
    fail(Code::input, "a network in JSON is a list of layers, [[\"dense\"], …], of text and numbers; got {}",
         std::string(nb::repr(list).c_str()).substr(0, 80));
  }
}

/// Returns the text in UTF-8; throws Error{input} for unpaired surrogates, which have no encoding.
std::string utf8(const nb::object& text) {
  std::string encoded;
  if (!nb::try_cast(text, encoded)) fail(Code::input, "text contains an unpaired surrogate, which has no encoding");
  return encoded;
}

/// The library parses text itself, so that its errors give the position; other objects are serialised first.
Network network_from_json(const nb::object& list) {
  const bool is_text = nb::isinstance<nb::str>(list);
  const auto text = is_text ? utf8(list) : json_text(list);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '[') {
    fail(Code::input, "a network in JSON is a list of layers, [[\"dense\"], …]; got {}", text.substr(0, 40));
  }
  return Network::parse(text);
}

/// Converts text, a list of layers, or another network.
Network read_network(const nb::object& given) {
  if (nb::isinstance<nb::str>(given)) return Network::parse(utf8(given));
  if (nb::isinstance<Network>(given)) return nb::cast<Network>(given);
  if (nb::isinstance<nb::list>(given) || nb::isinstance<nb::tuple>(given)) return network_from_json(given);
  fail(Code::input, "a network is text such as 'fc:3' or a list of layers such as [[\"dense\"], [\"relu\"]]; got {}",
       nb::type_name(given.type()).c_str());
}

nb::object network_to_json(const Network& network) { return json_module().attr("loads")(network.to_json().dump()); }

std::string network_repr(const Network& network) {
  return fmt::format("Network({})", nb::repr(nb::cast(network.to_text())).c_str());
}

/// Converts an input shape: text "28x28x1", a number of features, or a tuple of up to three numbers.
Shape read_shape(const nb::object& input) {
  if (nb::isinstance<nb::str>(input)) return parse_shape(utf8(input));
  std::string text;
  try {
    const bool is_number = PyIndex_Check(input.ptr()) != 0;
    const nb::list numbers = is_number ? nb::list(nb::make_tuple(input)) : nb::list(input);
    for (const nb::handle number : numbers) {
      const nb::object whole = nb::steal(PyNumber_Index(number.ptr()));
      if (!whole.is_valid()) throw nb::python_error();
      text += (text.empty() ? "" : "x") + std::string(nb::str(whole).c_str());
    }
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    fail(Code::input, "an input shape is a number of features, '28x28x1' or (28, 28, 1); got {}",
         std::string(nb::repr(input).c_str()).substr(0, 80));
  }
  return parse_shape(text);
}

std::vector<std::string> top_layers(const Network& network) {
  std::vector<std::string> texts;
  texts.reserve(network.layers.size());
  for (const Layer& layer : network.layers) texts.push_back(to_text(layer));
  return texts;
}

std::string exactness_name(const Network& network) {
  switch (exactness(network)) {
    case Exactness::closed_form:
      return "closed form";
    case Exactness::quadrature:
      return "quadrature";
    case Exactness::monte_carlo:
      return "monte carlo";
  }
  return {};
}

/// Returns a reference to a Python callable that can be released on any thread, or after the interpreter has shut down.
std::shared_ptr<PyObject> hold(const nb::callable& function) {
  return {nb::callable(function).release().ptr(), [](PyObject* held) {
            if (!nb::is_alive()) return;
            const nb::gil_scoped_acquire lock;
            nb::handle(held).dec_ref();
          }};
}

/// Evaluates φ on a copy of the points, since the callable can keep or modify its argument.
void call(nb::handle function, std::span<const double> x, std::span<double> y) {
  const nb::gil_scoped_acquire lock;
  auto points = std::make_unique<std::vector<double>>(x.begin(), x.end());
  double* const data = points->data();
  const nb::capsule owner(points.release(),
                          [](void* list) noexcept { delete static_cast<std::vector<double>*>(list); });
  const nb::ndarray<nb::numpy, double, nb::ndim<1>> argument(data, {x.size()}, owner);
  using Values = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  const auto values = nb::cast<Values>(function(argument));
  if (values.size() != y.size()) fail(Code::input, "an activation returned {} values for {}", values.size(), y.size());
  std::copy_n(values.data(), y.size(), y.begin());
}

void bind_activation(nb::module_& module) {
  module.def(
      "register_activation",
      [](const std::string& name, const nb::callable& function) {
        register_activation(
            name, [held = hold(function)](std::span<const double> x, std::span<double> y) { call(held.get(), x, y); });
      },
      "name"_a, "function"_a, "Registers this function of float64 vectors as custom(name=…).");
}

void bind_layer_shape(nb::module_& module) {
  nb::class_<LayerShape>(module, "LayerShape", "Grid of positions after one layer.")
      .def_ro("place", &LayerShape::place, "Path of the layer, with indices from 1: '3', or '3.branch.1'.")
      .def_ro("layer", &LayerShape::layer, "The layer's text.")
      .def_ro("height", &LayerShape::height)
      .def_ro("width", &LayerShape::width)
      .def_ro("nodes", &LayerShape::nodes, "True if there is one position for each node of a graph.")
      .def("__repr__", [](const LayerShape& shape) {
        return fmt::format("LayerShape({}: {}, {}×{})", shape.place, shape.layer, shape.height, shape.width);
      });
}

constexpr const char* network_doc = R"doc(A network architecture without widths; immutable.

Given as text (layers in order, or a preset), or as the JSON list of its layers:

>>> import widelimit as wl
>>> net = wl.Network("fc:2(w_std=1.4142)")
>>> print(net)
dense(w_std=1.4142) relu dense(w_std=1.4142) relu dense(w_std=1.4142)
>>> net == wl.Network("repeat(2){ dense(w_std=1.4142) relu } dense(w_std=1.4142)")
True
>>> wl.Network("dense relu dense").to_json()
[['dense'], ['relu'], ['dense']]

A layer with frozen=true keeps its initial weights: wl.Network("dense relu dense(frozen=true)").

Networks can be compared, hashed, pickled and copied. presets() lists the presets.)doc";

constexpr const char* from_json_doc = R"doc(Returns the network of a JSON list of layers (Python values or text).

>>> import widelimit as wl
>>> wl.Network.from_json([["dense", {"w_std": 1.5}], ["relu", {}], ["dense", {}]])
Network('dense(w_std=1.5) relu dense')
>>> wl.Network.from_json('[["dense", {}]]')
Network('dense'))doc";

constexpr const char* shapes_doc = R"doc(Returns the grid of positions after every layer, for an input of this shape.

input: '28x28x1', (28, 28, 1), (28, 28), or a number of features. Raises InputError, with the layer, if a layer does
not fit the input.

>>> import widelimit as wl
>>> for shape in wl.Network("conv relu avg_pool flatten dense").shapes((8, 8, 3)):
...     print(shape.place, shape.layer, (shape.height, shape.width))
1 conv (8, 8)
2 relu (8, 8)
3 avg_pool (4, 4)
4 flatten (1, 1)
5 dense (1, 1))doc";

}  // namespace

void bind_network(nb::module_& module) {
  bind_layer_shape(module);
  bind_activation(module);
  nb::class_<Network>(module, "Network", network_doc)
      .def(
          "__init__", [](Network* self, const nb::object& text) { new (self) Network(read_network(text)); },
          "text"_a.none(), nb::sig("def __init__(self, text: str | list) -> None"))
      .def_static("from_json", &network_from_json, "list_or_text"_a, from_json_doc)
      .def("to_json", &network_to_json, nb::sig("def to_json(self) -> list"),
           "Returns the JSON list of the layers, as Python values.")
      .def(
          "shapes", [](const Network& self, const nb::object& input) { return infer_shapes(self, read_shape(input)); },
          "input"_a.none(), shapes_doc)
      .def_prop_ro("reads_graphs", &reads_graphs,
                   "True if samples are graphs, i.e. a layer aggregates over neighbours.")
      .def_prop_ro("layers", &top_layers, "Text of each top-level layer; a residual block is one layer.")
      .def_prop_ro(
          "layer_count", [](const Network& self) { return count_layers(self.layers); },
          "Number of layers, including residual blocks and the layers inside them.")
      .def_prop_ro("exactness", &exactness_name,
                   "How the limit kernel is computed: 'closed form', 'quadrature', or only by 'monte carlo'.")
      .def("__len__", [](const Network& self) { return self.layers.size(); })
      .def("__str__", &Network::to_text)
      .def("__repr__", &network_repr)
      .def("__hash__", &hash_value)
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__getstate__", [](const Network& self) { return self.to_json().dump(); })
      .def("__setstate__", [](Network* self, std::string_view text) { new (self) Network(Network::parse(text)); });
  module.def(
      "layout_warning",
      [](const Network& network, Index height, Index width, Index channels) {
        return layout_warning(network, {height, width, channels});
      },
      "network"_a, "height"_a, "width"_a, "channels"_a, "Warning if images look like N×C×H×W; empty otherwise.");
  module.def(
      "presets",
      [] {
        nb::dict usages;
        for (const Preset& preset : list_presets()) {
          usages[nb::cast(preset.usage())] = nb::cast(std::string(preset.description));
        }
        return usages;
      },
      nb::sig("def presets() -> dict[str, str]"),
      R"doc(Returns every preset network, with its arguments and their defaults, and its description.

>>> import widelimit as wl
>>> for usage, what in wl.presets().items():
...     print(usage, "-", what)  # doctest: +ELLIPSIS
fc:N(w_std=1, b_std=0, activation=relu, frozen=0) - fully connected, L hidden layers, ...
...)doc");
}

}  // namespace widelimit::python
