#include "tests/cuda/host_device.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/engine/cuda/plane/plane_device.hpp"
#include "widelimit/engine/cuda/plane/plane_team.hpp"

#include <cmath>
#include <vector>

namespace widelimit::test {

namespace {

using cuda::ImagePair;
using cuda::PlaneOutput;
using cuda::PlaneStageCall;
using cuda::RegisterStack;

/// A team of one thread.
struct HostTeam {
  [[nodiscard]] static int rank() { return 0; }
  [[nodiscard]] static int size() { return 1; }
  static void sync() {}
  template <typename T>
  [[nodiscard]] static double sum(const T* values, int count) {
    double total = 0;
    for (int k = 0; k < count; ++k) total += static_cast<double>(values[k]);
    return total;
  }
};

[[noreturn]] void refuse_registers() { fail(Code::usage, "register stacks are not supported on the host"); }

class HostPlanes final : public cuda::PlaneDevice {
 public:
  [[nodiscard]] int register_memory() const override { return 0; }
  void trace_images(const RegisterStack&, float*, int) override { refuse_registers(); }
  void sum_planes(const RegisterStack&, const float*, const float*, const ImagePair*, int, double*) override {
    refuse_registers();
  }
  void sum_equal(const RegisterStack&, const float*, const float*, const ImagePair*, int, double*) override {
    refuse_registers();
  }
  void pool_planes(const RegisterStack&, const float*, const float*, const ImagePair*, int, float*) override {
    refuse_registers();
  }
  void run_packed(const PlaneStageCall&, const cuda::PackedStack&) override { refuse_registers(); }
  void run_stage(const PlaneStageCall& call, Precision arithmetic) override {
    arithmetic == Precision::f32 ? run<float>(call) : run<double>(call);
  }
  int write(const double* values, const ImagePair* pairs, int count, int row, int col, bool mirrored,
            const PlaneOutput& to) override {
    return to.precision == Precision::f32
               ? write_as(values, pairs, count, row, col, mirrored, static_cast<float*>(to.data), to.stride)
               : write_as(values, pairs, count, row, col, mirrored, static_cast<double*>(to.data), to.stride);
  }

 private:
  template <typename T>
  static void run(const PlaneStageCall& call) {
    std::vector<T> memory(static_cast<std::size_t>(cuda::team_memory(call)));
    const std::int64_t work = std::int64_t{call.pair_count} * call.dy_count * call.dx_count;
    for (std::int64_t k = 0; k < work; ++k) cuda::run_plane(call, k, memory.data(), HostTeam());
  }

  template <typename T>
  static int write_as(const double* values, const ImagePair* pairs, int count, int row, int col, bool mirrored, T* to,
                      std::int64_t stride) {
    int bad = -1;
    for (int k = 0; k < count; ++k) {
      if (mirrored && pairs[k].first >= pairs[k].second) continue;
      const std::int64_t i = pairs[k].first - row;
      const std::int64_t j = pairs[k].second - col;
      const auto value = static_cast<T>(values[k]);
      if (!std::isfinite(value) && bad < 0) bad = k;
      to[i * stride + j] = value;
      if (mirrored) to[j * stride + i] = value;
    }
    return bad;
  }
};

}  // namespace

std::unique_ptr<cuda::PlaneDevice> make_host_planes() { return std::make_unique<HostPlanes>(); }

}  // namespace widelimit::test
