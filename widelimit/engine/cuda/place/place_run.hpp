#pragma once

#include "widelimit/engine/cuda/place/place_program.hpp"
#include "widelimit/engine/cuda/plugin/dense_run.hpp"

/// One pair of places in one pass; compiled for the device and, in tests, for the host. No sum is split across threads,
/// so the bits depend only on the pair of units.
namespace widelimit::cuda {

/// One state of a pair: arrays ρ, t, θ_0, … over `size` pairs of places; the result of `rows` has no t.
template <typename T>
struct PlaceState {
  T* values = nullptr;
  std::int64_t size = 0;
  std::int32_t cols = 0;
  bool equal = false;

  [[nodiscard]] WIDELIMIT_BOTH std::int64_t at(std::int32_t p, std::int32_t q) const {
    return equal ? q : std::int64_t{p} * cols + q;
  }
};

[[nodiscard]] WIDELIMIT_BOTH inline std::int64_t extent_size(const PlaceExtent& extent, const std::int32_t* rows,
                                                             const std::int32_t* cols) {
  return extent.equal ? rows[extent.rows] : std::int64_t{rows[extent.rows]} * cols[extent.cols];
}

/// Returns the bytes of the first `count` buffers of a pair. Buffer 0 is double, to avoid rounding between two sums.
template <typename T>
[[nodiscard]] WIDELIMIT_BOTH inline std::int64_t buffer_bytes(const PlaceExtent* buffers, std::int32_t count,
                                                              std::int32_t channels, const std::int32_t* rows,
                                                              const std::int32_t* cols) {
  std::int64_t bytes = 0;
  for (std::int32_t b = 0; b < count; ++b) {
    const std::int64_t size = extent_size(buffers[b], rows, cols);
    bytes += b == 0 ? (1 + channels) * size * static_cast<std::int64_t>(sizeof(double))
                    : (2 + channels) * size * static_cast<std::int64_t>(sizeof(T));
    bytes = (bytes + 15) / 16 * 16;
  }
  return bytes;
}

/// A pair of units in a pass.
template <typename T>
struct PlacePair {
  std::int32_t number;  ///< index among the pairs of the call
  const PlaceEntry* first;
  const PlaceEntry* second;
  const std::int32_t* first_places;
  const std::int32_t* second_places;
  PlaceState<T> source, other, target;
  PlaceState<double> half;
  std::int64_t elements;  ///< number of results of the pass
};

template <typename T>
[[nodiscard]] WIDELIMIT_BOTH inline PlacePair<T> place_pair(const PlaceCall& call, const PlacePass& pass,
                                                            std::int32_t number, char* memory) {
  const UnitPair units = call.pairs[number];
  PlacePair<T> pair{};
  pair.number = number;
  pair.first = call.first.entries + std::int64_t{units.first} * call.entries;
  pair.second = call.second.entries + std::int64_t{units.second} * call.entries;
  pair.first_places = call.first.places + std::int64_t{units.first} * call.levels;
  pair.second_places = call.second.places + std::int64_t{units.second} * call.levels;
  const auto state = [&](std::int32_t buffer, const PlaceExtent& extent) {
    char* at = memory + buffer_bytes<T>(call.buffers, buffer, call.channels, pair.first_places, pair.second_places);
    return PlaceState<T>{reinterpret_cast<T*>(at), extent_size(extent, pair.first_places, pair.second_places),
                         pair.second_places[extent.cols], extent.equal};
  };
  const PlaceExtent& halfway = pass.gather == PlaceGather::rows ? pass.after : pass.before;
  pair.half = {reinterpret_cast<double*>(memory), extent_size(halfway, pair.first_places, pair.second_places),
               pair.second_places[halfway.cols], false};
  pair.source = state(pass.source, pass.before);
  pair.other = state(pass.other, pass.beside);
  pair.target = state(pass.target, pass.after);
  pair.elements = extent_size(pass.after, pair.first_places, pair.second_places);
  return pair;
}

/// Returns ρ, computed from t near |ρ| = 1, where t is more accurate.
template <typename T>
[[nodiscard]] WIDELIMIT_BOTH inline double full_correlation(T rho, T t) {
  if constexpr (sizeof(T) == sizeof(double)) return rho;
  return t < T(0.5) ? std::copysign(1.0 - static_cast<double>(t), static_cast<double>(rho)) : static_cast<double>(rho);
}

/// Partial sums of ρ and C tangent channels.
template <int C>
struct PlaceSums {
  double rho = 0;
  double theta[C] = {};
};

/// Adds weight times element `at` of a state.
template <typename T, int C>
WIDELIMIT_BOTH inline void add_element(const PlaceState<T>& state, std::int64_t at, double weight, int first_channel,
                                       int channels, PlaceSums<C>& sums) {
  sums.rho = std::fma(weight, full_correlation(state.values[at], state.values[state.size + at]), sums.rho);
  for (int m = 0; m < C; ++m) {
    if (m >= channels) break;
    const T theta = state.values[(2 + first_channel + m) * state.size + at];
    sums.theta[m] = std::fma(weight, static_cast<double>(theta), sums.theta[m]);
  }
}

template <int C>
WIDELIMIT_BOTH inline void add_half(const PlaceState<double>& half, std::int64_t at, double weight, int first_channel,
                                    int channels, PlaceSums<C>& sums) {
  sums.rho = std::fma(weight, half.values[at], sums.rho);
  for (int m = 0; m < C; ++m) {
    if (m >= channels) break;
    sums.theta[m] = std::fma(weight, half.values[(1 + first_channel + m) * half.size + at], sums.theta[m]);
  }
}

template <typename T, int C>
[[nodiscard]] WIDELIMIT_BOTH inline PlaceSums<C> window_sums(const PlaceCall& call, const PlacePass& pass,
                                                             const PlacePair<T>& pair, std::int32_t p, std::int32_t q,
                                                             int first_channel, int channels) {
  const double* const f = call.first.weights + pair.first[pass.entry].weights;
  const double* const g = call.second.weights + pair.second[pass.entry].weights;
  const std::int32_t after = pair.first_places[pass.after.rows];
  PlaceSums<C> sums;
  for (std::int32_t tap = 0; tap < pass.taps; ++tap) {
    const std::int32_t* const sources = call.taps + pass.first_tap + tap * after;
    const std::int32_t from = sources[p];
    const std::int32_t from_col = sources[q];
    if (from < 0 || from_col < 0) continue;
    add_element(pair.source, pair.source.at(from, from_col), f[from] * g[from_col], first_channel, channels, sums);
  }
  const double factor =
      pass.scale * f[pair.first_places[pass.before.rows] + p] * g[pair.second_places[pass.before.cols] + q];
  sums.rho *= factor;
  for (int m = 0; m < C; ++m) sums.theta[m] *= factor;
  return sums;
}

/// Calls add(source place, weight) for each source of a place.
template <class Add>
WIDELIMIT_BOTH inline void each_source(const PlaceUnits& units, const PlaceEntry& entry, bool dense,
                                       std::int32_t before, std::int32_t after, std::int32_t place, const Add& add) {
  const double* const weights = units.weights + entry.weights;
  if (dense) {
    for (std::int32_t k = 0; k < before; ++k) add(k, weights[std::int64_t{k} * after + place]);
    return;
  }
  const std::int32_t* const starts = units.lists + entry.lists;
  const std::int32_t* const places = starts + after + 1;
  for (std::int32_t e = starts[place]; e < starts[place + 1]; ++e) add(places[e], weights[e]);
}

/// Returns ρ and 1 − |ρ| of the inputs at two places.
template <typename T>
[[nodiscard]] WIDELIMIT_BOTH inline Moved<double> input_correlation(const PlaceCall& call, const PlacePair<T>& pair,
                                                                    const PlacePass& pass, std::int32_t p,
                                                                    std::int32_t q) {
  const std::int32_t rows = pair.first_places[pass.after.rows];
  const std::int32_t cols = pair.second_places[pass.after.cols];
  if (call.input_channels == 0) {
    const std::int32_t* const a = call.first.lists + pair.first[0].lists;
    const std::int32_t* const b = call.second.lists + pair.second[0].lists;
    const bool equal = a[p] == b[q] && a[rows + p] == b[cols + q];
    return {equal ? 1.0 : 0.0, equal ? 0.0 : 1.0, 0};
  }
  const double* const x = call.first.weights + pair.first[0].weights + p;
  const double* const y = call.second.weights + pair.second[0].weights + q;
  double rho = 0;
  for (std::int32_t c = 0; c < call.input_channels; ++c) {
    rho = std::fma(x[std::int64_t{c} * rows], y[std::int64_t{c} * cols], rho);
  }
  rho = most(-1.0, least(1.0, rho));
  double t = 1 - std::abs(rho);
  if (t < recomputed_below<T>) {
    const double sign = rho < 0 ? -1.0 : 1.0;
    double square = 0;
    for (std::int32_t c = 0; c < call.input_channels; ++c) {
      const double difference = x[std::int64_t{c} * rows] - sign * y[std::int64_t{c} * cols];
      square = std::fma(difference, difference, square);
    }
    t = square / 2;
    rho = sign * (1 - t);
  }
  return {rho, t, 0};
}

template <typename T>
[[nodiscard]] WIDELIMIT_BOTH inline PairFeatures<T> place_features(const PlaceCall& call, const PlacePass& pass,
                                                                   const PlacePair<T>& pair, std::int32_t entry,
                                                                   std::int32_t p, std::int32_t q) {
  return {static_cast<const T*>(call.first.features) + pair.first[entry].features + p,
          static_cast<const T*>(call.second.features) + pair.second[entry].features + q,
          pair.first_places[pass.after.rows], pair.second_places[pass.after.cols]};
}

/// The state of one pair of places.
template <typename T, int C>
struct PlaceElement {
  T rho = 0;
  T t = 1;
  T theta[C] = {};
};

/// `mixed`: the sum runs over pairs of different places, whose ρ is rounded to T; values of 1 − |ρ| below the rounding
/// error are set to 0.
template <typename T, int C>
WIDELIMIT_BOTH inline void set_correlation(const PlaceSums<C>& sums, bool mixed, PlaceElement<T, C>& element) {
  Moved<double> found = correlation(sums.rho, 0.0);
  if (sizeof(T) == sizeof(float) && mixed && found.t < 0x1p-22) found = {std::copysign(1.0, found.rho), 0, 0};
  element.rho = static_cast<T>(found.rho);
  element.t = static_cast<T>(found.t);
  for (int m = 0; m < C; ++m) element.theta[m] = static_cast<T>(sums.theta[m]);
}

template <typename T, int C>
[[nodiscard]] WIDELIMIT_BOTH inline PlaceElement<T, C> loaded_element(const PlaceState<T>& state, std::int64_t at,
                                                                      int first_channel, int channels) {
  PlaceElement<T, C> element;
  element.rho = state.values[at];
  element.t = state.values[state.size + at];
  for (int m = 0; m < C; ++m) {
    if (m >= channels) break;
    element.theta[m] = state.values[(2 + first_channel + m) * state.size + at];
  }
  return element;
}

/// Returns the state that a pass other than `rows` gathers for one pair of places.
template <typename T, int C>
[[nodiscard]] WIDELIMIT_BOTH inline PlaceElement<T, C> gathered(const PlaceCall& call, const PlacePass& pass,
                                                                const PlacePair<T>& pair, std::int32_t p,
                                                                std::int32_t q, int first_channel, int channels) {
  PlaceElement<T, C> element;
  switch (pass.gather) {
    case PlaceGather::inputs: {
      const Moved<double> found = input_correlation<T>(call, pair, pass, p, q);
      element.rho = static_cast<T>(found.rho);
      element.t = static_cast<T>(found.t);
      return element;
    }
    case PlaceGather::window:
      set_correlation(window_sums<T, C>(call, pass, pair, p, q, first_channel, channels), false, element);
      return element;
    case PlaceGather::cols: {
      PlaceSums<C> sums;
      each_source(call.second, pair.second[pass.entry], pass.dense, pair.half.cols, pair.second_places[pass.after.cols],
                  q, [&](std::int32_t k, double weight) {
                    add_half(pair.half, pair.half.at(p, k), weight, first_channel, channels, sums);
                  });
      set_correlation(sums, true, element);
      return element;
    }
    case PlaceGather::join: {
      element = loaded_element<T, C>(pair.source, pair.source.at(p, q), first_channel, channels);
      const PlaceElement<T, C> other = loaded_element<T, C>(pair.other, pair.other.at(p, q), first_channel, channels);
      const PairFeatures<T> f = place_features(call, pass, pair, pass.entry, p, q);
      const Moved<T> moved = blend(f, element.rho, element.t, other.rho, other.t);
      element.rho = moved.rho;
      element.t = moved.t;
      for (int m = 0; m < C; ++m) {
        element.theta[m] = std::fma(moved.factor, element.theta[m], f.product(1) * other.theta[m]);
      }
      return element;
    }
    default:
      return loaded_element<T, C>(pair.source, pair.source.at(p, q), first_channel, channels);
  }
}

/// Writes ρ·r·r' and θ_m·r·r' to the outputs of an emit step.
template <typename T, int C>
WIDELIMIT_BOTH inline void emit_element(const PlaceCall& call, const DenseStep& step, const PlacePair<T>& pair,
                                        std::int32_t p, std::int32_t q, std::int64_t at, int first_channel,
                                        const PlaceElement<T, C>& element) {
  const double r = call.first.weights[pair.first[step.row_feature].weights + p];
  const double r_col = call.second.weights[pair.second[step.row_feature].weights + q];
  double* const to = call.values + call.values_at[pair.number] + at;
  if (step.nngp_slot >= 0 && first_channel == 0) {
    to[step.nngp_slot * call.values_stride] = static_cast<double>(element.rho) * r * r_col;
  }
  for (int m = 0; m < C; ++m) {
    if (first_channel + m >= step.ntk_count) break;
    to[(step.ntk_slot + first_channel + m) * call.values_stride] = static_cast<double>(element.theta[m]) * r * r_col;
  }
}

/// Applies a pointwise step to one pair of places; the number of series coefficients depends on the unit.
template <typename T>
[[nodiscard]] WIDELIMIT_BOTH inline Moved<T> moved_alone(const PlaceCall& call, const PlacePass& pass,
                                                         const PlacePair<T>& pair, const DenseStep& step,
                                                         std::int32_t p, std::int32_t q, T rho, T t) {
  if (step.op == DenseOp::rectifier) return rectifier(static_cast<T>(step.a), static_cast<T>(step.b), rho, t);
  const PairFeatures<T> f = place_features(call, pass, pair, step.row_feature, p, q);
  if (step.op != DenseOp::series) return any_step(step, call, f, rho, t);
  DenseStep series = step;
  series.row_terms = pair.first[step.row_feature].terms;
  series.col_terms = pair.second[step.row_feature].terms;
  return any_step(series, call, f, rho, t);
}

/// Applies the pointwise steps of a pass to one pair of places.
template <typename T, int C>
WIDELIMIT_BOTH inline void run_alone(const PlaceCall& call, const PlacePass& pass, const PlacePair<T>& pair,
                                     std::int32_t p, std::int32_t q, std::int64_t at, int first_channel,
                                     PlaceElement<T, C>& element) {
  for (std::int32_t s = pass.first; s < pass.first + pass.count; ++s) {
    const DenseStep& step = call.steps[s];
    if (step.op == DenseOp::emit) {
      emit_element(call, step, pair, p, q, at, first_channel, element);
      continue;
    }
    const Moved<T> moved = moved_alone(call, pass, pair, step, p, q, element.rho, element.t);
    element.rho = moved.rho;
    element.t = moved.t;
    for (int m = 0; m < C; ++m) {
      const int channel = first_channel + m;
      const bool trained = channel >= step.trained_begin && channel < step.trained_end;
      element.theta[m] = std::fma(moved.factor, element.theta[m], trained ? moved.rho : T(0));
    }
  }
}

/// Computes element `at` of a pass, C tangents at a time. Writes ρ and t last, since source and target may alias.
template <typename T, int C>
WIDELIMIT_BOTH inline void run_place(const PlaceCall& call, const PlacePass& pass, const PlacePair<T>& pair,
                                     std::int64_t at) {
  const std::int32_t width = pass.gather == PlaceGather::rows ? pair.half.cols : pair.target.cols;
  const bool narrow = pair.elements <= 0xffffffffLL;
  std::int32_t p = static_cast<std::int32_t>(
      narrow ? std::int64_t{static_cast<std::uint32_t>(at) / static_cast<std::uint32_t>(width)} : at / width);
  const auto q = static_cast<std::int32_t>(pass.after.equal ? at : at - std::int64_t{p} * width);
  if (pass.after.equal) p = q;
  for (int first = 0; first == 0 || first < call.channels; first += C) {
    const int channels = least(C, call.channels - first);
    if (pass.gather == PlaceGather::rows) {
      PlaceSums<C> sums;
      each_source(call.first, pair.first[pass.entry], pass.dense, pair.first_places[pass.before.rows],
                  pair.first_places[pass.after.rows], p, [&](std::int32_t k, double weight) {
                    add_element(pair.source, pair.source.at(k, q), weight, first, channels, sums);
                  });
      if (first == 0) pair.half.values[at] = sums.rho;
      for (int m = 0; m < C; ++m) {
        if (m < channels) pair.half.values[(1 + first + m) * pair.half.size + at] = sums.theta[m];
      }
      continue;
    }
    PlaceElement<T, C> element = gathered<T, C>(call, pass, pair, p, q, first, channels);
    run_alone<T, C>(call, pass, pair, p, q, at, first, element);
    T* const to = pair.target.values + at;
    for (int m = 0; m < C; ++m) {
      if (m < channels) to[(2 + first + m) * pair.target.size] = element.theta[m];
    }
    if (first + C < call.channels) continue;
    to[0] = element.rho;
    to[pair.target.size] = element.t;
  }
}

/// Writes entry (a, b) of the samples of pair k. Returns row and column as a code if it overflows, else place_in_range.
constexpr unsigned long long place_in_range = ~0ULL;
template <typename Out>
[[nodiscard]] WIDELIMIT_BOTH inline unsigned long long write_place(const PlaceWrite& write, std::int32_t k,
                                                                   std::int32_t a, std::int32_t b) {
  const UnitPair units = write.pairs[k];
  const bool single = write.first.first == nullptr;
  const std::int32_t i = single ? units.first : write.first.first[units.first] + a;
  const std::int32_t j = single ? units.second : write.second.first[units.second] + b;
  const bool theirs = single || (i < write.first.first[units.first + 1] && j < write.second.first[units.second + 1]);
  const bool requested = i >= write.row_begin && i < write.row_end && j >= write.col_begin && j < write.col_end;
  if (!theirs || !requested || (write.mirrored && i >= j)) return place_in_range;
  std::int64_t at = write.values_at[k];
  if (!single) {
    const std::int32_t cols = write.second_places[std::int64_t{units.second} * write.levels + write.last_level];
    at += std::int64_t{write.first.place[i]} * cols + write.second.place[j];
  }
  const auto value = static_cast<Out>(write.values[at]);
  auto* const to = static_cast<Out*>(write.to.data);
  const std::int64_t row = i - write.row_begin;
  const std::int64_t col = j - write.col_begin;
  to[row * write.to.stride + col] = value;
  if (write.mirrored) to[col * write.to.stride + row] = value;
  const bool finite = value - value == Out(0);
  return finite ? place_in_range : (static_cast<unsigned long long>(i) << 32U) | static_cast<unsigned>(j);
}

}  // namespace widelimit::cuda
