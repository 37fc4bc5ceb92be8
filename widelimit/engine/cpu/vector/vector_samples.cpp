#include "widelimit/engine/cpu/vector/vector_samples.hpp"

#include "widelimit/engine/overflow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace widelimit::cpu {

namespace {

void put_checked(MatrixView<double> outputs, Index slot, Index i, long double value) {
  if (!(std::abs(value) <= static_cast<long double>(std::numeric_limits<double>::max()))) {
    report_overflow(slot, i, i, Precision::f64);
  }
  outputs(slot, i) = static_cast<double>(value);
}

/// Θ_m(x, x) of each place, computed along with the variances: the diagonal of a symmetric Gram matrix on vectors.
class SelfTangent {
 public:
  SelfTangent(Index channels, Index places);
  /// Applies a step whose variances were `before` and are now advanced.variance.
  void advance(const Step& step, const Variances& before, const Advance& advanced);
  /// Writes the outputs of an emit step to the columns of `outputs`. Throws Error{numerical} on overflow.
  void write(const Step& step, const Variances& variance, MatrixView<double> outputs) const;

 private:
  using Channels = std::vector<Variances>;
  std::vector<Channels> stack_;
};

SelfTangent::SelfTangent(Index channels, Index places)
    : stack_{Channels(static_cast<std::size_t>(channels), Variances(static_cast<std::size_t>(places), 0))} {}

void SelfTangent::advance(const Step& step, const Variances& before, const Advance& advanced) {
  const auto scale = [&](const auto& factor) {
    for (Variances& theta : stack_.back()) {
      for (std::size_t i = 0; i < theta.size(); ++i) theta[i] *= factor(i);
    }
  };
  switch (step.op) {
    case Op::affine:
      scale([&](std::size_t) { return static_cast<long double>(step.w2); });
      for (Index m = step.channel_begin; m < step.channel_end; ++m) {
        Variances& theta = stack_.back()[static_cast<std::size_t>(m)];
        for (std::size_t i = 0; i < theta.size(); ++i) theta[i] += advanced.variance[i];
      }
      break;
    case Op::dual:
      scale([&](std::size_t i) { return advanced.dot[i]; });
      break;
    case Op::layer_norm:
      scale([&](std::size_t i) { return before[i] > 0 ? 1 / before[i] : 0.0L; });
      break;
    case Op::dropout:
      scale([&](std::size_t) { return 1 / static_cast<long double>(step.rate); });
      break;
    case Op::fork:
      stack_.push_back(stack_.back());
      break;
    case Op::swap:
      std::swap(stack_.back(), stack_[stack_.size() - 2]);
      break;
    case Op::join: {
      const Channels other = std::move(stack_.back());
      stack_.pop_back();
      for (std::size_t m = 0; m < other.size(); ++m) {
        for (std::size_t i = 0; i < other[m].size(); ++i) stack_.back()[m][i] += other[m][i];
      }
      break;
    }
    default:
      break;
  }
}

void SelfTangent::write(const Step& step, const Variances& variance, MatrixView<double> outputs) const {
  for (Index i = 0; i < outputs.cols; ++i) {
    const auto place = static_cast<std::size_t>(i);
    if (step.nngp_slot >= 0) put_checked(outputs, step.nngp_slot, i, variance[place]);
    for (Index m = 0; m < step.ntk_count; ++m) {
      put_checked(outputs, step.ntk_slot + m, i, stack_.back()[static_cast<std::size_t>(m)][place]);
    }
  }
}

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
