#pragma once

#include "widelimit/analysis/evolution/evolution.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"

#include <cmath>
#include <functional>
#include <vector>

namespace widelimit {

/// Normal samples of three classes with one-hot targets, or with one regression target.
struct ProbedTask {
  Matrix<double> x;
  Matrix<double> y;
  std::vector<Index> classes;

  explicit ProbedTask(Index n, Index dim = 5, Index outputs = 3) : x(n, dim), y(n, outputs) {
    Random(3).normals(0, n * dim, 1.0, x.data());
    for (Index i = 0; i < n; ++i) {
      classes.push_back(i % 3);
      x(i, i % 3) += 2;
      if (outputs == 1) {
        y(i, 0) = std::sin(static_cast<double>(i));
      } else {
        y(i, i % 3) = 1;
      }
    }
  }
  [[nodiscard]] SampleView view() const { return {x.view(), Shape{1, 1, x.cols()}}; }
  [[nodiscard]] TrainData data() const { return {.x = view(), .y = y.view()}; }
  [[nodiscard]] Probe probe() const { return {.x = view(), .y = y.view(), .classes = classes}; }
};

inline EvolutionOptions watched_training() {
  EvolutionOptions options;
  options.train.width = 16;
  options.train.steps = 12;
  options.train.rate = 0.01;
  options.train.batch = 5;
  options.train.regulariser = Regulariser::none;
  options.at = {3, 7};
  return options;
}

inline Code refusal_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.code();
  }
  return Code{};
}

}  // namespace widelimit
