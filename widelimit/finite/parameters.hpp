#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/engine/values.hpp"
#include "widelimit/finite/architecture.hpp"

#include <concepts>
#include <cstdint>
#include <variant>
#include <vector>

namespace widelimit {

/// One matrix and its bias. In the NTK parameterisation initial weights have variance 1; scales are applied separately.
template <std::floating_point T>
struct Weights {
  Values<T> w;  ///< fan_in × fan_out, row-major
  Values<T> b;  ///< fan_out values, empty without bias

  [[nodiscard]] MatrixView<T> matrix(const WeightSlot& slot) {
    return {w.data(), slot.fan_in, slot.fan_out, slot.fan_out};
  }
  [[nodiscard]] MatrixView<const T> matrix(const WeightSlot& slot) const {
    return {w.data(), slot.fan_in, slot.fan_out, slot.fan_out};
  }
  /// Returns W in the memory of an engine.
  [[nodiscard]] MatrixView<const T> read(const WeightSlot& slot, const typename Values<T>::Side& side) const {
    return {w.read(side), slot.fan_in, slot.fan_out, slot.fan_out};
  }
};

/// All weights and biases of a network, frozen ones included, slot by slot.
template <std::floating_point T>
struct Parameters {
  std::vector<Weights<T>> slots;

  /// Moves all data to host memory and releases the memory of engines.
  void move_to_host() {
    for (Weights<T>& slot : slots) {
      slot.w.move_to_host();
      slot.b.move_to_host();
    }
  }
};
/// Parameters of a precision known at run time.
using AnyParameters = std::variant<Parameters<float>, Parameters<double>>;

/// Draws the initial weights: entry `index` of slot l is a pure function of (seed, l, index), independent of the number
/// of threads and the order of evaluation.
template <std::floating_point T>
[[nodiscard]] Parameters<T> draw_parameters(const Architecture& architecture, std::uint64_t seed,
                                            const Engine& engine = all_processors());

/// Returns zeros of the same shapes, e.g. for a direction or an initial velocity.
template <std::floating_point T>
[[nodiscard]] Parameters<T> zero_parameters(const Architecture& architecture);

/// Returns ‖w − v‖² over all slots, summed in double.
template <std::floating_point T>
[[nodiscard]] double squared_distance(const Parameters<T>& w, const Parameters<T>& v,
                                      const Engine& engine = all_processors());

/// Return the number of all weights and biases, and of the trained ones.
[[nodiscard]] Index parameter_count(const Architecture& architecture);
[[nodiscard]] Index trained_count(const Architecture& architecture);

/// Throws Error{usage} unless the parameters match this architecture.
template <std::floating_point T>
void require_match(const Architecture& architecture, const Parameters<T>& parameters);

}  // namespace widelimit
