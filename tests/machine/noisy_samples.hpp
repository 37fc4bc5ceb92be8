#pragma once

#include "random_gram.hpp"
#include "widelimit/data/dataset.hpp"

#include <utility>

namespace widelimit {

/// Returns n unlabelled samples of noise.
inline Dataset noisy_samples(Index n, const Shape& shape, std::uint64_t seed) {
  Noise noise(seed);
  Matrix<double> x(n, shape.size());
  for (Index i = 0; i < n * shape.size(); ++i) x.data()[i] = noise();
  Dataset data;
  data.name = "noise";
  data.values = std::move(x);
  data.shape = shape;
  return data;
}

}  // namespace widelimit
