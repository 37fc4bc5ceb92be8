#include "widelimit/finite/training/dead_network.hpp"

#include "widelimit/finite/forward.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace widelimit {

namespace {

constexpr Index tried_samples = 512;

template <std::floating_point T>
bool equal_samples(const Tensor<T>& values) {
  const Index size = values.shape().size();
  for (Index i = 1; i < values.count(); ++i) {
    if (!std::equal(values.sample(i), values.sample(i) + size, values.sample(0))) return false;
  }
  return true;
}

template <std::floating_point T>
bool all_zero(const Tensor<T>& values) {
  return std::all_of(values.values().begin(), values.values().end(), [](T value) { return value == 0; });
}

}  // namespace

template <std::floating_point T>
std::string dead_layer(const Architecture& architecture, const Parameters<T>& parameters, const Tensor<T>& x,
                       const Engine& engine) {
  Tensor<T> some(std::min(tried_samples, x.count()), x.shape());
  std::copy_n(x.data(), some.size(), some.data());
  if (equal_samples(some)) return "";
  const Trace<T> trace = forward(architecture, parameters, std::move(some), {}, engine);
  // The values of the last stage are the outputs: if only they are constant, its own weights still have gradients.
  for (std::size_t k = 0; k + 1 < architecture.stages.size(); ++k) {
    const Tensor<T>& values = trace.values[k + 1];
    if (!equal_samples(values)) continue;
    const Stage& stage = architecture.stages[k];
    const std::string name = std::holds_alternative<Residual>(stage.layer.value) ? "residual" : to_text(stage.layer);
    return all_zero(values) ? fmt::format("all units of layer {} ({}) are 0 for every sample", stage.place, name)
                            : fmt::format("layer {} ({}) gives the same values for every sample", stage.place, name);
  }
  return "";
}

template std::string dead_layer(const Architecture&, const Parameters<float>&, const Tensor<float>&, const Engine&);
template std::string dead_layer(const Architecture&, const Parameters<double>&, const Tensor<double>&, const Engine&);

}  // namespace widelimit
