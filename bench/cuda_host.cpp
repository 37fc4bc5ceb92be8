#include "bench/cuda.hpp"

#include "bench/measure.hpp"
#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/engine/tiles.hpp"
#include "widelimit/kernel/gram.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace widelimit::bench {

namespace {

/// Returns a device memory limit that all samples fit into, but not the matrix in addition.
std::size_t tile_memory_limit(const Network& network, const SampleView& x, const Engine& engine, Precision precision) {
  const Recipe recipe = lower(network, x.shape, RecipeOutputs::ntk);
  const Kernels& kernels = engine.kernels();
  const Index edge = gram_tile_edge(x.count(), x.count(), kernels.tile_edge(recipe));
  const std::size_t samples = usize(x.count()) * kernels.loaded_bytes(recipe, precision, x);
  return (samples + device_matrices(engine)->tile_bytes(edge, 1, precision)) / 3 * 4 + (std::size_t{1} << 20);
}

}  // namespace

bool host_gram(const Matrix<double>& inputs, int repeats, const Engine& engine) {
  if (device_matrices(engine) == nullptr) {
    fmt::print("skipped: {} works in host memory\n", engine.name());
    return true;
  }
  const Network network = Network::parse("fc:3");
  const SampleView x{inputs.view(), {1, 1, inputs.cols()}};
  const auto gigabytes = static_cast<double>(x.count() * x.count()) * sizeof(double) / 1e9;
  Gram whole;
  Gram tiles;
  const auto best = [&](Gram& found) {
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < repeats; ++k) {
      found = {};  // only one of the results fits into memory
      least = std::min(least, seconds_of([&] { return (found = gram(network, x, {}, engine)).seconds; }));
    }
    return least;
  };
  const double at_once = best(whole);
  double by_tiles = 0;
  {
    const DeviceMemoryLimit limit(engine, tile_memory_limit(network, x, engine, Precision::f64));
    by_tiles = best(tiles);
  }
  const auto& left = std::get<Matrix<double>>(whole.ntk);
  const auto& right = std::get<Matrix<double>>(tiles.ntk);
  const bool same = std::equal(left.data(), left.data() + left.rows() * left.cols(), right.data());
  fmt::print(
      "Gram to the host, n = {}, d = {}, f64, {:.1f} GB: whole {:.3f} s ({:.1f} GB/s), by tiles {:.3f} s ({:.1f} "
      "GB/s); bits {}\n",
      x.count(), inputs.cols(), gigabytes, at_once, gigabytes / at_once, by_tiles, gigabytes / by_tiles,
      same ? "equal" : "DIFFER");
  return same;
}

}  // namespace widelimit::bench
