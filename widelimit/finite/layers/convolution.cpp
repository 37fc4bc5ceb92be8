#include "widelimit/finite/layers/convolution.hpp"

#include "widelimit/finite/sample_team.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// Maximum number of groups of samples with separate gradient sums, and of values of all these sums.
constexpr Index most_groups = 16;
constexpr Index most_sums = Index{1} << 24;

/// Multiply-adds divided by 16: the measure of work that for_each_sample uses.
Index work_of(const Windows& windows, Index count, const WeightSlot& slot) {
  constexpr Index vector = 16;
  return count * windows.height() * windows.width() * slot.fan_in * ((slot.fan_out + vector - 1) / vector);
}

}  // namespace

bool works_on_host(const Engine& engine) {
  static const double number = 0;
  return engine.algebra().over(MatrixView<const double>{&number, 1, 1, 1}).has_value();
}

template <std::floating_point T>
void convolve(const WeightSlot& slot, const Weights<T>& weights, const Windows& windows, const Tensor<T>& input,
              Tensor<T>& patches, Tensor<T>& output, const Engine& engine) {
  if (!works_on_host(engine)) {
    windows.gather(input, patches, engine);
    affine(slot, weights, patches, output, engine);
    return;
  }
  host::Filter<T> filter;
  filter.pack(weights.matrix(slot), windows.size(), Transpose::no, static_cast<T>(slot.w_scale));
  filter.start_with(weights.b.host(), static_cast<T>(slot.b_scale));
  output.resize(input.count(), {windows.height(), windows.width(), slot.fan_out});
  for_each_sample(input.count(), work_of(windows, input.count(), slot), engine, [&](Index n) {
    host::convolve<T>(windows.connections(), filter, input.sample(n), output.sample(n));
  });
}

template <std::floating_point T>
void convolve_signal(const WeightSlot& slot, const Weights<T>& weights, const Windows& windows, const Shape& in,
                     const Tensor<T>& signal, Tensor<T>& patches, Tensor<T>& back, const Engine& engine) {
  if (!works_on_host(engine)) {
    affine_signal(slot, weights, signal, patches, engine);
    windows.scatter(patches, in, back, engine);
    return;
  }
  host::Filter<T> filter;
  filter.pack(weights.matrix(slot), windows.size(), Transpose::yes, static_cast<T>(slot.w_scale));
  back.resize(signal.count(), in);
  for_each_sample(signal.count(), work_of(windows, signal.count(), slot), engine,
                  [&](Index n) { host::convolve<T>(windows.readers(), filter, signal.sample(n), back.sample(n)); });
}

template <std::floating_point T>
void add_filter_gradient(const Windows& windows, const Tensor<T>& input, const Tensor<T>& signal, MatrixView<T> to,
                         const Engine& engine) {
  const host::FilterShape shape{
      .places = windows.size(), .inner = input.shape().channels, .outer = signal.shape().channels};
  const Index groups = std::clamp<Index>(most_sums / (to.rows * to.cols), 1, std::min(most_groups, input.count()));
  std::vector<host::FilterSum<T>> sums(static_cast<std::size_t>(groups), host::FilterSum<T>(shape));
  engine.for_each(groups, [&](Index k) {
    for (Index n = k * input.count() / groups; n < (k + 1) * input.count() / groups; ++n) {
      sums[static_cast<std::size_t>(k)].add(windows.connections(), input.sample(n), signal.sample(n));
    }
  });
  for (const host::FilterSum<T>& sum : sums) sum.add_to(to);
}

template void convolve(const WeightSlot&, const Weights<float>&, const Windows&, const Tensor<float>&, Tensor<float>&,
                       Tensor<float>&, const Engine&);
template void convolve(const WeightSlot&, const Weights<double>&, const Windows&, const Tensor<double>&,
                       Tensor<double>&, Tensor<double>&, const Engine&);
template void convolve_signal(const WeightSlot&, const Weights<float>&, const Windows&, const Shape&,
                              const Tensor<float>&, Tensor<float>&, Tensor<float>&, const Engine&);
template void convolve_signal(const WeightSlot&, const Weights<double>&, const Windows&, const Shape&,
                              const Tensor<double>&, Tensor<double>&, Tensor<double>&, const Engine&);
template void add_filter_gradient(const Windows&, const Tensor<float>&, const Tensor<float>&, MatrixView<float>,
                                  const Engine&);
template void add_filter_gradient(const Windows&, const Tensor<double>&, const Tensor<double>&, MatrixView<double>,
                                  const Engine&);

}  // namespace widelimit
