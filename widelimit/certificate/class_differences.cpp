#include "widelimit/certificate/class_differences.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/certificate/network/enclose_affine.hpp"
#include "widelimit/engine/cpu/algebra/cut_product.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// |w_ic − w_ik| of all rows i and outputs k, row-major.
template <std::floating_point T>
void column_distances(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus, Index c,
                      std::vector<double>& distance) {
  const Index outputs = slot.fan_out;
  distance.resize(at(slot.fan_in * outputs));
  std::vector<double> row(at(outputs));
  for (Index i = 0; i < slot.fan_in; ++i) {
    for (Index k = 0; k < outputs; ++k) {
      const auto entry = at(i * outputs + k);
      const double less = minus == nullptr ? 0.0 : static_cast<double>(minus->w[entry]);
      row[at(k)] = static_cast<double>(weights.w[entry]) - less;
    }
    for (Index k = 0; k < outputs; ++k) distance[at(i * outputs + k)] = std::abs(row[at(c)] - row[at(k)]);
    if (minus == nullptr) continue;
    // Each entry of a difference has a rounding of its own size, which their distance may not have.
    for (Index k = 0; k < outputs; ++k) {
      distance[at(i * outputs + k)] += 0x1p-51 * (std::abs(row[at(c)]) + std::abs(row[at(k)]));
    }
  }
}

}  // namespace

MarginBounds::MarginBounds(Index balls, Index outputs)
    : each(std::max<Index>(1, outputs - 1)), centre(at(balls * each)), radius(at(balls * each)) {}

void MarginBounds::add(const MarginBounds& other) {
  for (std::size_t i = 0; i < centre.size(); ++i) {
    centre[i] += other.centre[i];
    radius[i] = rounded_up(radius[i] + other.radius[i] + std::abs(centre[i]) * 0x1p-51);
  }
}

void MarginBounds::put(Index ball, const MarginBounds& part) {
  std::copy(part.centre.begin(), part.centre.end(), centre.begin() + ball * each);
  std::copy(part.radius.begin(), part.radius.end(), radius.begin() + ball * each);
}

MarginBounds margins_of(const Enclosure& outputs, std::span<const Index> labels) {
  const Index count = outputs.centre.shape().size();
  MarginBounds margins(outputs.count(), count);
  std::size_t to = 0;
  for (Index n = 0; n < outputs.count(); ++n) {
    const Index label = labels[at(n)];
    const double* centre = outputs.centre.sample(n);
    const double* radius = outputs.radius.sample(n);
    if (count == 1) {
      margins.centre[to] = label == 1 ? centre[0] : -centre[0];
      margins.radius[to++] = radius[0];
      continue;
    }
    for (Index k = 0; k < count; ++k) {
      if (k == label) continue;
      margins.centre[to] = centre[label] - centre[k];
      margins.radius[to] = rounded_up(radius[label] + radius[k] + std::abs(margins.centre[to]) * 0x1p-51);
      ++to;
    }
  }
  return margins;
}

template <std::floating_point T>
MarginBounds class_differences(const WeightSlot& slot, const Weights<T>& weights, const Weights<T>* minus,
                               const Enclosure& a, std::span<const Index> labels) {
  const Index outputs = slot.fan_out;
  const double g = summation_error(slot.fan_in);
  // With a at rest the radii of z_c and z_k are their rounding.
  Enclosure rest;
  rest.centre.assign(a.centre);
  rest.radius.resize(a.count(), a.radius.shape());
  rest.radius.clear();
  Enclosure z;
  enclose_affine<T>(slot, weights, minus, rest, z, 1);
  MarginBounds margins = margins_of(z, labels);
  std::vector<double> distance;
  std::vector<double> moved(at(outputs));
  for (Index c = 0; c < outputs; ++c) {
    if (std::find(labels.begin(), labels.end(), c) == labels.end()) continue;
    column_distances(slot, weights, minus, c, distance);
    for (Index n = 0; n < a.count(); ++n) {
      if (labels[at(n)] != c) continue;
      multiply({.m = 1, .n = outputs, .k = slot.fan_in, .alpha = slot.w_scale}, a.radius.sample(n), distance.data(),
               moved.data());
      std::size_t to = at(n * margins.each);
      for (Index k = 0; k < outputs; ++k) {
        if (k == c) continue;
        margins.radius[to] =
            rounded_up((margins.radius[to] + moved[at(k)]) * (1 + 2 * g) +
                       static_cast<double>(slot.fan_in + 16) * underflow * std::max(1.0, slot.w_scale));
        ++to;
      }
    }
  }
  return margins;
}

template MarginBounds class_differences(const WeightSlot&, const Weights<float>&, const Weights<float>*,
                                        const Enclosure&, std::span<const Index>);
template MarginBounds class_differences(const WeightSlot&, const Weights<double>&, const Weights<double>*,
                                        const Enclosure&, std::span<const Index>);

}  // namespace widelimit
