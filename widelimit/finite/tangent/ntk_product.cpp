#include "widelimit/finite/tangent/ntk_product.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/tangent/tangent.hpp"
#include "widelimit/finite/training/weight_step.hpp"

#include <cmath>

namespace widelimit {

namespace {

/// Returns zeros in the memory where the engine works, which avoids a transfer of the size of the weights.
template <std::floating_point T>
Parameters<T> no_direction(const Architecture& architecture, const Engine& engine) {
  const auto& layers = layers_of<T>(engine);
  if (!layers) return zero_parameters<T>(architecture);
  const auto zeros = [&](Index count) {
    Values<T> values = Values<T>::unset(static_cast<std::size_t>(count));
    layers->clear(values.write(layers), count);
    return values;
  };
  Parameters<T> direction;
  for (const WeightSlot& slot : architecture.slots) {
    direction.slots.push_back({zeros(slot.fan_in * slot.fan_out), zeros(slot.biased() ? slot.fan_out : 0)});
  }
  return direction;
}

template <std::floating_point T>
double norm(const Tensor<T>& v) {
  double sum = 0;
  for (const T value : v.values()) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

}  // namespace

template <std::floating_point T>
Tensor<T> ntk_product(const Architecture& architecture, const Parameters<T>& parameters, const Tensor<T>& x1,
                      const Tensor<T>& x2, const Tensor<T>& v, const Engine& engine, Progress* progress) {
  const Interruptible interruptible(progress);
  if (v.count() != x2.count() || v.shape() != architecture.output) {
    fail(Code::usage, "a vector of {} values of shape {} for {} samples of {} outputs", v.count(), to_string(v.shape()),
         x2.count(), architecture.output.size());
  }
  const PassOptions options{.input_signal = false, .gather_windows = false, .progress = progress};
  const Trace<T> right = forward(architecture, parameters, x2, options, engine);
  const Gradient<T> gradient = backward(architecture, parameters, right, v, options, engine);
  Parameters<T> direction = no_direction<T>(architecture, engine);
  add_gradient(architecture, gradient, 1.0, direction, engine);
  Trace<T> changes;
  tangent(architecture, parameters, direction, forward(architecture, parameters, x1, options, engine), options, engine,
          changes);
  return std::move(changes.values.back());
}

template Tensor<float> ntk_product(const Architecture&, const Parameters<float>&, const Tensor<float>&,
                                   const Tensor<float>&, const Tensor<float>&, const Engine&, Progress*);
template Tensor<double> ntk_product(const Architecture&, const Parameters<double>&, const Tensor<double>&,
                                    const Tensor<double>&, const Tensor<double>&, const Engine&, Progress*);

template <std::floating_point T>
std::optional<double> largest_eigenvalue(const Architecture& architecture, const Parameters<T>& parameters,
                                         const Tensor<T>& x, const PowerMethodOptions& options, const Engine& engine,
                                         Progress* progress) {
  Tensor<T> v(x.count(), architecture.output);
  Random(0).normals(0, v.size(), 1.0, v.data());
  double largest = 0;
  for (int step = 0; step < options.max_iterations; ++step) {
    stop_if_requested(progress);
    const double size = norm(v);
    if (!(size > 0) || !std::isfinite(size)) return std::nullopt;
    for (Index i = 0; i < v.size(); ++i) v[i] = static_cast<T>(static_cast<double>(v[i]) / size);
    v = ntk_product(architecture, parameters, x, x, v, engine, progress);
    const double next = norm(v);
    const bool settled = std::fabs(next - largest) <= options.tolerance * next;
    largest = next;
    if (settled && options.tolerance > 0) break;
  }
  return largest > 0 && std::isfinite(largest) ? std::optional(largest) : std::nullopt;
}

template std::optional<double> largest_eigenvalue(const Architecture&, const Parameters<float>&, const Tensor<float>&,
                                                  const PowerMethodOptions&, const Engine&, Progress*);
template std::optional<double> largest_eigenvalue(const Architecture&, const Parameters<double>&, const Tensor<double>&,
                                                  const PowerMethodOptions&, const Engine&, Progress*);

}  // namespace widelimit
