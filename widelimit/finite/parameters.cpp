#include "widelimit/finite/parameters.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"

#include <algorithm>
#include <numbers>
#include <numeric>

namespace widelimit {

namespace {

/// Block size, and the minimum number of blocks for multithreading.
constexpr Index parameter_block = Index{1} << 16;
constexpr Index team_blocks = 16;

/// Calls part(begin, end) for consecutive blocks of [0, count).
template <typename Part>
void for_blocks(Index count, const Engine& engine, const Part& part) {
  const auto one = [&](Index k) { part(k * parameter_block, std::min(count, (k + 1) * parameter_block)); };
  const Index blocks = (count + parameter_block - 1) / parameter_block;
  if (blocks >= team_blocks) {
    engine.for_each(blocks, one);
  } else {
    for (Index k = 0; k < blocks; ++k) one(k);
  }
}

/// Draws numbers with this standard deviation.
template <std::floating_point T>
std::vector<T> draws(const Random& random, bool uniform, Index count, double deviation, const Engine& engine) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for_blocks(count, engine, [&](Index begin, Index end) {
    if (!uniform) {
      random.normals(static_cast<std::uint64_t>(begin), end - begin, deviation, values.data() + begin);
      return;
    }
    const double bound = std::numbers::sqrt3 * deviation;
    for (Index i = begin; i < end; ++i) {
      values[static_cast<std::size_t>(i)] =
          static_cast<T>(bound * (2 * random.uniform(static_cast<std::uint64_t>(i)) - 1));
    }
  });
  return values;
}

template <std::floating_point T>
double squared_distance(const Values<T>& w_all, const Values<T>& v_all, const Engine& engine) {
  const Index count = std::ssize(w_all);
  if (const auto& layers = layers_of<T>(engine)) {
    return layers->squared_distance(w_all.read(layers), v_all.read(layers), count);
  }
  const T* const w = w_all.data();
  const T* const v = v_all.data();
  std::vector<double> sums(static_cast<std::size_t>((count + parameter_block - 1) / parameter_block));
  for_blocks(count, engine, [&](Index begin, Index end) {
    double sum = 0;
    for (Index i = begin; i < end; ++i) {
      const double d = static_cast<double>(w[i]) - static_cast<double>(v[i]);
      sum += d * d;
    }
    sums[static_cast<std::size_t>(begin / parameter_block)] = sum;
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

template <std::floating_point T>
Parameters<T> draw_parameters(const Architecture& architecture, std::uint64_t seed, const Engine& engine) {
  Parameters<T> parameters;
  std::uint64_t stream = 0;
  for (const WeightSlot& slot : architecture.slots) {
    parameters.slots.push_back(
        {draws<T>(Random(seed, stream), slot.uniform, slot.fan_in * slot.fan_out, slot.w_start, engine),
         draws<T>(Random(seed, stream + 1), slot.uniform, slot.biased() ? slot.fan_out : 0, slot.b_start, engine)});
    stream += 2;
  }
  return parameters;
}

template <std::floating_point T>
Parameters<T> zero_parameters(const Architecture& architecture) {
  Parameters<T> parameters;
  for (const WeightSlot& slot : architecture.slots) {
    parameters.slots.push_back({std::vector<T>(static_cast<std::size_t>(slot.fan_in * slot.fan_out)),
                                std::vector<T>(static_cast<std::size_t>(slot.biased() ? slot.fan_out : 0))});
  }
  return parameters;
}

template <std::floating_point T>
double squared_distance(const Parameters<T>& w, const Parameters<T>& v, const Engine& engine) {
  double sum = 0;
  for (std::size_t l = 0; l < w.slots.size(); ++l) {
    sum += squared_distance(w.slots[l].w, v.slots[l].w, engine) + squared_distance(w.slots[l].b, v.slots[l].b, engine);
  }
  return sum;
}

Index parameter_count(const Architecture& architecture) {
  Index count = 0;
  for (const WeightSlot& slot : architecture.slots) count += slot.size();
  return count;
}

Index trained_count(const Architecture& architecture) {
  Index count = 0;
  for (const WeightSlot& slot : architecture.slots) count += slot.trained ? slot.size() : 0;
  return count;
}

template <std::floating_point T>
void require_match(const Architecture& architecture, const Parameters<T>& parameters) {
  bool matches = parameters.slots.size() == architecture.slots.size();
  for (std::size_t l = 0; matches && l < architecture.slots.size(); ++l) {
    const WeightSlot& slot = architecture.slots[l];
    matches = std::ssize(parameters.slots[l].w) == slot.fan_in * slot.fan_out &&
              std::ssize(parameters.slots[l].b) == (slot.biased() ? slot.fan_out : 0);
  }
  if (!matches) fail(Code::usage, "the parameters do not match this network; give those it was trained with");
}

template Parameters<float> draw_parameters(const Architecture&, std::uint64_t, const Engine&);
template Parameters<double> draw_parameters(const Architecture&, std::uint64_t, const Engine&);
template Parameters<float> zero_parameters(const Architecture&);
template Parameters<double> zero_parameters(const Architecture&);
template double squared_distance(const Parameters<float>&, const Parameters<float>&, const Engine&);
template double squared_distance(const Parameters<double>&, const Parameters<double>&, const Engine&);
template void require_match(const Architecture&, const Parameters<float>&);
template void require_match(const Architecture&, const Parameters<double>&);

}  // namespace widelimit
