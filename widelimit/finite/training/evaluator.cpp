#include "widelimit/finite/training/evaluator.hpp"

#include <algorithm>

namespace widelimit {

bool RareQuestions::update(std::int64_t done, std::int64_t total, std::string_view unit) {
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
      questions_(progress),
      pass_{.input_signal = false, .seen = false, .progress = questions_.get()} {
  if (centre_ != nullptr) difference_ = zero_parameters<T>(architecture);
}

template <std::floating_point T>
void Evaluator<T>::set_samples(const Tensor<T>& x, std::span<const Index> rows) {
  Tensor<T>& input = trace_.input();
  input.resize(std::ssize(rows), x.shape());
  for (Index i = 0; i < input.count(); ++i) {
    std::copy_n(x.sample(rows[static_cast<std::size_t>(i)]), x.shape().size(), input.sample(i));
  }
  fresh_ = true;
}

template <std::floating_point T>
void Evaluator<T>::set_samples(const Tensor<T>& x, Index first, Index count) {
  Tensor<T>& input = trace_.input();
  input.resize(count, x.shape());
  std::copy_n(x.sample(first), input.size(), input.data());
  fresh_ = true;
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
  subtract(w, *centre_, difference_);
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
void subtract(const Parameters<T>& w, const Parameters<T>& v, Parameters<T>& to) {
  const auto minus = [](T a, T b) { return a - b; };
  for (std::size_t l = 0; l < w.slots.size(); ++l) {
    std::transform(w.slots[l].w.begin(), w.slots[l].w.end(), v.slots[l].w.begin(), to.slots[l].w.begin(), minus);
    std::transform(w.slots[l].b.begin(), w.slots[l].b.end(), v.slots[l].b.begin(), to.slots[l].b.begin(), minus);
  }
}

template class Evaluator<float>;
template class Evaluator<double>;
template void subtract(const Parameters<float>&, const Parameters<float>&, Parameters<float>&);
template void subtract(const Parameters<double>&, const Parameters<double>&, Parameters<double>&);

}  // namespace widelimit
