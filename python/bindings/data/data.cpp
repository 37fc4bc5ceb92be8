#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/option_reader.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/data/labels/folds.hpp"
#include "widelimit/data/origin.hpp"
#include "widelimit/data/request.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

nb::object samples_array(AnySamples values, const Shape& shape) {
  const Index count = std::visit([](const auto& m) { return m.rows(); }, values);
  if (shape.is_vector()) return as_array(std::move(values), {count, shape.channels});
  return as_array(std::move(values), {count, shape.height, shape.width, shape.channels});
}

/// Returns classes as integers, targets as floats, or None without labels.
nb::object labels_array(Dataset& data) {
  if (data.outputs.rows() > 0) return as_array(std::move(data.outputs));
  if (!data.targets.empty()) return as_array(std::move(data.targets));
  if (data.labels.empty() && data.count() > 0) return nb::none();
  return as_array(std::move(data.labels));
}

nb::tuple as_tuple(Dataset& data) {
  nb::object labels = labels_array(data);
  nb::object samples = samples_array(std::move(data.values), data.shape);
  return nb::make_tuple(samples, labels, data.class_names);
}

/// Converts the options of Python to a request.
DataRequest request_of(const nb::dict& given) {
  DataRequest request;
  const OptionReader reader(given);
  reader.take("spec", request.train);
  reader.take("test", request.test);
  reader.take("texts", request.texts);
  reader.take("limit", request.limit);
  reader.take("test_limit", request.test_limit);
  reader.take("shuffle", request.shuffle);
  reader.take("split", request.split);
  reader.take("seed", request.seed);
  reader.take("label", request.label);
  reader.take("classes", request.classes);
  reader.take("columns", request.table.columns);
  reader.take("drop", request.table.drop);
  reader.take("categorical", request.table.categorical);
  reader.parse("scale", request.scale, parse_scaling);
  reader.parse("split_order", request.split_order, parse_split_order);
  reader.parse("task", request.task, parse_task);
  reader.parse("missing", request.table.missing, parse_missing);
  reader.parse("memory", request.memory, parse_bytes);
  return request;
}

nb::tuple load(const nb::dict& given) {
  DataRequest request = request_of(given);
  TrainTest loaded = unlocked([&](Progress* progress) {
    request.progress = progress;
    return load_train_test(request);
  });
  return nb::make_tuple(as_tuple(loaded.train), loaded.test ? nb::object(as_tuple(*loaded.test)) : nb::none(),
                        loaded.notes, loaded.origin.layout.feature_names(), origin_text(loaded.origin));
}

nb::tuple load_new(const nb::dict& given, const std::optional<std::string>& origin_json,
                   const std::vector<std::string>& classes, const std::string& part) {
  DataRequest request = request_of(given);
  const DataOrigin origin = origin_json ? parse_origin_text(*origin_json) : DataOrigin();
  NewSamples found = unlocked([&](Progress* progress) {
    request.progress = progress;
    return load_new_samples(request, origin, classes, parse_part(part));
  });
  return nb::make_tuple(as_tuple(found.data), found.notes, origin.layout.feature_names());
}

/// Returns ([(train, test), …], notes). Checks the rows against the samples if their number is given.
nb::tuple folds(const std::string& path, std::optional<Index> samples, const std::vector<Index>& labels) {
  std::vector<SplitRows> found =
      unlocked([&](Progress* progress) { return read_folds(path, {.memory = {}, .progress = progress}); });
  const std::vector<std::string> notes = samples ? check_folds(found, *samples, labels) : std::vector<std::string>{};
  nb::list pairs;
  for (SplitRows& fold : found)
    pairs.append(nb::make_tuple(as_array(std::move(fold.train)), as_array(std::move(fold.test))));
  return nb::make_tuple(pairs, notes);
}

}  // namespace

void bind_data(nb::module_& module) {
  using Values = SparseArray::List<double>;
  using Columns = SparseArray::List<std::int32_t>;
  using Offsets = SparseArray::List<std::int64_t>;
  nb::class_<SparseArray>(module, "SparseSamples", "Sparse samples, one per row, on the arrays of a SciPy CSR matrix.")
      .def(nb::init<Values, Columns, Offsets, Index>(), "data"_a, "indices"_a, "indptr"_a, "columns"_a)
      .def_prop_ro("ndim", [](const SparseArray&) { return 2; })
      .def_prop_ro("shape", [](const SparseArray& x) { return nb::make_tuple(x.view().rows, x.view().cols); });
  module.def(
      "load", &load, "options"_a,
      "((x, y, class_names) of train, the same of test or None, notes, feature names, origin as JSON); options as "
      "a dict, None for a default.");
  module.def("folds", &folds, "path"_a, "samples"_a.none(), "labels"_a,
             "([(train, test), …], notes); checks the rows against the samples if their number is given.");
  module.def("load_new", &load_new, "options"_a, "origin"_a.none(), "classes"_a, "part"_a,
             "((x, y, class_names), notes, feature names), read with the layout of this origin.");
}

}  // namespace widelimit::python
