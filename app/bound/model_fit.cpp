#include "app/bound/model_fit.hpp"

#include "widelimit/base/error.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <unordered_map>
#include <variant>

namespace widelimit::app {

namespace {

/// Returns the values of a sample as bytes, identical for equal values in float and double.
template <typename T>
std::string row_key(const Matrix<T>& m, Index i) {
  std::string key(sizeof(double) * static_cast<std::size_t>(m.cols()), '\0');
  for (Index j = 0; j < m.cols(); ++j) {
    const double value = static_cast<double>(m(i, j)) + 0.0;  // −0 is 0
    std::memcpy(key.data() + sizeof(double) * static_cast<std::size_t>(j), &value, sizeof(double));
  }
  return key;
}
std::string row_key(const SparseMatrix& m, Index i) {
  const SparseView::Row row = m.view().row(i);
  std::string key;
  for (std::size_t k = 0; k < row.size(); ++k) {  // shortest text that round-trips
    if (row.values[k] != 0) key += fmt::format("{}:{} ", row.columns[k], row.values[k]);
  }
  return key;
}
std::string row_key(const Graphs& graphs, Index i) { return std::to_string(graphs_checksum({&graphs, i, 1})); }
std::string row_key(const AnySamples& values, Index i) {
  return std::visit([&](const auto& m) { return row_key(m, i); }, values);
}

}  // namespace

FittedMachine fit_of(const Model& model, const Dataset& train) {
  if (!(train.shape == model.shape)) {
    fail(Code::input, "samples of {} do not have the shape of the model's training samples", train.name);
  }
  std::unordered_multimap<std::string, Index> places;
  for (Index i = 0; i < train.count(); ++i) places.emplace(row_key(train.values, i), i);
  FittedMachine trained{
      .machine = model.machine, .scheme = model.scheme, .classes = std::ssize(model.classes), .fit = {}};
  trained.fit.alpha = Matrix<double>(train.count(), model.outputs());
  trained.fit.bias = model.bias;
  for (Index s = 0; s < model.supports(); ++s) {
    const auto place = places.find(row_key(model.support, s));
    if (place == places.end()) {
      fail(Code::input,
           "{} does not contain sample {} of the model; give the data it was fitted to, with the options of that fit "
           "except --scale",
           train.name, s);
    }
    for (Index j = 0; j < model.outputs(); ++j) trained.fit.alpha(place->second, j) = model.alpha(s, j);
    places.erase(place);
  }
  trained.fit.summary.method = "read from a model";
  return trained;
}

}  // namespace widelimit::app
