#include "widelimit/machine/gram/network_product.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/overflow.hpp"
#include "widelimit/kernel/block_work.hpp"
#include "widelimit/kernel/inputs.hpp"
#include "widelimit/network/shape.hpp"

#include <cblas.h>

#include <algorithm>
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

template <std::floating_point T>
class NetworkProduct final : public GramProduct {
 public:
  NetworkProduct(const Network& network, const SampleView& x, const NetworkProductOptions& options,
                 const Backend& backend)
      : x_(x),
        spatial_(is_spatial(network)),
        recipe_(lower(network, x.shape, wanted(options.kind))),
        backend_(backend),
        job_{&recipe_, x_, {}} {
    edge_ = job_.edge(backend_);
    PanelNeeds needs{.rows = x.count(), .cols = x.count(), .symmetric = true, .edge = edge_};
    needs.sample_bytes = backend_.loaded_bytes(recipe_, precision_of<T>);
    needs.fixed_bytes = tile_bytes(backend_, job_, precision_of<T>);
    needs.budget = options.memory;
    plan_ = plan_panels(needs);
    for (Index begin = 0; begin < x_.count(); begin += plan_.rows) {
      const Range range{begin, std::min(x_.count(), begin + plan_.rows)};
      auto loaded = load(range, nullptr);
      Matrix<double> values(recipe_.outputs, range.size());
      backend_.diagonal(recipe_, *loaded, values.view());
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
    const auto right = backend_.load(recipe_, SampleView(picked, x_.shape), precision_of<T>, [](Index) {});
    Matrix<double> result(samples(), count, Content::unset);
    for (Index begin = 0; begin < samples(); begin += plan_.rows) {
      const Range range{begin, std::min(samples(), begin + plan_.rows)};
      const std::shared_ptr<const Loaded> left = load(range, nullptr);
      const std::vector<Tile> tiles = rectangle_tiles({0, range.size()}, {0, count}, edge_);
      backend_.for_each(
          std::ssize(tiles),
          [&](Index k) {
            const Tile& tile = tiles[static_cast<std::size_t>(k)];
            Matrix<T> values(tile.rows.size(), tile.cols.size(), Content::unset);
            const MatrixView<T> outputs[]{values.view()};
            backend_.tile(recipe_, *left, tile.rows, *right, tile.cols, outputs);
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
    std::vector<std::mutex> guards(static_cast<std::size_t>(samples() / edge_ + 1));
    Range held;
    std::shared_ptr<const Loaded> left;
    each_panel_pair(job_, plan_, edge_, [&](Range rows, Range cols, const std::vector<Tile>& tiles) {
      if (!left || held.begin != rows.begin) left = load(rows, &pairs);
      held = rows;
      const bool square = rows.begin == cols.begin;
      const std::shared_ptr<const Loaded> right = square ? left : load(cols, &pairs);
      backend_.for_each(
          std::ssize(tiles),
          [&](Index k) {
            const Tile& tile = tiles[static_cast<std::size_t>(k)];
            auto memory = pool.take(edge_, v.cols);
            compute(tile, *left, rows, *right, cols, *memory);
            add(tile.rows, tile.cols, false, *memory, v, out, guards);
            if (!tile.on_diagonal()) add(tile.cols, tile.rows, true, *memory, v, out, guards);
            pool.give(std::move(memory));
            pairs.add(tile.upper_pairs());
          },
          [&] { pairs.tell(); });
    });
  }

 private:
  std::shared_ptr<const Loaded> load(Range range, PairProgress* pairs) const {
    if (whole_) return whole_;
    return backend_.load(recipe_, part_of(x_, range), precision_of<T>, [pairs](Index) {
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
      backend_.mirrored_tile(recipe_, left, row_range, row_range, outputs, outputs);
    } else {
      backend_.tile(recipe_, left, row_range, right, col_range, outputs);
    }
    for (Index i = 0; i < height; ++i) std::copy_n(outputs[0].row(i), width, memory.twice.view().row(i));
    if (!tile.on_diagonal()) return;
    for (Index i = 0; i < height; ++i) memory.twice(i, i) = diagonal_[static_cast<std::size_t>(tile.rows.begin + i)];
  }

  /// out[to] += tile·v[from], or its transpose.
  void add(Range to, Range from, bool transposed, TileMemory<T>& memory, MatrixView<const double> v,
           MatrixView<double> out, std::vector<std::mutex>& guards) const {
    const Index columns = v.cols;
    cblas_dgemm(CblasRowMajor, transposed ? CblasTrans : CblasNoTrans, CblasNoTrans, static_cast<int>(to.size()),
                static_cast<int>(columns), static_cast<int>(from.size()), 1.0, memory.twice.data(),
                static_cast<int>(edge_), v.row(from.begin), static_cast<int>(v.stride), 0.0, memory.sum.data(),
                static_cast<int>(columns));
    const std::lock_guard lock(guards[static_cast<std::size_t>(to.begin / edge_)]);
    for (Index i = 0; i < to.size(); ++i) {
      double* row = out.row(to.begin + i);
      for (Index j = 0; j < columns; ++j) row[j] += memory.sum(i, j);
    }
  }

  SampleView x_;
  bool spatial_;
  Recipe recipe_;
  const Backend& backend_;
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
                                             const NetworkProductOptions& options, const Backend& backend) {
  options.validate();
  check_samples(x);
  if (x.count() == 0) fail(Code::input, "there are no samples to fit");
  if (options.precision == Precision::f32) return std::make_unique<NetworkProduct<float>>(network, x, options, backend);
  return std::make_unique<NetworkProduct<double>>(network, x, options, backend);
}

}  // namespace widelimit
