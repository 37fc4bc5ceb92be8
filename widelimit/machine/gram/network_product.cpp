#include "widelimit/machine/gram/network_product.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/blas_calls.hpp"
#include "widelimit/engine/overflow.hpp"
#include "widelimit/kernel/block_work.hpp"
#include "widelimit/kernel/inputs.hpp"
#include "widelimit/network/shape.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

namespace widelimit {

namespace {

SampleView part_of(const SampleView& x, Range range) {
  return std::visit(
      [&](const auto& rows) { return SampleView(rows.block(range.begin, 0, range.size(), rows.cols), x.shape); },
      x.values);
}

AnyMatrix gathered(const SampleView& x, std::span<const Index> chosen) {
  return std::visit(
      [&](const auto& rows) {
        using T = std::remove_const_t<std::remove_pointer_t<decltype(rows.data)>>;
        Matrix<T> result(std::ssize(chosen), rows.cols, Content::unset);
        for (std::size_t i = 0; i < chosen.size(); ++i) {
          std::copy_n(rows.row(chosen[i]), rows.cols, result.view().row(static_cast<Index>(i)));
        }
        return AnyMatrix(std::move(result));
      },
      x.values);
}

/// A tile as the back end writes it, in float64, and what it adds to the product.
template <typename T>
struct TileMemory {
  TileMemory(Index edge, Index columns)
      : tile(edge, edge, Content::unset), twice(edge, edge, Content::unset), sum(edge, columns, Content::unset) {}
  Matrix<T> tile;
  Matrix<double> twice;
  Matrix<double> sum;
};

template <typename T>
class MemoryPool {
 public:
  std::unique_ptr<T> take(Index edge, Index columns) {
    const std::lock_guard lock(guard_);
    if (free_.empty()) return std::make_unique<T>(edge, columns);
    auto memory = std::move(free_.back());
    free_.pop_back();
    return memory;
  }
  void give(std::unique_ptr<T> memory) {
    const std::lock_guard lock(guard_);
    free_.push_back(std::move(memory));
  }

 private:
  std::mutex guard_;
  std::vector<std::unique_ptr<T>> free_;
};

/// Sums over tiles whose order is that of the tiles, whichever thread is done first: bits do not depend on threads. A
/// part that comes early is kept until its turn, so that nobody waits.
class OrderedSum {
 public:
  OrderedSum(MatrixView<double> out, Index edge)
      : out_(out), edge_(edge), blocks_(static_cast<std::size_t>(out.rows / edge + 1)) {}

  /// The parts that follow are those of these tiles, each to its rows and, off the diagonal, to its columns.
  void begin(const std::vector<Tile>& tiles) {
    for (Block& block : blocks_) block = {};
    for (std::size_t k = 0; k < tiles.size(); ++k) {
      block_of(tiles[k].rows).order.push_back(static_cast<Index>(k));
      if (!tiles[k].on_diagonal()) block_of(tiles[k].cols).order.push_back(static_cast<Index>(k));
    }
  }

  void add(Index tile, Range rows, MatrixView<const double> part) {
    Block& block = block_of(rows);
    const std::lock_guard lock(guards_[static_cast<std::size_t>(rows.begin / edge_) % guards_.size()]);
    if (block.order[block.next] != tile) {
      Matrix<double> kept(part.rows, part.cols, Content::unset);
      for (Index i = 0; i < part.rows; ++i) std::copy_n(part.row(i), part.cols, kept.view().row(i));
      block.early.emplace(tile, std::move(kept));
      return;
    }
    add_now(block, rows, part);
    while (block.next < block.order.size()) {
      const auto early = block.early.find(block.order[block.next]);
      if (early == block.early.end()) break;
      add_now(block, rows, early->second.view());
      block.early.erase(early);
    }
  }

 private:
  struct Block {
    std::vector<Index> order;  ///< tiles that have a part in it
    std::size_t next = 0;
    std::map<Index, Matrix<double>> early;
  };

  Block& block_of(Range rows) { return blocks_[static_cast<std::size_t>(rows.begin / edge_)]; }

  void add_now(Block& block, Range rows, MatrixView<const double> part) const {
    for (Index i = 0; i < part.rows; ++i) {
      double* to = out_.row(rows.begin + i);
      for (Index j = 0; j < part.cols; ++j) to[j] += part(i, j);
    }
    ++block.next;
  }

  MatrixView<double> out_;
  Index edge_;
  std::vector<Block> blocks_;
  std::array<std::mutex, 64> guards_;
};

template <std::floating_point T>
class NetworkProduct final : public GramProduct {
 public:
  NetworkProduct(const Network& network, const SampleView& x, const NetworkProductOptions& options,
                 const Engine& engine)
      : x_(x),
        spatial_(is_spatial(network)),
        recipe_(lower(network, x.shape, wanted(options.kind))),
        engine_(engine),
        job_{&recipe_, x_, {}} {
    edge_ = job_.edge(engine_);
    PanelNeeds needs{.rows = x.count(), .cols = x.count(), .symmetric = true, .edge = edge_};
    needs.sample_bytes = engine_.kernels().loaded_bytes(recipe_, precision_of<T>);
    needs.fixed_bytes = tile_bytes(engine_, job_, precision_of<T>);
    needs.budget = options.memory;
    plan_ = plan_panels(needs);
    for (Index begin = 0; begin < x_.count(); begin += plan_.rows) {
      const Range range{begin, std::min(x_.count(), begin + plan_.rows)};
      auto loaded = load(range, nullptr);
      Matrix<double> values(recipe_.outputs, range.size());
      engine_.kernels().diagonal(recipe_, *loaded, values.view());
      diagonal_.insert(diagonal_.end(), values.data(), values.data() + range.size());
      if (range.size() == x_.count()) whole_ = std::move(loaded);
    }
  }
  NetworkProduct(const NetworkProduct&) = delete;
  NetworkProduct& operator=(const NetworkProduct&) = delete;

  Index samples() const override { return x_.count(); }
  std::vector<double> diagonal() const override { return diagonal_; }
  std::size_t bytes() const override { return plan_.bytes; }
  Precision precision() const override { return precision_of<T>; }
  /// A correlation of two samples and some thirty for each step, twice with its transpose; of images each pair of
  /// positions.
  double entry_cost() const override {
    const auto positions = static_cast<double>(spatial_ ? x_.shape.height * x_.shape.width : 1);
    const auto steps = static_cast<double>(recipe_.steps.size());
    return static_cast<double>(x_.shape.size()) + 30 * steps * positions * positions;
  }

  Matrix<double> columns(std::span<const Index> chosen) const override {
    const AnyMatrix picked = gathered(x_, chosen);
    const Index count = std::ssize(chosen);
    const auto right = engine_.kernels().load(recipe_, SampleView(picked, x_.shape), precision_of<T>, [](Index) {});
    Matrix<double> result(samples(), count, Content::unset);
    for (Index begin = 0; begin < samples(); begin += plan_.rows) {
      const Range range{begin, std::min(samples(), begin + plan_.rows)};
      const std::shared_ptr<const Loaded> left = load(range, nullptr);
      const std::vector<Tile> tiles = rectangle_tiles({0, range.size()}, {0, count}, edge_);
      engine_.kernels().for_each(
          std::ssize(tiles),
          [&](Index k) {
            const Tile& tile = tiles[static_cast<std::size_t>(k)];
            Matrix<T> values(tile.rows.size(), tile.cols.size(), Content::unset);
            const MatrixView<T> outputs[]{values.view()};
            engine_.kernels().tile(recipe_, *left, tile.rows, *right, tile.cols, outputs);
            for (Index i = 0; i < values.rows(); ++i) {
              std::copy_n(values.view().row(i), values.cols(), &result(begin + tile.rows.begin + i, tile.cols.begin));
            }
          },
          [] {});
    }
    for (Index j = 0; j < count; ++j) {
      const Index i = chosen[static_cast<std::size_t>(j)];
      result(i, j) = diagonal_[static_cast<std::size_t>(i)];
    }
    return result;
  }

  void apply(MatrixView<const double> v, MatrixView<double> out, Progress* progress) const override {
    for (Index i = 0; i < out.rows; ++i) std::fill_n(out.row(i), out.cols, 0.0);
    PairProgress pairs(progress, job_.pairs());
    MemoryPool<TileMemory<T>> pool;
    OrderedSum sum(out, edge_);
    Range held;
    std::shared_ptr<const Loaded> left;
    each_panel_pair(job_, plan_, edge_, [&](Range rows, Range cols, const std::vector<Tile>& tiles) {
      if (!left || held.begin != rows.begin) left = load(rows, &pairs);
      held = rows;
      const bool square = rows.begin == cols.begin;
      const std::shared_ptr<const Loaded> right = square ? left : load(cols, &pairs);
      sum.begin(tiles);
      engine_.kernels().for_each(
          std::ssize(tiles),
          [&](Index k) {
            const Tile& tile = tiles[static_cast<std::size_t>(k)];
            auto memory = pool.take(edge_, v.cols);
            compute(tile, *left, rows, *right, cols, *memory);
            sum.add(k, tile.rows, times(tile.rows, tile.cols, Transpose::no, *memory, v));
            if (!tile.on_diagonal()) {
              sum.add(k, tile.cols, times(tile.cols, tile.rows, Transpose::yes, *memory, v));
            }
            pool.give(std::move(memory));
            pairs.add(tile.upper_pairs());
          },
          [&] { pairs.tell(); });
    });
  }

 private:
  std::shared_ptr<const Loaded> load(Range range, PairProgress* pairs) const {
    if (whole_) return whole_;
    return engine_.kernels().load(recipe_, part_of(x_, range), precision_of<T>, [pairs](Index) {
      if (pairs != nullptr) pairs->tell();
    });
  }

  /// memory.twice = the tile in float64.
  void compute(const Tile& tile, const Loaded& left, Range rows, const Loaded& right, Range cols,
               TileMemory<T>& memory) const {
    const Index height = tile.rows.size();
    const Index width = tile.cols.size();
    const MatrixView<T> outputs[]{memory.tile.view().block(0, 0, height, width)};
    const Range row_range{tile.rows.begin - rows.begin, tile.rows.end - rows.begin};
    const Range col_range{tile.cols.begin - cols.begin, tile.cols.end - cols.begin};
    if (tile.on_diagonal()) {
      engine_.kernels().mirrored_tile(recipe_, left, row_range, row_range, outputs, outputs);
    } else {
      engine_.kernels().tile(recipe_, left, row_range, right, col_range, outputs);
    }
    for (Index i = 0; i < height; ++i) std::copy_n(outputs[0].row(i), width, memory.twice.view().row(i));
    if (!tile.on_diagonal()) return;
    for (Index i = 0; i < height; ++i) memory.twice(i, i) = diagonal_[static_cast<std::size_t>(tile.rows.begin + i)];
  }

  /// tile·v[from], or its transpose: the part of K·v that belongs to the rows `to`.
  static MatrixView<const double> times(Range to, Range from, Transpose op, TileMemory<T>& memory,
                                        MatrixView<const double> v) {
    const bool plain = op == Transpose::no;
    const MatrixView<const double> tile =
        memory.twice.view().block(0, 0, plain ? to.size() : from.size(), plain ? from.size() : to.size());
    const MatrixView<double> part = memory.sum.view().block(0, 0, to.size(), v.cols);
    cpu::gemm<double>(1, op, tile, Transpose::no, v.block(from.begin, 0, from.size(), v.cols), 0, part);
    return part;
  }

  SampleView x_;
  bool spatial_;
  Recipe recipe_;
  const Engine& engine_;
  BlockJob job_;
  Index edge_ = 1;
  PanelPlan plan_;
  std::shared_ptr<const Loaded> whole_;  ///< where all samples fit
  std::vector<double> diagonal_;
};

}  // namespace

void NetworkProductOptions::validate() const {
  if (kind == Kind::both) fail(Code::usage, "a product takes one kernel; choose nngp or ntk");
}

std::unique_ptr<GramProduct> network_product(const Network& network, const SampleView& x,
                                             const NetworkProductOptions& options, const Engine& engine) {
  options.validate();
  check_samples(x);
  if (x.count() == 0) fail(Code::input, "there are no samples to fit");
  if (options.precision == Precision::f32) return std::make_unique<NetworkProduct<float>>(network, x, options, engine);
  return std::make_unique<NetworkProduct<double>>(network, x, options, engine);
}

}  // namespace widelimit
