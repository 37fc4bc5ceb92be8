#pragma once

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/data/labels/label_noise.hpp"
#include "widelimit/machine/machine.hpp"

#include <cmath>
#include <functional>
#include <vector>

namespace widelimit::bound_test {

inline Code code_thrown(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return Code{};
}

/// Two overlapping point clouds in the plane, with the Gaussian kernel of all points against the training points.
struct Draw {
  Matrix<double> k;
  Matrix<double> k_test;
  std::vector<Index> labels;
  std::vector<Index> test_labels;
};

inline Draw two_clouds(Index train, std::uint64_t seed, Index test) {
  const Random random(seed, 77);
  const Index all = train + test;
  std::vector<double> x;
  std::vector<double> y;
  Draw draw;
  for (Index i = 0; i < all; ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    const Index label = random.bits(1000000 + at) % 2 == 0 ? 1 : 0;
    (i < train ? draw.labels : draw.test_labels).push_back(label);
    x.push_back((label == 1 ? 2.0 : -2.0) + random.normal(2 * at));
    y.push_back(random.normal(2 * at + 1));
  }
  draw.k = Matrix<double>(train, train);
  draw.k_test = Matrix<double>(test, train);
  for (Index i = 0; i < all; ++i) {
    for (Index j = 0; j < train; ++j) {
      const double dx = x[static_cast<std::size_t>(i)] - x[static_cast<std::size_t>(j)];
      const double dy = y[static_cast<std::size_t>(i)] - y[static_cast<std::size_t>(j)];
      (i < train ? draw.k(i, j) : draw.k_test(i - train, j)) = std::exp(-(dx * dx + dy * dy) / 16);
    }
  }
  return draw;
}

inline FittedMachine svm_on(const Draw& draw, double lambda) {
  return train_classes(AnyView(draw.k.view()), draw.labels, 2, {.machine = Machine::svm, .lambda = lambda});
}

inline double error_on_test(const Draw& draw, const FittedMachine& trained) {
  const Matrix<double> g = decision(trained.fit, AnyView(draw.k_test.view()));
  const std::vector<Index> predicted = classes_of(trained.scheme, trained.classes, g.view());
  Index wrong = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) wrong += predicted[i] != draw.test_labels[i] ? 1 : 0;
  return static_cast<double>(wrong) / static_cast<double>(predicted.size());
}

}  // namespace widelimit::bound_test
