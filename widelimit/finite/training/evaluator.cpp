#include "widelimit/finite/training/evaluator.hpp"

#include "widelimit/base/clock.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// Returns whether all samples can be kept in engine memory: if they already are, or take a small part of its free
/// memory.
template <std::floating_point T>
bool stays_on(const LayerPasses<T>& layers, const Tensor<T>& x) {
  constexpr std::size_t part = 4;
  return x.on_engine() || static_cast<std::size_t>(x.size()) * sizeof(T) < layers.free_bytes() / part;
}

}  // namespace

bool ThrottledProgress::update(std::int64_t done, std::int64_t total, std::string_view unit) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return true;
  next_ = now + progress_interval;
  return listener_->update(done, total, unit);
}

template <std::floating_point T>
Evaluator<T>::Evaluator(const Architecture& architecture, const Parameters<T>* centre, const Engine& engine,
                        Progress* progress)
    : architecture_(architecture),
      centre_(centre),
      engine_(engine),
      throttled_(progress),
      pass_{.input_signal = false, .gather_windows = false, .progress = throttled_.get()} {
  if (centre_ != nullptr) difference_ = zero_parameters<T>(architecture);
}

template <std::floating_point T>
void Evaluator<T>::set_samples(const Tensor<T>& x, std::span<const Index> rows) {
  Tensor<T>& input = trace_.input();
  input.resize(std::ssize(rows), x.shape());
  fresh_ = true;
  if (const auto& layers = layers_of<T>(engine_); layers && stays_on(*layers, x)) {
    layers->take_rows(x.read(layers).data, x.shape().size(), rows, input.write(layers).data);
    return;
  }
  for (Index i = 0; i < input.count(); ++i) {
    std::copy_n(x.sample(rows[static_cast<std::size_t>(i)]), x.shape().size(), input.sample(i));
  }
}

template <std::floating_point T>
void Evaluator<T>::set_samples(const Tensor<T>& x, Index first, Index count) {
  Tensor<T>& input = trace_.input();
  input.resize(count, x.shape());
  fresh_ = true;
  if (const auto& layers = layers_of<T>(engine_); layers && stays_on(*layers, x)) {
    layers->copy(x.read(layers).data + first * x.shape().size(), input.size(), input.write(layers).data);
    return;
  }
  std::copy_n(x.sample(first), input.size(), input.data());
}

template <std::floating_point T>
const Tensor<T>& Evaluator<T>::outputs(const Parameters<T>& w, const std::optional<DropoutDraw>& dropout) {
  const bool same_masks = !dropout && !pass_.dropout;
  pass_.dropout = dropout;
  if (centre_ == nullptr) {
    forward(architecture_, w, pass_, engine_, trace_);
    return trace_.output();
  }
  if (fresh_ || !same_masks) forward(architecture_, *centre_, pass_, engine_, trace_);
  fresh_ = false;
  subtract(w, *centre_, difference_, engine_);
  tangent(architecture_, *centre_, difference_, trace_, pass_, engine_, changes_);
  sum_.assign(trace_.output());
  sum_ += changes_.output();
  return sum_;
}

template <std::floating_point T>
Tensor<T>& Evaluator<T>::signal() {
  Tensor<T>& signal = gradient_.output_signal(architecture_);
  signal.resize(trace_.output().count(), architecture_.output);
  return signal;
}

template <std::floating_point T>
const Gradient<T>& Evaluator<T>::gradient(const Parameters<T>& w) {
  backward(architecture_, centre_ == nullptr ? w : *centre_, trace_, pass_, engine_, gradient_);
  return gradient_;
}

template <std::floating_point T>
void subtract(const Parameters<T>& w, const Parameters<T>& v, Parameters<T>& to, const Engine& engine) {
  const auto minus = [&](const Values<T>& a, const Values<T>& b, Values<T>& difference) {
    if (const auto& layers = layers_of<T>(engine)) {
      layers->combine(T{1}, a.read(layers), T{-1}, b.read(layers), std::ssize(a), difference.write(layers));
    } else {
      std::transform(a.begin(), a.end(), b.begin(), difference.begin(), [](T x, T y) { return x - y; });
    }
  };
  for (std::size_t l = 0; l < w.slots.size(); ++l) {
    minus(w.slots[l].w, v.slots[l].w, to.slots[l].w);
    minus(w.slots[l].b, v.slots[l].b, to.slots[l].b);
  }
}

template class Evaluator<float>;
template class Evaluator<double>;
template void subtract(const Parameters<float>&, const Parameters<float>&, Parameters<float>&, const Engine&);
template void subtract(const Parameters<double>&, const Parameters<double>&, Parameters<double>&, const Engine&);

}  // namespace widelimit
