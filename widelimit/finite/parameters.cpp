#include "widelimit/finite/parameters.hpp"

#include "widelimit/base/random.hpp"

namespace widelimit {

namespace {

std::vector<double> normals(std::uint64_t seed, std::uint64_t stream, Index count) {
  const Random random(seed, stream);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = random.normal(i);
  return values;
}

}  // namespace

Parameters draw_parameters(const Architecture& architecture, std::uint64_t seed) {
  Parameters parameters;
  std::uint64_t stream = 0;
  for (const WeightSlot& slot : architecture.slots) {
    parameters.slots.push_back({normals(seed, stream, slot.fan_in * slot.fan_out),
                                slot.b_std == 0.0 ? std::vector<double>{} : normals(seed, stream + 1, slot.fan_out)});
    stream += 2;
  }
  return parameters;
}

}  // namespace widelimit
