#include "python/bindings/machine/label_aware.hpp"
#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/option_reader.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/kernel/label_aware/label_aware_text.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

/// A kernel from Python as an engine matrix: in place, or a copy that Python will own.
class OutputMatrix {
 public:
  OutputMatrix(const DenseArray& k, bool overwrite, const Engine& engine) {
    if (overwrite) {
      matrix_ = *engine.algebra().over(view_kernel(k));
      return;
    }
    copy_ = copy_of_kernel(k);
    matrix_ = *engine.algebra().over(view_of(*copy_));
  }
  [[nodiscard]] EngineMatrix& matrix() { return matrix_; }
  /// Returns None if the matrix was overwritten in place.
  [[nodiscard]] nb::object array() && { return copy_ ? as_array(std::move(*copy_)) : nb::none(); }

 private:
  std::optional<AnyMatrix> copy_;
  EngineMatrix matrix_;
};

nb::object inertia_tuple(const Inertia& inertia) {
  return nb::make_tuple(inertia.negative, inertia.zero, inertia.positive);
}

/// Returns (train or None, test or None, dict of results).
nb::tuple label_aware(const DenseArray& k, const Labels& labels, Index classes, const std::optional<DenseArray>& k_test,
                      const std::optional<SampleArray>& x, const std::optional<SampleArray>& x_test,
                      const std::optional<Numbers>& test_diagonal, const nb::object& features, bool overwrite,
                      const nb::dict& given) {
  const LabelAwareOptions options = label_aware_options(given);
  const Engine& engine = processor(given);
  OutputMatrix train(k, overwrite, engine);
  std::optional<OutputMatrix> test;
  if (k_test) test.emplace(*k_test, overwrite, engine);
  const PythonPairFeatures functions(features);
  std::vector<double> diagonal;
  LabelAwareKernels kernels = unlocked([&](Progress* progress) {
    PairSources sources{.own = functions.get()};
    if (x) sources.train = view_samples(*x);
    if (x_test) sources.test = view_samples(*x_test);
    LabelAwareKernels result = make_label_aware(train.matrix(), test ? &test->matrix() : nullptr, sources,
                                                span_of(labels), classes, options, engine, progress);
    if (test_diagonal) diagonal = label_aware_diagonal(result.aware, span_of(test_diagonal), sources.test, sources.own);
    return result;
  });
  nb::dict known;
  known["method"] = std::string(to_string(kernels.aware.method));
  known["target"] = std::string(to_string(kernels.aware.target));
  known["lam"] = kernels.aware.lambda;
  known["beyond"] = kernels.beyond;
  known["shift"] = kernels.repair.shift;
  if (test_diagonal) known["test_diagonal"] = diagonal;
  if (options.psd != Psd::none) known["inertia"] = inertia_tuple(kernels.repair.inertia);
  if (const auto* regression = std::get_if<PairRegression>(&kernels.aware.estimate)) {
    nb::dict coefficients;
    const std::vector<std::string> names = pair_feature_names(regression->basis, std::ssize(regression->own));
    for (std::size_t f = 0; f < names.size(); ++f) coefficients[names[f].c_str()] = regression->coefficients[f];
    known["coefficients"] = coefficients;
    known["rank"] = regression->rank;
    known["explained"] = regression->explained;
  }
  const nb::object tested = test ? std::move(*test).array() : nb::none();
  return nb::make_tuple(std::move(train).array(), tested, known);
}

/// Returns (negative, zero, positive, warning).
nb::object inertia_of(const KernelArray& k, std::optional<int> threads) {
  const SpectrumRepair found = unlocked([&](Progress* progress) {
    const GramMatrix gram = gram_of(k, threads);
    EngineMatrix held = gram.matrix();
    return repair_spectrum(held, Psd::none, gram.engine(), progress);
  });
  const Inertia& signs = found.inertia;
  return nb::make_tuple(signs.negative, signs.zero, signs.positive, near_zero_warning(found));
}

/// Returns K(x_test, x) + λ·Z for new samples; kernel regression needs no samples.
nb::object added(const LabelAware& aware, const DenseArray& k, const std::optional<SampleArray>& x,
                 const std::optional<SampleArray>& x_test, const nb::object& features, const std::string& backend,
                 std::optional<int> threads) {
  const Engine& engine = engine_of(backend, threads);
  const PythonPairFeatures functions(features);
  AnyMatrix result = unlocked([&](Progress* progress) {
    AnyMatrix rows = copy_of_kernel(k);
    PairSources sources{.own = functions.get()};
    if (x) sources.train = view_samples(*x);
    if (x_test) sources.test = view_samples(*x_test);
    (void)add_label_aware(aware, KernelPart::test, rows, sources, engine, progress);
    return rows;
  });
  return as_array(std::move(result));
}

nb::tuple state_of(const LabelAware& aware) {
  LabelAwareText text = label_aware_text(aware);
  return nb::make_tuple(text.json.dump(), as_array(std::move(text.directions)));
}

}  // namespace

LabelAwareOptions label_aware_options(const nb::dict& given) {
  LabelAwareOptions options;
  const OptionReader reader(given);
  reader.parse("method", options.method, parse_label_aware_method);
  reader.parse("target", options.target, parse_pair_target);
  reader.parse("psd", options.psd, parse_psd);
  reader.take("ratio", options.ratio);
  reader.take("distortion", options.distortion);
  reader.take("seed", options.seed);
  options.validate();
  return options;
}

PythonPairFeatures::PythonPairFeatures(const nb::object& given) {
  if (given.is_none()) return;
  call_ = given[0];
  functions_ = {nb::cast<std::vector<std::string>>(given[1]),
                [this](const SampleView& left, const SampleView& right, MatrixView<double> out) {
                  AnySamples rows = widelimit::copy_of(left);
                  AnySamples cols = widelimit::copy_of(right);
                  const nb::gil_scoped_acquire lock;
                  const nb::object found = call_(as_array(std::move(rows), {left.count(), left.shape.size()}),
                                                 as_array(std::move(cols), {right.count(), right.shape.size()}));
                  const auto values =
                      nb::cast<nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>>(found);
                  for (Index f = 0; f < out.rows; ++f) std::copy_n(values.data() + f * out.cols, out.cols, out.row(f));
                }};
}

AnyMatrix copy_of_kernel(const DenseArray& k) {
  return std::visit(
      []<typename T>(const MatrixView<const T>& from) {
        Matrix<T> own(from.rows, from.cols, Content::unset);
        for (Index i = 0; i < from.rows; ++i) std::copy_n(from.row(i), from.cols, own.view().row(i));
        return AnyMatrix(std::move(own));
      },
      view_kernel(k));
}

LabelAware copy_of(const LabelAware& aware) {
  const LabelAwareText text = label_aware_text(aware);
  return parse_label_aware(text.json, text.directions);
}

void bind_label_aware(nb::module_& module) {
  nb::class_<LabelAware>(module, "LabelAware", "The label-aware part of a kernel, for evaluation on new samples.")
      .def_prop_ro("method", [](const LabelAware& a) { return std::string(to_string(a.method)); })
      .def_ro("lam", &LabelAware::lambda)
      .def_ro("ratio", &LabelAware::ratio)
      .def_prop_ro(
          "pair_features",
          [](const LabelAware& a) {
            const auto* regression = std::get_if<PairRegression>(&a.estimate);
            return regression != nullptr ? regression->own : std::vector<std::string>();
          },
          "Names of the user-defined pair features of the fit.")
      .def("__getstate__", &state_of)
      .def("__setstate__", [](LabelAware& aware, const std::pair<std::string, Table>& state) {
        const MatrixView<const double> view = view_of(state.second);
        Matrix<double> directions(view.rows, view.cols, Content::unset);
        std::copy_n(view.data, view.rows * view.cols, directions.data());
        new (&aware) LabelAware(parse_label_aware(nlohmann::ordered_json::parse(state.first), directions));
      });
  module.def("label_aware_kernel", &label_aware, "k"_a, "labels"_a, "classes"_a, "k_test"_a.none(), "x"_a.none(),
             "x_test"_a.none(), "test_diagonal"_a.none(), "features"_a.none(), "overwrite"_a, "options"_a,
             "(train, test, dict of results); None for kernels that were overwritten or not given.");
  module.def(
      "check_label_aware", [](const nb::dict& given) { (void)label_aware_options(given); }, "options"_a,
      "Raises an error if an option of a label-aware kernel is invalid.");
  module.def("add_label_aware", &added, "aware"_a, "k"_a, "x"_a.none(), "x_test"_a.none(), "features"_a.none(),
             "backend"_a, "threads"_a.none(), "Adds the label-aware part to the kernel of new samples.");
  module.def(
      "require_pair_features",
      [](const LabelAware* aware, const nb::object& features) {
        require_pair_functions(aware, PythonPairFeatures(features).get());
      },
      "aware"_a.none(), "features"_a.none(), "Raises an error unless these are the pair features of the kernel.");
  module.def("inertia", &inertia_of, "k"_a, "threads"_a.none(),
             "Numbers of negative, zero and positive eigenvalues of a symmetric matrix, and a warning or ''.");
}

}  // namespace widelimit::python
