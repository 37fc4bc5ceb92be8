// The graph NTK of Du et al. on an NVIDIA device, compared with the cpu engine on all cores of the same machine: NCI1
// if its file exists, else random graphs of similar size. Results are compared first.

#include "bench/cuda.hpp"

#include "bench/measure.hpp"
#include "widelimit/base/graphs.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/data/catalogue/catalogue.hpp"
#include "widelimit/data/file/location.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/gram.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace widelimit::bench {
namespace {

/// Random molecule-like graphs: 15 to 45 nodes of a few kinds, trees with some rings.
Graphs molecules(Index count) {
  const Random random(5, 0);
  std::uint64_t at = 0;
  const auto below = [&](Index bound) {
    return static_cast<Index>(random.below(static_cast<std::uint64_t>(bound), at++));
  };
  Graphs result;
  for (Index g = 0; g < count; ++g) {
    const Index n = 15 + below(31);
    std::vector<std::array<Index, 2>> edges;
    std::vector<std::int64_t> tags;
    for (Index u = 0; u < n; ++u) {
      if (u > 0) edges.push_back({std::max<Index>(0, u - 1 - below(3)), u});
      tags.push_back(std::max<Index>(0, below(8) - 4));
    }
    for (Index u = 5; u < n; u += 8) edges.push_back({u - 5, u});
    append_graph(result, {.nodes = n, .edges = edges, .tags = tags});
  }
  return result;
}

/// Seconds to load the samples and to fill all pairs once, the minimum over several runs.
struct Seconds {
  double load = 0;
  double fill = 0;
};
Seconds time(const Engine& engine, const Recipe& recipe, const SampleView& x, Precision precision, int repeats) {
  const Kernels& kernels = engine.kernels();
  Seconds best{HUGE_VAL, HUGE_VAL};
  const Range all{0, x.count()};
  for (int r = 0; r < repeats; ++r) {
    std::unique_ptr<Loaded> loaded;
    best.load = std::min(best.load, seconds_of([&] {
                           loaded = kernels.load(recipe, x, precision, [](Index) {});
                           return 0;
                         }));
    const EngineMatrix out = engine.algebra().allocate(x.count(), x.count(), precision);
    best.fill = std::min(best.fill, seconds_of([&] {
                           kernels.fill(recipe, *loaded, all, *loaded, all, true, {&out, 1}, [](Index) {});
                           return 0;
                         }));
  }
  return best;
}

}  // namespace

bool graphs(const Engine& engine, Index count, int repeats) {
  Dataset data;
  Graphs drawn;
  const bool found = find_data_file({"graphs/NCI1/NCI1.txt.gz"}).has_value();
  if (found) {
    data = load_data("graphs:NCI1");
  } else {
    drawn = molecules(count);
  }
  const SampleView all = found ? SampleView(std::get<Graphs>(data.values)) : SampleView(drawn);
  const SampleView x = all.part(0, std::min(count, all.count()));
  const SampleView few = x.part(0, std::min<Index>(60, x.count()));
  const double pairs = static_cast<double>(x.count() * (x.count() + 1)) / 2;
  const Engine& cpu = all_processors();
  fmt::print("{} graphs of {}, {:.1f} nodes each; cpu: {}\n", x.count(), found ? "NCI1" : "random molecules",
             static_cast<double>(x.graphs()->node_count()) / static_cast<double>(x.count()), cpu.description());
  bool agree = true;
  for (const char* text : {"gntk:4(mlp=2)", "gntk:14(mlp=2)"}) {
    const Network network = Network::parse(text);
    const Recipe recipe = lower(network, x.shape, RecipeOutputs::ntk);
    const auto kernel = [&](const Engine& of, Precision precision) {
      const Gram result = gram(network, few, {.precision = precision}, of);
      Matrix<double> wide(few.count(), few.count());
      std::visit(
          [&](const auto& m) {
            for (Index k = 0; k < wide.rows() * wide.cols(); ++k) wide.data()[k] = static_cast<double>(m.data()[k]);
          },
          result.ntk);
      return wide;
    };
    const Matrix<double> exact = kernel(cpu, Precision::f64);
    for (const Precision precision : {Precision::f64, Precision::f32}) {
      const double error = relative_difference(kernel(engine, precision), exact);
      const bool right = error <= (precision == Precision::f64 ? 1e-11 : 1e-5);
      agree = agree && right;
      const Seconds device = time(engine, recipe, x, precision, repeats);
      const Seconds processor = time(cpu, recipe, x, precision, 1);
      fmt::print(
          "{:>16} {}: error {:.1e}{}; load {:.3f} s, all pairs {:.3f} s, {:.4f} us a pair; cpu load {:.3f} s, all "
          "pairs {:.2f} s, ratio {:.1f}\n",
          text, to_string(precision), error, right ? "" : " RESULTS DIFFER", device.load, device.fill,
          1e6 * device.fill / pairs, processor.load, processor.fill, processor.fill / device.fill);
    }
  }
  return agree;
}

}  // namespace widelimit::bench
