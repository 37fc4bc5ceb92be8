#include "experiments/label_aware/la_images.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/preparation/preprocess.hpp"
#include "widelimit/data/request.hpp"

#include <algorithm>
#include <utility>

namespace widelimit::experiment {

namespace {

/// Returns the first images of each class, cycling through the classes, so that every prefix is balanced.
Dataset balanced(const Dataset& all, Index count, const char* option) {
  const Index classes = std::ssize(all.class_names);
  if (count % classes != 0) {
    fail(Code::usage, "--{} {}: expected a multiple of {}, for equally many images of each class", option, count,
         classes);
  }
  std::vector<std::vector<Index>> of(usize(classes));
  for (Index i = 0; i < all.count(); ++i) of[usize(all.labels[usize(i)])].push_back(i);
  std::vector<Index> rows;
  for (Index i = 0; i < count; ++i) {
    const std::vector<Index>& own = of[usize(i % classes)];
    if (i / classes >= std::ssize(own)) {
      fail(Code::usage, "--{} {}: there are only {} images of class {}", option, count, own.size(),
           all.class_names[usize(i % classes)]);
    }
    rows.push_back(own[usize(i / classes)]);
  }
  return take_rows(all, rows);
}

void append_one(Dataset& data) {
  const auto& images = std::get<Matrix<float>>(data.values);
  Matrix<float> longer(images.rows(), images.cols() + 1);
  for (Index i = 0; i < images.rows(); ++i) {
    std::copy_n(images.view().row(i), images.cols(), longer.view().row(i));
    longer(i, images.cols()) = 1;
  }
  data.shape = {1, 1, longer.cols()};
  data.values = std::move(longer);
}

}  // namespace

std::vector<LaPair> requested_pairs(const Setting& setting, const std::string& option) {
  const std::string& text = setting.text(option);
  std::vector<LaPair> pairs;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    const std::size_t slash = one.find('/');
    if (slash == std::string::npos || slash == 0 || slash + 1 == one.size()) {
      fail(Code::usage, "--{} {}: expected pairs of classes, e.g. deer/dog,cat/deer", option, text);
    }
    pairs.push_back({one.substr(0, slash), one.substr(slash + 1)});
    begin = end + 1;
  }
  return pairs;
}

LaSource::LaSource(const Setting& setting) {
  TrainTest data = setting.load({.train = "cifar10:train", .test = "cifar10:test"});
  train_ = std::move(data.train);
  test_ = std::move(*data.test);
  const std::vector<double> middle(usize(train_.shape.size()), 127.5);
  const Scaler scaler(Scaling::standard, middle, middle);
  scaler.apply(train_);
  scaler.apply(test_);
}

LaImages LaSource::images(const std::vector<std::string>& classes, Index train, Index test) const {
  const auto chosen = [&](const Dataset& all, Index count, const char* option) {
    return classes.empty() ? balanced(all, count, option) : balanced(select_classes(all, classes), count, option);
  };
  return {.train = chosen(train_, train, "train"), .test = chosen(test_, test, "test")};
}

LaImages with_constant(LaImages images) {
  append_one(images.train);
  append_one(images.test);
  return images;
}

}  // namespace widelimit::experiment
