#include "widelimit/engine/cpu/vector/vector_samples.hpp"

#include "widelimit/engine/cpu/vector/self_tangent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace widelimit::cpu {

namespace {

/// Standard deviations at an emit step.
template <typename T>
Features emitted_deviations(const Variances& variance, VectorSamples<T>& samples) {
  Features features = make_features(1, std::ssize(variance));
  for (std::size_t i = 0; i < variance.size(); ++i) {
    const auto r = static_cast<double>(std::sqrt(variance[i]));
    features.f64(0, static_cast<Index>(i)) = r;
    if (r > float_safe || (r > 0 && r < 1 / float_safe)) {
      samples.wide.resize(variance.size());
      samples.wide[i] = true;
    }
  }
  return features;
}

}  // namespace

template <typename T>
VectorSamples<T> load_vector_samples(const Recipe& recipe, const SampleView& x, Precision precision, int threads) {
  VectorSamples<T> samples;
  const Index n = x.count();
  samples.diagonal = Matrix<double>(recipe.outputs, n);
  std::vector<Variances> stack{samples.unit.load(x, recipe.input.channels, threads)};
  SelfTangent tangent(recipe.channels, n);
  DualErrors duals;
  for (const Step& step : recipe.steps) {
    Advance advanced;
    switch (step.op) {
      case Op::fork:
        stack.push_back(stack.back());
        break;
      case Op::swap:
        std::swap(stack.back(), stack[stack.size() - 2]);
        break;
      case Op::join:
        advanced = advance_join(stack[stack.size() - 2], stack.back());
        stack.pop_back();
        break;
      case Op::emit:
        advanced.features = emitted_deviations(stack.back(), samples);
        break;
      default:
        advanced = advance(recipe, step, stack.back(), {quadrature_tolerance(precision), has_errors(duals)});
        break;
    }
    tangent.advance(step, stack.back(), advanced);
    if (step.op == Op::emit) tangent.write(step, stack.back(), samples.diagonal.view());
    if (!advanced.variance.empty()) stack.back() = std::move(advanced.variance);
    if (step.op == Op::dual) duals.push_back(advanced.error);
    if constexpr (std::is_same_v<T, float>) advanced.features.round_to_float();
    samples.features.push_back(std::move(advanced.features));
  }
  samples.error = quadrature_error(recipe, duals);
  return samples;
}

template <typename T>
std::size_t vector_sample_bytes(const Recipe& recipe, const SampleView& x) {
  const std::size_t inputs = UnitRows<T>::bytes(x, recipe.input.channels);
  std::size_t features = 0;
  for (const Step& step : recipe.steps) features += usize(feature_count(step));
  const std::size_t rounded = std::is_same_v<T, float> ? sizeof(float) : 0;
  const std::size_t kept = inputs + usize(recipe.outputs) * sizeof(double) + features * (sizeof(double) + rounded);
  // Variances and tangents of every live state and of the current step.
  const std::size_t passing = usize(deepest_stack(recipe) + 1) * (2 + usize(recipe.channels)) * sizeof(long double);
  return kept + passing;
}

Index deepest_stack(const Recipe& recipe) {
  Index depth = 1;
  Index deepest = 1;
  for (const Step& step : recipe.steps) {
    if (step.op == Op::fork) deepest = std::max(deepest, ++depth);
    if (step.op == Op::join) --depth;
  }
  return deepest;
}

template VectorSamples<float> load_vector_samples(const Recipe&, const SampleView&, Precision, int);
template VectorSamples<double> load_vector_samples(const Recipe&, const SampleView&, Precision, int);
template std::size_t vector_sample_bytes<float>(const Recipe&, const SampleView&);
template std::size_t vector_sample_bytes<double>(const Recipe&, const SampleView&);

}  // namespace widelimit::cpu
