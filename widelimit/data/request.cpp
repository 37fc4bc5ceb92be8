#include "widelimit/data/request.hpp"

#include "widelimit/data/labels.hpp"
#include "widelimit/data/preprocess.hpp"

#include <algorithm>

namespace widelimit {

namespace {

constexpr std::uint64_t train_stream = 0;
constexpr std::uint64_t test_stream = 1;

Dataset load_part(const DataRequest& request, const std::string& spec, Index least_features) {
  DataOptions options;
  options.label = request.label;
  options.least_features = least_features;
  options.limits = {request.memory, request.progress};
  Dataset data = load_data(spec, options);
  lay_out(data, request.layout);
  return data;
}

double bytes_of(const Dataset& data) {
  return std::visit([](const auto& m) { return sizeof(*m.data()) * static_cast<double>(m.rows() * m.cols()); },
                    data.values);
}

/// Rows are chosen, shuffled and split into new matrices beside the old one.
void require_copies(const DataRequest& request, const TrainTest& parts) {
  if (request.classes.empty() && !request.shuffle && !request.split && !request.limit && !request.test_limit) return;
  const double test = parts.test ? bytes_of(*parts.test) : 0;
  ReadLimits{request.memory, nullptr}.require(2 * bytes_of(parts.train) + 2 * test, parts.train.name);
}

void choose_and_shuffle(Dataset& data, const DataRequest& request, std::uint64_t stream) {
  if (!request.classes.empty()) data = select_classes(data, request.classes);
  if (request.shuffle) data = shuffle_rows(data, *request.shuffle, stream);
}

/// A separate test set, in the shape and the class names of `train`.
Dataset load_test(const DataRequest& request, TrainTest& parts) {
  Dataset test = load_part(request, *request.test, 0);
  const Index features = std::max(parts.train.shape.size(), test.shape.size());
  // LIBSVM does not write trailing zeros, so the part with fewer columns is read again with as many as the other.
  if (parts.train.shape.size() < features) parts.train = load_part(request, request.train, features);
  if (test.shape.size() < features) test = load_part(request, *request.test, features);
  if (test.shape != parts.train.shape) {
    fail(Code::input, "samples of {} have shape {}, those of {} have {}", test.name, to_string(test.shape),
         parts.train.name, to_string(parts.train.shape));
  }
  return test;
}

}  // namespace

void DataRequest::validate() const {
  if (test && split) fail(Code::usage, "a separate test set and a split exclude each other; give one");
  if (split && !(*split > 0 && *split < 1)) fail(Code::usage, "a split of {} is not between 0 and 1", *split);
  if (limit && *limit < 1) fail(Code::usage, "a limit of {} samples leaves nothing", *limit);
  if (test_limit && *test_limit < 1) fail(Code::usage, "a test limit of {} samples leaves nothing", *test_limit);
}

TrainTest load_train_test(const DataRequest& request) {
  request.validate();
  TrainTest parts;
  parts.train = load_part(request, request.train, 0);
  if (request.test) parts.test = load_test(request, parts);
  require_copies(request, parts);
  choose_and_shuffle(parts.train, request, train_stream);
  if (parts.test) {
    // Unlabelled test data has no classes to choose among.
    const bool classless = parts.test->class_names.empty() && parts.test->targets.empty();
    if (!classless) choose_and_shuffle(*parts.test, request, test_stream);
    const bool labelled = !parts.train.class_names.empty() || !parts.train.targets.empty();
    if (labelled) relabel(*parts.test, parts.train.class_names, !parts.train.targets.empty());
  }
  if (request.split) {
    auto [train, test] = split_rows(parts.train, *request.split);
    parts.train = std::move(train);
    parts.test = std::move(test);
  }
  if (request.limit) parts.train = limit_rows(std::move(parts.train), *request.limit);
  if (request.test_limit && parts.test) parts.test = limit_rows(std::move(*parts.test), *request.test_limit);
  if (parts.train.count() == 0) fail(Code::input, "{}: no samples are left to train on", parts.train.name);
  Scaler scaler(request.scale, parts.train);
  scaler.apply(parts.train);
  if (parts.test) scaler.apply(*parts.test);
  if (request.scale != Scaling::none) parts.scaling = std::move(scaler);
  return parts;
}

}  // namespace widelimit
