#include "app/bound/bound_model.hpp"

#include "widelimit/base/error.hpp"

#include <cstring>
#include <string>
#include <unordered_map>

namespace widelimit::app {

namespace {

/// The numbers of a sample as bytes, the same for float and double of one value.
std::string row_key(const AnyMatrix& values, Index i) {
  return std::visit(
      [&](const auto& m) {
        std::string key(sizeof(double) * static_cast<std::size_t>(m.cols()), '\0');
        for (Index j = 0; j < m.cols(); ++j) {
          const double value = static_cast<double>(m(i, j)) + 0.0;  // −0 is 0
          std::memcpy(key.data() + sizeof(double) * static_cast<std::size_t>(j), &value, sizeof(double));
        }
        return key;
      },
      values);
}

}  // namespace

KernelRequest request_of(const Model& model) {
  KernelRequest request{.kernel = model.kernel};
  request.kind = model.kind;
  request.method = Method::exact;
  request.precision = model.precision;
  return request;
}

Trained fit_of(const Model& model, const Dataset& train) {
  if (!(train.shape == model.shape)) {
    fail(Code::input, "samples of {} do not have the shape that the model was fitted to", train.name);
  }
  std::unordered_multimap<std::string, Index> places;
  for (Index i = 0; i < train.count(); ++i) places.emplace(row_key(train.values, i), i);
  Trained trained{.machine = model.machine, .scheme = model.scheme, .classes = std::ssize(model.classes), .fit = {}};
  trained.fit.alpha = Matrix<double>(train.count(), model.outputs());
  trained.fit.bias = model.bias;
  for (Index s = 0; s < model.supports(); ++s) {
    const auto place = places.find(row_key(model.support, s));
    if (place == places.end()) {
      fail(Code::input,
           "{} has no sample like number {} of the model's; give the data it was fitted to, with the "
           "options of that fit but --scale",
           train.name, s);
    }
    for (Index j = 0; j < model.outputs(); ++j) trained.fit.alpha(place->second, j) = model.alpha(s, j);
    places.erase(place);
  }
  trained.fit.summary.method = "read from a model";
  return trained;
}

}  // namespace widelimit::app
