#include "widelimit/kernel/network_gram.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/tiles.hpp"
#include "widelimit/kernel/inputs.hpp"
#include "widelimit/kernel/panels.hpp"
#include "widelimit/network/shape.hpp"

#include <algorithm>

namespace widelimit {

namespace {

AnyMatrix gathered(const SampleView& x, std::span<const Index> chosen) {
  return std::visit(
      [&]<typename T>(const MatrixView<const T>& rows) {
        Matrix<T> result(std::ssize(chosen), rows.cols, Content::unset);
        for (std::size_t i = 0; i < chosen.size(); ++i) {
          std::copy_n(rows.row(chosen[i]), rows.cols, result.view().row(static_cast<Index>(i)));
        }
        return AnyMatrix(std::move(result));
      },
      x.values);
}

/// out[rows] += part.
void add_rows(MatrixView<const double> part, Range rows, MatrixView<double> out) {
  for (Index i = 0; i < part.rows; ++i) {
    double* to = out.row(rows.begin + i);
    for (Index j = 0; j < part.cols; ++j) to[j] += part(i, j);
  }
}

/// A block of the Gram matrix at a time lies on the engine: filled, multiplied with both parts of v that it meets,
/// forgotten. Blocks come in the same order whatever the number of threads, and so do the sums.
class NetworkSource final : public GramSource {
 public:
  NetworkSource(const Network& network, const SampleView& x, const NetworkGramOptions& options, const Engine& engine)
      : x_(x),
        precision_(options.precision),
        spatial_(is_spatial(network)),
        recipe_(lower(network, x.shape, wanted(options.kind))),
        engine_(engine) {
    const Kernels& kernels = engine.kernels();
    const Index edge = cut_edge(x.count(), x.count(), kernels.tile_edge(recipe_));
    const std::size_t entry = precision_ == Precision::f32 ? sizeof(float) : sizeof(double);
    const auto fixed = [&](Index block) {  // the block, and on each thread the correlations that a tile starts from
      return static_cast<std::size_t>(block * block) * entry +
             static_cast<std::size_t>(engine.threads() * edge * edge) * sizeof(double);
    };
    // Tiles for all threads; never by their number, on which no bit may depend. Half the memory is for samples.
    Index tiles = 4;
    while (tiles > 1 && fixed(std::min(x.count(), edge * tiles)) > options.memory / 2) tiles /= 2;
    block_ = std::min(x.count(), edge * tiles);
    PanelNeeds needs{.rows = x.count(), .cols = x.count(), .symmetric = true, .edge = block_};
    needs.sample_bytes = kernels.loaded_bytes(recipe_, precision_);
    needs.fixed_bytes = fixed(block_);
    needs.budget = options.memory;
    plan_ = plan_panels(needs);
    for (Index begin = 0; begin < x_.count(); begin += plan_.rows) {
      const Range range{begin, std::min(x_.count(), begin + plan_.rows)};
      auto loaded = load(range, nullptr);
      Matrix<double> values(recipe_.outputs, range.size());
      kernels.diagonal(recipe_, *loaded, values.view());
      diagonal_.insert(diagonal_.end(), values.data(), values.data() + range.size());
      if (range.size() == x_.count()) whole_ = std::move(loaded);
    }
  }
  NetworkSource(const NetworkSource&) = delete;
  NetworkSource& operator=(const NetworkSource&) = delete;

  [[nodiscard]] const Engine& engine() const override { return engine_; }
  [[nodiscard]] Index samples() const override { return x_.count(); }
  [[nodiscard]] Precision precision() const override { return precision_; }
  [[nodiscard]] std::vector<double> diagonal() const override { return diagonal_; }
  [[nodiscard]] std::size_t bytes() const override { return plan_.bytes; }
  /// A correlation of two samples and some thirty for each step, twice with its transpose; of images each pair of
  /// positions.
  [[nodiscard]] double entry_cost() const override {
    const auto positions = static_cast<double>(spatial_ ? x_.shape.height * x_.shape.width : 1);
    const auto steps = static_cast<double>(recipe_.steps.size());
    return static_cast<double>(x_.shape.size()) + 30 * steps * positions * positions;
  }

  [[nodiscard]] Matrix<double> columns(std::span<const Index> chosen) const override {
    const AnyMatrix picked = gathered(x_, chosen);
    const Index count = std::ssize(chosen);
    const auto right = engine_.kernels().load(recipe_, SampleView(picked, x_.shape), precision_, [](Index) {});
    Matrix<double> result(samples(), count, Content::unset);
    for (Index begin = 0; begin < samples(); begin += plan_.rows) {
      const Range range{begin, std::min(samples(), begin + plan_.rows)};
      const std::shared_ptr<const Loaded> left = load(range, nullptr);
      const EngineMatrix block = engine_.algebra().allocate(range.size(), count, precision_);
      engine_.kernels().fill(recipe_, *left, {0, range.size()}, *right, {0, count}, false, {&block, 1}, [](Index) {});
      engine_.algebra().read(block, result.view().block(begin, 0, range.size(), count));
    }
    for (Index j = 0; j < count; ++j) result(chosen[usize(j)], j) = diagonal_[usize(chosen[usize(j)])];
    return result;
  }

  void multiply(MatrixView<const double> v, MatrixView<double> out, Progress* progress) const override {
    for (Index i = 0; i < out.rows; ++i) std::fill_n(out.row(i), out.cols, 0.0);
    ProgressTicker ticker(progress, samples() * (samples() + 1) / 2, "pairs");
    const EngineMatrix memory = engine_.algebra().allocate(block_, block_, precision_);
    Index pairs = 0;
    for (Index row = 0; row < samples(); row += plan_.rows) {
      const Range rows{row, std::min(samples(), row + plan_.rows)};
      const std::shared_ptr<const Loaded> left = load(rows, [&](Index) { ticker.at(pairs); });
      for (Index col = row; col < samples(); col += col == row ? plan_.rows : plan_.cols) {
        const bool same = col == row;
        const Range cols = same ? rows : Range{col, std::min(samples(), col + plan_.cols)};
        const std::shared_ptr<const Loaded> right = same ? left : load(cols, [&](Index) { ticker.at(pairs); });
        each_block(rows, cols, [&](Range r, Range c) {
          const bool square = r.begin == c.begin;
          const EngineMatrix block = memory.block(0, 0, r.size(), c.size());
          engine_.kernels().fill(recipe_, *left, {r.begin - row, r.end - row}, *right, {c.begin - col, c.end - col},
                                 square, {&block, 1}, [&](Index done) { ticker.at(pairs + done); });
          pairs += square ? r.size() * (r.size() + 1) / 2 : r.size() * c.size();
          add_product(Transpose::no, block, v, c, out, r);
          if (!square) add_product(Transpose::yes, block, v, r, out, c);
        });
      }
    }
    ticker.at(samples() * (samples() + 1) / 2);
  }

 private:
  [[nodiscard]] std::shared_ptr<const Loaded> load(Range range, const std::function<void(Index)>& after) const {
    if (whole_) return whole_;
    return engine_.kernels().load(
        recipe_, x_.part(range.begin, range.size()), precision_, after ? after : [](Index) {});
  }

  /// Blocks of a pair of panels, those on and above the diagonal where the panels are the same.
  template <typename Visit>
  void each_block(Range rows, Range cols, const Visit& visit) const {
    for (Index r = rows.begin; r < rows.end; r += block_) {
      for (Index c = rows.begin == cols.begin ? r : cols.begin; c < cols.end; c += block_) {
        visit(Range{r, std::min(rows.end, r + block_)}, Range{c, std::min(cols.end, c + block_)});
      }
    }
  }

  /// out[to] += op(block)·v[from].
  void add_product(Transpose op, const EngineMatrix& block, MatrixView<const double> v, Range from,
                   MatrixView<double> out, Range to) const {
    Matrix<double> part(to.size(), v.cols, Content::unset);
    engine_.algebra().multiply(op, block, v.block(from.begin, 0, from.size(), v.cols), part.view());
    add_rows(part.view(), to, out);
  }

  SampleView x_;
  Precision precision_;
  bool spatial_;
  Recipe recipe_;
  const Engine& engine_;
  Index block_ = 1;  ///< edge of the blocks
  PanelPlan plan_;
  std::shared_ptr<const Loaded> whole_;  ///< where all samples fit
  std::vector<double> diagonal_;
};

}  // namespace

void NetworkGramOptions::validate() const {
  if (kind == Kind::both) fail(Code::usage, "a product takes one kernel; choose nngp or ntk");
}

GramMatrix network_gram(const Network& network, const SampleView& x, const NetworkGramOptions& options,
                        const Engine& engine) {
  options.validate();
  check_samples(x);
  if (x.count() == 0) fail(Code::input, "there are no samples to fit");
  return GramMatrix(std::make_shared<NetworkSource>(network, x, options, engine));
}

}  // namespace widelimit
