#include "widelimit/kernel/device/device_plan.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/engine/device_matrices.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// Three quarters of the free memory; the rest is for the scratch buffers of kernels, which adapt to it.
std::size_t usable(const DeviceRoom& room) { return room.free / 4 * 3; }

std::size_t sample_bytes(const GramTask& task, const Engine& engine) {
  const auto bytes = [&](const SampleView& x) {
    return engine.kernels().loaded_bytes(*task.recipe, task.precision, x);
  };
  return std::max<std::size_t>({1, bytes(task.x1), bytes(task.columns())});
}

Index samples_of(const GramTask& task) { return task.x1.count() + (task.symmetric() ? 0 : task.columns().count()); }

}  // namespace

bool fits_engine(const GramTask& task, const Engine& engine) {
  const DeviceMatrices* const device = device_matrices(engine);
  if (device == nullptr) return true;
  const double entry = task.precision == Precision::f32 ? sizeof(float) : sizeof(double);
  const double matrix = static_cast<double>(task.x1.count()) * static_cast<double>(task.columns().count()) * entry;
  const double samples = static_cast<double>(samples_of(task)) * static_cast<double>(sample_bytes(task, engine));
  const auto edge = engine.kernels().tile_edge(*task.recipe);
  const auto beside = static_cast<double>(device->tile_bytes(std::min(edge, task.x1.count()), 0, task.precision));
  const double wanted = static_cast<double>(task.recipe->outputs) * matrix + samples + beside;
  return wanted <= static_cast<double>(usable(device->room()));
}

Index most_loaded(const GramTask& task, Index edge, const Engine& engine) {
  const DeviceMatrices* const device = device_matrices(engine);
  if (device == nullptr) return 0;
  const DeviceRoom room = device->room();
  const std::size_t each = sample_bytes(task, engine);
  const std::size_t tiles = device->tile_bytes(edge, task.recipe->outputs, task.precision);
  const std::size_t left = usable(room) > tiles ? usable(room) - tiles : 0;
  const auto most = static_cast<Index>(std::min<std::size_t>(left / each, std::size_t{1} << 40));
  if (most >= samples_of(task)) return 0;
  const Index least = std::min(2 * edge, samples_of(task));
  if (most >= least) return most;
  const std::size_t wanted = (tiles + usize(least) * each) / 3 * 4;
  fail(Code::resource, {Remedy::more_memory, Remedy::single_precision},
       "this Gram matrix needs at least {} of the memory of {}, of which {} are tiles in flight, but {} of {} are free",
       bytes_text(static_cast<double>(wanted)), engine.name(), bytes_text(static_cast<double>(tiles)),
       bytes_text(static_cast<double>(room.free)), bytes_text(static_cast<double>(room.total)));
}

}  // namespace widelimit
