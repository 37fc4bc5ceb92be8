#include "arrays.hpp"
#include "rooms.hpp"
#include "unlocked.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/data/request.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

nb::object samples_array(AnyMatrix values, const Shape& shape) {
  const Index count = std::visit([](const auto& m) { return m.rows(); }, values);
  if (shape.is_vector()) return as_array(std::move(values), {count, shape.channels});
  return as_array(std::move(values), {count, shape.height, shape.width, shape.channels});
}

/// Classes as integers, targets as reals, None where there are neither.
nb::object labels_array(Dataset& data) {
  if (!data.targets.empty()) return as_array(std::move(data.targets));
  if (data.labels.empty() && data.count() > 0) return nb::none();
  return as_array(std::move(data.labels));
}

nb::tuple as_tuple(Dataset& data) {
  nb::object labels = labels_array(data);
  nb::object samples = samples_array(std::move(data.values), data.shape);
  return nb::make_tuple(samples, labels, data.class_names);
}

template <typename T>
void assign(std::optional<T>& option, const std::optional<T>& asked) {
  if (asked) option = asked;
}

nb::tuple load(const std::string& train, const std::optional<std::string>& test,
               const std::optional<std::vector<std::string>>& classes, std::optional<Index> limit,
               std::optional<Index> test_limit, std::optional<std::uint64_t> shuffle,
               const std::optional<std::string>& scale, std::optional<double> split,
               const std::optional<std::string>& label, const std::optional<std::string>& memory) {
  DataRequest request;
  request.train = train;
  if (classes) request.classes = *classes;
  if (scale) request.scale = parse_scaling(*scale);
  assign(request.test, test);
  assign(request.limit, limit);
  assign(request.test_limit, test_limit);
  assign(request.shuffle, shuffle);
  assign(request.split, split);
  assign(request.label, label);
  if (memory) request.memory = parse_bytes(*memory);
  TrainTest loaded = unlocked([&](Progress* progress) {
    request.progress = progress;
    return load_train_test(request);
  });
  return nb::make_tuple(as_tuple(loaded.train), loaded.test ? nb::object(as_tuple(*loaded.test)) : nb::none());
}

}  // namespace

void bind_data(nb::module_& module) {
  module.def("load", &load, "train"_a, "test"_a.none(), "classes"_a.none(), "limit"_a.none(), "test_limit"_a.none(),
             "shuffle"_a.none(), "scale"_a.none(), "split"_a.none(), "label"_a.none(), "memory"_a.none(),
             "((x, y, class_names) of train, the same of test or None).");
}

}  // namespace widelimit::python
