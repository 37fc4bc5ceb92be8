#include "widelimit/kernel/network_gram.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/engine/tiles.hpp"
#include "widelimit/kernel/block_product.hpp"
#include "widelimit/kernel/inputs.hpp"
#include "widelimit/kernel/traverse.hpp"
#include "widelimit/network/shape.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// Edge of the blocks that are filled at a time, and the panels of samples, for a given memory limit.
struct Blocks {
  Index edge = 1;
  PanelPlan panels;
};

Blocks plan_blocks(const Recipe& recipe, const SampleView& x, const NetworkGramOptions& options, const Engine& engine) {
  const Kernels& kernels = engine.kernels();
  const Index edge = gram_tile_edge(x.count(), x.count(), kernels.tile_edge(recipe));
  // The correlations from which tiles are computed: of one tile per thread, or of those in flight on a device.
  const DeviceMatrices* const device = device_matrices(engine);
  const std::size_t correlations = device != nullptr
                                       ? device->tile_bytes(edge, 0, options.precision)
                                       : static_cast<std::size_t>(engine.threads() * edge * edge) * sizeof(double);
  const auto fixed = [&](Index block) {
    return static_cast<std::size_t>(block * block) * size_of(options.precision) + correlations;
  };
  // Enough tiles for all threads, but independent of their number, on which the result must not depend bitwise. Half of
  // the memory is reserved for samples.
  Index tiles = 4;
  while (tiles > 1 && fixed(std::min(x.count(), edge * tiles)) > options.memory / 2) tiles /= 2;
  Blocks result{.edge = std::min(x.count(), edge * tiles), .panels = {}};
  result.panels = plan_panels({.rows = x.count(),
                               .cols = x.count(),
                               .symmetric = true,
                               .edge = result.edge,
                               .sample_bytes = kernels.loaded_bytes(recipe, options.precision, x),
                               .fixed_bytes = fixed(result.edge),
                               .budget = options.memory});
  return result;
}

/// Evaluates the Gram matrix block by block on the engine: fills a block, multiplies it with both parts of v that it
/// meets, and discards it. The order of blocks, hence of the sums, is independent of the number of threads.
class NetworkSource final : public GramSource {
 public:
  NetworkSource(const Network& network, const SampleView& x, const NetworkGramOptions& options, const Engine& engine)
      : spatial_(is_spatial(network)),
        recipe_(lower(network, x.shape, recipe_outputs(options.kind))),
        task_{&recipe_, x, std::nullopt, options.precision},
        engine_(engine),
        progress_(options.progress),
        blocks_(plan_blocks(recipe_, x, options, engine)),
        traversal_(task_, blocks_.panels, engine) {
    ProgressTicker ticker(options.progress, x.count(), "samples");
    traversal_.each_panel([&](const Panel& panel) {
      const double* values = panel.diagonal([&](Index done) { ticker.at(panel.range().begin + done); }).row(0);
      diagonal_.insert(diagonal_.end(), values, values + panel.range().size());
    });
  }
  NetworkSource(const NetworkSource&) = delete;
  NetworkSource& operator=(const NetworkSource&) = delete;

  [[nodiscard]] const Engine& engine() const override { return engine_; }
  [[nodiscard]] Index samples() const override { return task_.x1.count(); }
  [[nodiscard]] Precision precision() const override { return task_.precision; }
  [[nodiscard]] std::vector<double> diagonal() const override { return diagonal_; }
  [[nodiscard]] std::size_t bytes() const override { return blocks_.panels.bytes; }
  /// One inner product of two samples, and about thirty operations per step; for images, per step and pair of
  /// positions.
  [[nodiscard]] double entry_cost() const override {
    const Shape& shape = task_.x1.shape;
    const auto positions = static_cast<double>(spatial_ ? shape.height * shape.width : 1);
    const auto steps = static_cast<double>(recipe_.steps.size());
    return static_cast<double>(task_.x1.longest()) + 30 * steps * positions * positions;
  }

  [[nodiscard]] Matrix<double> columns(std::span<const Index> chosen) const override {
    const AnySamples picked = gather(task_.x1, chosen);
    const Index count = std::ssize(chosen);
    const SampleView right(picked, task_.x1.shape);
    Matrix<double> result(samples(), count, Content::unset);
    const GramTask part{&recipe_, task_.x1, right, task_.precision};
    Traversal(part, {.rows = blocks_.panels.rows, .cols = count, .bytes = 0}, engine_)
        .each_pair([&](const Panel& rows, const Panel& cols) {
          const EngineMatrix block = engine_.algebra().allocate(rows.range().size(), count, task_.precision);
          const auto listen = [&](Index) { stop_if_requested(progress_); };
          engine_.kernels().fill(recipe_, rows.loaded(listen), {0, rows.range().size()}, cols.loaded(listen),
                                 {0, count}, false, {&block, 1}, listen);
          engine_.algebra().read(block, result.view().block(rows.range().begin, 0, rows.range().size(), count));
        });
    for (Index j = 0; j < count; ++j) result(chosen[usize(j)], j) = diagonal_[usize(chosen[usize(j)])];
    return result;
  }

  void multiply(MatrixView<const double> v, MatrixView<double> out, Progress* progress) const override {
    for (Index i = 0; i < out.rows; ++i) std::fill_n(out.row(i), out.cols, 0.0);
    ProgressTicker ticker(progress, task_.pairs(), "pairs");
    const EngineMatrix memory = engine_.algebra().allocate(blocks_.edge, blocks_.edge, task_.precision);
    Index pairs = 0;
    traversal_.each_pair([&](const Panel& rows, const Panel& cols) {
      const auto loaded = [&](const Panel& panel) -> const Loaded& {
        return panel.loaded([&](Index) { ticker.at(pairs); });
      };
      const Loaded& x1 = loaded(rows);
      const Loaded& x2 = loaded(cols);
      each_block(rows.range(), cols.range(), blocks_.edge, [&](Range r, Range c) {
        const Tile tile{r, c};
        const EngineMatrix block = memory.block(0, 0, r.size(), c.size());
        engine_.kernels().fill(recipe_, x1, rows.within(r), x2, cols.within(c), tile.on_diagonal(), {&block, 1},
                               [&](Index done) { ticker.at(pairs + done); });
        pairs += tile.upper_pairs();
        add_block_product(engine_.algebra(), block, r, c, v, out);
      });
    });
    ticker.at(task_.pairs());
  }

 private:
  bool spatial_;
  Recipe recipe_;
  GramTask task_;
  const Engine& engine_;
  Progress* progress_;
  Blocks blocks_;
  Traversal traversal_;
  std::vector<double> diagonal_;
};

}  // namespace

void NetworkGramOptions::validate() const {
  if (kind == Kind::both) fail(Code::usage, "kind is both, but a product uses one kernel; choose nngp or ntk");
}

GramMatrix network_gram(const Network& network, const SampleView& x, const NetworkGramOptions& options,
                        const Engine& engine) {
  options.validate();
  check_samples(x);
  if (x.count() == 0) fail(Code::input, "there are no samples to fit");
  return GramMatrix(std::make_shared<NetworkSource>(network, x, options, engine));
}

}  // namespace widelimit
