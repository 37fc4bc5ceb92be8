#pragma once

#include "widelimit/engine/cpu/plane/plane_trace.hpp"
#include "widelimit/engine/cuda/plane/plane_stage.hpp"
#include "widelimit/engine/kernels.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace widelimit::cuda {

struct LoweredStage {
  std::vector<PlaneStep> steps;
  PlaneExtent begin, end, stride_begin;
  bool wraps = false;
  std::vector<std::int32_t> dy, dx;
  std::int32_t levels = 2;
  std::int32_t largest = 1;
  PlaneSource source = PlaneSource::inputs;
  double source_scale = 1;
  std::int32_t source_numbers = -1;
  PlaneExtent fine, pool_size, pool_strides, pool_offset;
  PlaneSink sink = PlaneSink::outputs;
  std::optional<PackedStack> packed;

  [[nodiscard]] std::int64_t planes() const { return static_cast<std::int64_t>(dy.size() * dx.size()); }
  /// Number of sums per pair that the stage outputs.
  [[nodiscard]] std::int64_t sum_count() const { return packed ? 1 : planes(); }
};

/// A recipe lowered to planes. `stages` omits the first stage if `registers` is set.
struct LoweredPlanes {
  cpu::PlaneProgram program;
  std::vector<LoweredStage> stages;
  std::optional<RegisterStack> registers;
  RegisterReadout readout = RegisterReadout::total;
  Precision arithmetic = Precision::f64;
  std::int64_t record_size = 0;
  std::int32_t input_channels = 0;
  std::int32_t outputs = 0;
  Step emit;
  std::string obstacle;  ///< reason why a device cannot run it; empty if it can
};

/// Lowers a recipe. `shared_memory`: see PlaneDevice::register_memory; selects register and packed kernels if it
/// suffices.
[[nodiscard]] LoweredPlanes lower_planes(const Recipe& recipe, Precision precision, int shared_memory);

/// Per-image data of the device, one record per image. The values equal those of the CPU.
template <typename T>
struct PlaneRecords {
  std::vector<T> records;        ///< images × record_size
  std::vector<float> registers;  ///< images × tables × 32 × 32; deviations are not yet traced
  std::vector<double> scales;    ///< R at the end
  double error = 0;              ///< quadrature error
};
/// Traces images [begin, end) of x; begin must be a multiple of 16.
template <typename T>
[[nodiscard]] PlaneRecords<T> trace_records(const Recipe& recipe, const LoweredPlanes& lowered, const SampleView& x,
                                            Range images, Precision precision, int threads,
                                            const std::function<void(Index done)>& after);

}  // namespace widelimit::cuda
