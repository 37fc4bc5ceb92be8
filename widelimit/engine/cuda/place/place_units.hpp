#pragma once

#include "widelimit/engine/cpu/features.hpp"
#include "widelimit/engine/cuda/device_memory.hpp"
#include "widelimit/engine/cuda/place/place_lowering.hpp"

#include <functional>

/// Images and graphs in the format read by passes over places.
namespace widelimit::cuda {

/// Data of one unit, with offsets into its own arrays.
struct UnitRecord {
  std::vector<PlaceEntry> entries;
  std::vector<std::int32_t> places;  ///< number of places of each level
  std::vector<double> features;
  std::vector<double> weights;
  std::vector<std::int32_t> lists;

  /// Appends the features of `count` places as entry `k`.
  void add_features(std::size_t k, const cpu::Features& from, Index count);
  /// Marks the start of the weights or lists of entry `k`.
  void begin_weights(std::size_t k) { entries[k].weights = std::ssize(weights); }
  void begin_lists(std::size_t k) { entries[k].lists = std::ssize(lists); }
};

/// The units of a data set in device memory.
class DeviceUnits {
 public:
  DeviceUnits() = default;
  DeviceUnits(const std::shared_ptr<Device>& device, const LoweredPlaces& lowered, std::vector<UnitRecord> records);

  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] PlaceUnits view() const;
  /// Number of places of a unit for each level, in host memory.
  [[nodiscard]] const std::int32_t* places(Index unit) const { return host_places_.data() + unit * levels_; }

 private:
  Index count_ = 0;
  Index levels_ = 1;
  std::vector<std::int32_t> host_places_;
  DeviceBuffer entries_, places_, features_, weights_, lists_;
};

/// Units with their samples and the diagonal values k(x, x).
struct LoadedPlaces {
  DeviceUnits units;
  Index samples = 0;
  bool tagged = false;  ///< nodes have tags, not features
  /// Only if samples are nodes: first sample of each unit (units + 1 values), and the place of each sample in its unit.
  std::vector<std::int32_t> first_sample, place;
  DeviceBuffer device_first_sample, device_place;
  Matrix<double> diagonal;  ///< outputs × samples
  double error = 0;         ///< quadrature error
};

using AfterSamples = std::function<void(Index done)>;
[[nodiscard]] LoadedPlaces load_images(const std::shared_ptr<Device>& device, const Recipe& recipe,
                                       const LoweredPlaces& lowered, const SampleView& x, Precision precision,
                                       int threads, const AfterSamples& after);
[[nodiscard]] LoadedPlaces load_graphs(const std::shared_ptr<Device>& device, const Recipe& recipe,
                                       const LoweredPlaces& lowered, const GraphView& samples, Precision precision,
                                       int threads, const AfterSamples& after);

/// Upper bounds on host memory per sample while loading.
[[nodiscard]] std::size_t loaded_image_bytes(const Recipe& recipe);
[[nodiscard]] std::size_t loaded_graph_bytes(const Recipe& recipe, const SampleView& x);

}  // namespace widelimit::cuda
