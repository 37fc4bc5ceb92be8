#include "widelimit/machine/model.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/array.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

template <typename Range>
void require_finite_numbers(const Range& numbers, std::string_view what) {
  const auto bad = std::find_if(numbers.begin(), numbers.end(), [](double x) { return !std::isfinite(x); });
  if (bad != numbers.end()) fail(Code::input, "{} {} of the model is {}", what, bad - numbers.begin(), *bad);
}

void check_shape(const Shape& shape) {
  constexpr double largest = 0x1.0p40;  // in double, so that the product does not overflow
  const double size =
      static_cast<double>(shape.height) * static_cast<double>(shape.width) * static_cast<double>(shape.channels);
  if (std::min({shape.height, shape.width, shape.channels}) < 1 || size > largest) {
    fail(Code::input, "the model's shape {}x{}x{} is invalid", shape.height, shape.width, shape.channels);
  }
}

void check_outputs(const Model& model) {
  const auto classes = std::ssize(model.classes);
  const bool values = model.scheme == Scheme::values;
  const bool known = values ? classes == 0 : (model.scheme == Scheme::sign ? classes == 2 : classes > 2);
  if (!known)
    fail(Code::input, "the model has {} classes, which scheme '{}' does not support", classes, to_string(model.scheme));
  const Index expected = values ? model.outputs() : output_count(model.scheme, classes);
  if (model.outputs() != expected) {
    fail(Code::input, "the model has {} outputs; {} of {} classes needs {}", model.outputs(), to_string(model.scheme),
         classes, expected);
  }
}

void check_support(const Model& model) {
  const auto [rows, cols] = std::visit([](const auto& m) { return std::pair(m.rows(), m.cols()); }, model.support);
  if (rows != model.supports()) {
    fail(Code::input, "the model has {} support samples and {} rows of coefficients", rows, model.supports());
  }
  if (rows > 0 && cols != model.shape.size()) {
    fail(Code::input, "a support sample of the model has {} values; its shape {} needs {}", cols,
         to_string(model.shape), model.shape.size());
  }
  if (model.shape.nodes != std::holds_alternative<Graphs>(model.support)) {
    fail(Code::input, "the model has the shape {}, but its support is {} graphs", to_string(model.shape),
         model.shape.nodes ? "no" : "of");
  }
  require_finite(model.support, "the support of the model");
}

void check_label_aware(const Model& model) {
  model.label_aware->validate();
  if (model.posterior) fail(Code::input, "a model with a label-aware kernel has no posterior");
  const auto* regression = std::get_if<PairRegression>(&model.label_aware->estimate);
  if (regression == nullptr) return;
  if (model.shape.nodes) fail(Code::input, "pair features do not take graphs");
  if (const PairBasis& basis = regression->basis;
      !basis.centre.empty() && std::ssize(basis.centre) != model.shape.size()) {
    fail(Code::input, "the pair features of the model take {} values, but samples have {}", basis.centre.size(),
         model.shape.size());
  }
}

}  // namespace

void Model::validate() const {
  check_shape(shape);
  if (const auto* network = std::get_if<Network>(&kernel)) {
    widelimit::validate(*network);
    if (kind == Kind::both) fail(Code::input, "a model uses one kernel, ntk or nngp");
  } else {
    std::get<ClassicalKernel>(kernel).validate();
  }
  if (scaling && scaling->features() != shape.size()) {
    fail(Code::input, "the model scales {} features, but samples have {}", scaling->features(), shape.size());
  }
  if (!origin.layout.columns.empty() && origin.layout.features() != shape.size()) {
    fail(Code::input, "the columns of the model have {} features, but samples have {}", origin.layout.features(),
         shape.size());
  }
  if (!std::isfinite(lambda) || lambda < 0) fail(Code::input, "the model's λ = {} is not a number ≥ 0", lambda);
  if (!std::isfinite(epsilon) || epsilon < 0) fail(Code::input, "the model's ε = {} is not a number ≥ 0", epsilon);
  if (outputs() < 1) fail(Code::input, "the model has no outputs");
  check_outputs(*this);
  if (std::ssize(bias) != outputs()) {
    fail(Code::input, "the model has {} biases for {} outputs", bias.size(), outputs());
  }
  if (!calibration.empty() && std::ssize(calibration) != outputs()) {
    fail(Code::input, "the model has {} calibrations for {} outputs", calibration.size(), outputs());
  }
  if (posterior && (machine != Machine::ridge || has_bias)) {
    fail(Code::input, "the model has a posterior, which only ridge without a bias supports");
  }
  if (label_aware) check_label_aware(*this);
  require_finite_numbers(bias, "bias");
  require_finite_numbers(std::span(alpha.data(), static_cast<std::size_t>(alpha.rows() * alpha.cols())), "coefficient");
  for (const Sigmoid& c : calibration) {
    if (!std::isfinite(c.slope) || !std::isfinite(c.offset))
      fail(Code::input, "a calibration parameter of the model is not finite");
  }
  check_support(*this);
}

Model fitted_model(std::variant<Network, ClassicalKernel> kernel, const Dataset& train, const FittedMachine& trained,
                   double lambda, bool posterior) {
  Model model;
  model.kernel = std::move(kernel);
  model.machine = trained.machine;
  model.scheme = trained.scheme;
  if (trained.classes > 0) model.classes = train.class_names;
  model.lambda = lambda;
  model.posterior = posterior;
  model.calibration = trained.calibration;
  set_support(model, trained.fit, train.view());
  return model;
}

void set_support(Model& model, const Fit& fit, const SampleView& train) {
  if (train.count() != fit.alpha.rows()) {
    fail(Code::input, "the fit has {} samples, the training set {}", fit.alpha.rows(), train.count());
  }
  std::vector<Index> kept;
  for (Index i = 0; i < fit.alpha.rows(); ++i) {
    const double* row = fit.alpha.view().row(i);
    if (model.posterior || std::any_of(row, row + fit.alpha.cols(), [](double a) { return a != 0; })) kept.push_back(i);
  }
  model.shape = train.shape;
  model.bias = fit.bias;
  model.alpha = Matrix<double>(std::ssize(kept), fit.alpha.cols());
  for (std::size_t s = 0; s < kept.size(); ++s) {
    std::copy_n(fit.alpha.view().row(kept[s]), fit.alpha.cols(), model.alpha.view().row(static_cast<Index>(s)));
  }
  model.support = gather(train, kept);
}

void require_label_free(const Model& model, std::string_view work, std::string_view reason) {
  if (!model.label_aware) return;
  fail(Code::input, "the model has a label-aware kernel ({}), but {} require a label-free one: {}",
       to_string(model.label_aware->method), work, reason);
}

}  // namespace widelimit
