#include "widelimit/engine/cuda/place/place_units.hpp"

namespace widelimit::cuda {

namespace {

/// Uploads the concatenated arrays of all records.
template <typename T>
DeviceBuffer gathered(const std::shared_ptr<Device>& device, const std::vector<UnitRecord>& records,
                      std::vector<double> UnitRecord::*array) {
  std::vector<T> all;
  std::size_t size = 0;
  for (const UnitRecord& record : records) size += (record.*array).size();
  all.reserve(size);
  for (const UnitRecord& record : records) {
    for (const double value : record.*array) all.push_back(static_cast<T>(value));
  }
  return DeviceBuffer::of<T>(device, all);
}

}  // namespace

void UnitRecord::add_features(std::size_t k, const cpu::Features& from, Index count) {
  entries[k].features = std::ssize(features);
  entries[k].terms = static_cast<std::int32_t>(from.terms);
  for (Index f = 0; f < from.f64.rows(); ++f) {
    const double* row = from.array<double>(f);
    features.insert(features.end(), row, row + count);
  }
}

DeviceUnits::DeviceUnits(const std::shared_ptr<Device>& device, const LoweredPlaces& lowered,
                         std::vector<UnitRecord> records)
    : count_(std::ssize(records)), levels_(lowered.level_count) {
  std::vector<PlaceEntry> entries;
  std::vector<std::int32_t> lists;
  std::int64_t features = 0;
  std::int64_t weights = 0;
  for (const UnitRecord& record : records) {
    for (PlaceEntry entry : record.entries) {
      entry.features += features;
      entry.weights += weights;
      entry.lists += std::ssize(lists);
      entries.push_back(entry);
    }
    host_places_.insert(host_places_.end(), record.places.begin(), record.places.end());
    lists.insert(lists.end(), record.lists.begin(), record.lists.end());
    features += std::ssize(record.features);
    weights += std::ssize(record.weights);
  }
  entries_ = DeviceBuffer::of<PlaceEntry>(device, entries);
  places_ = DeviceBuffer::of<std::int32_t>(device, host_places_);
  lists_ = DeviceBuffer::of<std::int32_t>(device, lists);
  weights_ = gathered<double>(device, records, &UnitRecord::weights);
  features_ = lowered.arithmetic == Precision::f32 ? gathered<float>(device, records, &UnitRecord::features)
                                                   : gathered<double>(device, records, &UnitRecord::features);
}

PlaceUnits DeviceUnits::view() const {
  return {entries_.data<PlaceEntry>(), places_.data<std::int32_t>(), features_.data(), weights_.data<double>(),
          lists_.data<std::int32_t>()};
}

}  // namespace widelimit::cuda
