#include "tests/cuda/host_device.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/engine/cuda/place/place_device.hpp"
#include "widelimit/engine/cuda/place/place_run.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace widelimit::test {

namespace {

using cuda::PlaceCall;
using cuda::PlaceOverflow;
using cuda::PlacePass;
using cuda::PlaceWrite;

/// Processes elements one by one with the functions that the device runs: forwards for teams, backwards for passes, so
/// that a dependency between the elements of a pass changes the bits.
class HostPlaces final : public cuda::PlaceDevice {
 public:
  explicit HostPlaces(std::int64_t team_bytes) : team_bytes_(team_bytes) {}
  [[nodiscard]] std::int64_t team_bytes() const override { return team_bytes_; }
  void run_teams(const PlaceCall& call, Precision arithmetic, std::int32_t begin, std::int32_t end,
                 std::int64_t bytes) override {
    const auto size = static_cast<std::size_t>(bytes) / sizeof(double);
    for (std::int32_t k = begin; k < end; ++k) {
      // NaN detects reads of uninitialised memory; the guard value detects writes past the end.
      std::vector<double> memory(size + 1, std::numeric_limits<double>::quiet_NaN());
      memory[size] = untouched;
      for (std::int32_t p = 0; p < call.pass_count; ++p) {
        run_any(call, call.passes[p], arithmetic, k, reinterpret_cast<char*>(memory.data()), false);
      }
      if (memory[size] != untouched) fail(Code::resource, "a team wrote beyond its memory");
    }
  }
  void run_pass(const PlaceCall& call, const PlacePass& pass, Precision arithmetic, std::int32_t begin,
                std::int32_t end, std::int64_t /*elements*/) override {
    for (std::int32_t k = begin; k < end; ++k) {
      run_any(call, pass, arithmetic, k, call.memory + call.memory_at[k], true);
    }
  }
  PlaceOverflow write(const PlaceWrite& write) override {
    unsigned long long bad = cuda::place_in_range;
    for (std::int32_t k = 0; k < write.pair_count; ++k) {
      for (std::int32_t a = 0; a < write.most_rows; ++a) {
        for (std::int32_t b = 0; b < write.most_cols; ++b) {
          const bool single = write.to.precision == Precision::f32;
          bad = std::min(bad,
                         single ? cuda::write_place<float>(write, k, a, b) : cuda::write_place<double>(write, k, a, b));
        }
      }
    }
    if (bad == cuda::place_in_range) return {};
    return {static_cast<Index>(bad >> 32U), static_cast<Index>(bad & 0xffffffffU)};
  }

 private:
  static void run_any(const PlaceCall& call, const PlacePass& pass, Precision arithmetic, std::int32_t k, char* memory,
                      bool backwards) {
    const bool one = call.channels <= 1;
    if (arithmetic == Precision::f32) {
      one ? run<float, 1>(call, pass, k, memory, backwards) : run<float, 4>(call, pass, k, memory, backwards);
    } else {
      one ? run<double, 1>(call, pass, k, memory, backwards) : run<double, 4>(call, pass, k, memory, backwards);
    }
  }
  template <typename T, int C>
  static void run(const PlaceCall& call, const PlacePass& pass, std::int32_t k, char* memory, bool backwards) {
    const cuda::PlacePair<T> pair = cuda::place_pair<T>(call, pass, k, memory);
    for (std::int64_t at = 0; at < pair.elements; ++at) {
      cuda::run_place<T, C>(call, pass, pair, backwards ? pair.elements - 1 - at : at);
    }
  }

  static constexpr double untouched = 0.125;
  std::int64_t team_bytes_;
};

}  // namespace

std::unique_ptr<cuda::PlaceDevice> make_host_places(std::int64_t team_bytes) {
  return std::make_unique<HostPlaces>(team_bytes);
}

}  // namespace widelimit::test
