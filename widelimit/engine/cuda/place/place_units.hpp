#pragma once

#include "widelimit/engine/cpu/features.hpp"
#include "widelimit/engine/cuda/device_memory.hpp"
#include "widelimit/engine/cuda/place/place_lowering.hpp"

#include <functional>

/// Images and graphs as the passes over their places read them.
namespace widelimit::cuda {

/// What belongs to one unit, places in its own arrays.
struct UnitRecord {
  std::vector<PlaceEntry> entries;
  std::vector<std::int32_t> places;  ///< by level
  std::vector<double> features;
  std::vector<double> weights;
  std::vector<std::int32_t> lists;

  /// Entry `k` has these features of `count` places.
  void add_features(std::size_t k, const cpu::Features& from, Index count);
  /// The next weights or lists belong to entry `k`.
  void begin_weights(std::size_t k) { entries[k].weights = std::ssize(weights); }
  void begin_lists(std::size_t k) { entries[k].lists = std::ssize(lists); }
};

/// Many units in device memory.
class DeviceUnits {
 public:
  DeviceUnits() = default;
  DeviceUnits(const std::shared_ptr<Device>& device, const LoweredPlaces& lowered, std::vector<UnitRecord> records);

  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] PlaceUnits view() const;
  /// Of a unit, by level.
  [[nodiscard]] const std::int32_t* places(Index unit) const { return host_places_.data() + unit * levels_; }

 private:
  Index count_ = 0;
  Index levels_ = 1;
  std::vector<std::int32_t> host_places_;
  DeviceBuffer entries_, places_, features_, weights_, lists_;
};

/// Units with their samples, and what the samples are with themselves.
struct LoadedPlaces {
  DeviceUnits units;
  Index samples = 0;
  bool tagged = false;  ///< nodes have tags, not features
  /// Where samples are nodes: the first of each unit, one more than there are units, and the place of each in its unit.
  std::vector<std::int32_t> first_sample, place;
  DeviceBuffer device_first_sample, device_place;
  Matrix<double> diagonal;  ///< outputs × samples
  double error = 0;         ///< of quadrature
};

using AfterSamples = std::function<void(Index done)>;
[[nodiscard]] LoadedPlaces load_images(const std::shared_ptr<Device>& device, const Recipe& recipe,
                                       const LoweredPlaces& lowered, const SampleView& x, Precision precision,
                                       int threads, const AfterSamples& after);
[[nodiscard]] LoadedPlaces load_graphs(const std::shared_ptr<Device>& device, const Recipe& recipe,
                                       const LoweredPlaces& lowered, const GraphView& samples, Precision precision,
                                       int threads, const AfterSamples& after);

/// Bounds on what these take for one sample, on the host while they work.
[[nodiscard]] std::size_t loaded_image_bytes(const Recipe& recipe);
[[nodiscard]] std::size_t loaded_graph_bytes(const Recipe& recipe, const SampleView& x);

}  // namespace widelimit::cuda
