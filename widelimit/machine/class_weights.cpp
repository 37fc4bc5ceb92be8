#include "widelimit/base/error.hpp"
#include "widelimit/machine/fit.hpp"
#include "widelimit/machine/machine.hpp"

#include <cmath>

namespace widelimit {

namespace {

/// Returns Σw of all samples/(number of classes · Σw of the class): n/(k·n_c) without sample weights. Classes whose
/// samples all have weight 0 are not counted.
std::vector<double> balancing_weights(std::span<const Index> labels, Index classes, std::span<const double> weights) {
  std::vector<double> sums(static_cast<std::size_t>(classes), 0.0);
  double total = 0;
  for (Index i = 0; i < std::ssize(labels); ++i) {
    const double weight = factor_at(weights, i);
    sums[usize(labels[usize(i)])] += weight;
    total += weight;
  }
  double occurring = 0;
  for (const double sum : sums) occurring += sum > 0 ? 1 : 0;
  for (double& sum : sums) sum = sum > 0 ? total / (occurring * sum) : 0;
  return sums;
}

void check_class_weights(std::span<const double> weights, Index classes) {
  if (std::ssize(weights) != classes) {
    fail(Code::input, "there are {} weights for {} classes", weights.size(), classes);
  }
  for (std::size_t c = 0; c < weights.size(); ++c) {
    if (!std::isfinite(weights[c]) || weights[c] <= 0) {
      fail(Code::input, "the weight of class {} is {}; class weights must be positive numbers", c, weights[c]);
    }
  }
}

}  // namespace

std::vector<double> sample_weights(const MachineOptions& options, std::span<const Index> labels, Index classes) {
  const ClassWeights& requested = options.class_weights;
  std::vector<double> result(options.weights.begin(), options.weights.end());
  if (requested.empty()) return result;
  if (options.machine == Machine::hard_svm || options.machine == Machine::regression) {
    fail(Code::usage, "{} does not support class weights: its solution does not depend on them",
         to_string(options.machine));
  }
  if (requested.balanced && !requested.each.empty()) {
    fail(Code::usage, "class weights are either balanced or given, not both");
  }
  check_weights(options.weights, std::ssize(labels));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes) {
      fail(Code::input, "label {} of sample {} is none of {} classes", labels[i], i, classes);
    }
  }
  if (!requested.balanced) check_class_weights(requested.each, classes);
  const std::vector<double> each =
      requested.balanced ? balancing_weights(labels, classes, options.weights) : requested.each;
  result.resize(labels.size(), 1.0);
  for (std::size_t i = 0; i < labels.size(); ++i) result[i] *= each[static_cast<std::size_t>(labels[i])];
  return result;
}

}  // namespace widelimit
