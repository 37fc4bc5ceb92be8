#include "widelimit/base/error.hpp"
#include "widelimit/base/transpose.hpp"
#include "widelimit/kernel/label_aware/pair_estimate.hpp"
#include "widelimit/kernel/label_aware/pair_tiles.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

void require_finite_block(const PairBlock& block, MatrixView<const double> k) {
  for (Index i = 0; i < k.rows; ++i) {
    for (Index j = 0; j < k.cols; ++j) {
      if (!std::isfinite(k(i, j))) {
        fail(Code::input, "entry ({}, {}) of the kernel is {}", block.rows.begin + i, block.cols.begin + j, k(i, j));
      }
    }
  }
}

/// Number of unordered pairs in the rows before `end` of an n × n matrix.
Index pairs_above(Index end, Index n) { return end * n - end * (end - 1) / 2; }

/// Writes the rows of a strip, from its own columns on, and their mirror image below the strip.
void write_strip(MatrixView<const double> rows, Range strip, EngineMatrix& kernel, const Engine& engine) {
  const Algebra& algebra = engine.algebra();
  EngineMatrix own = kernel.block(strip.begin, strip.begin, rows.rows, rows.cols);
  algebra.write(rows, own);
  if (rows.cols == rows.rows) return;
  Matrix<double> turned(rows.cols - rows.rows, rows.rows, Content::unset);
  const std::vector<Range> parts = cut({rows.rows, rows.cols}, pair_tile);
  engine.for_each(std::ssize(parts), [&](Index task) {
    const Range part = parts[usize(task)];
    transpose(rows.block(0, part.begin, rows.rows, part.size()),
              turned.view().block(part.begin - rows.rows, 0, part.size(), rows.rows));
  });
  EngineMatrix below = kernel.block(strip.end, strip.begin, turned.rows(), turned.cols());
  algebra.write(turned.view(), below);
}

}  // namespace

Index add_to_strip(const PairEstimator& z, double lambda, Range strip, Index first, bool test, MatrixView<double> k,
                   const Engine& engine) {
  const std::vector<Range> columns = cut({test ? first : std::max(first, strip.begin), first + k.cols}, pair_tile);
  std::vector<Index> beyond(columns.size(), 0);
  const StripPanels left(strip, engine, [&](Range rows) { return z.left_panel(rows, true); });
  engine.for_each(std::ssize(columns), [&](Index task) {
    const Range cols = columns[usize(task)];
    const host::PairPanel right = z.right_panel(cols, true);
    for (const PairBlock& block : blocks_of(strip, cols, test)) {
      const bool diagonal = !test && block.rows.begin == block.cols.begin;
      const MatrixView<double> own =
          k.block(block.rows.begin - strip.begin, cols.begin - first, block.rows.size(), cols.size());
      require_finite_block(block, own);
      Matrix<double> values(own.rows, own.cols, Content::unset);
      const Index outside = z.evaluate(block, left.of(block), right, own, values.view());
      beyond[usize(task)] += diagonal || test ? outside : 2 * outside;
      for (Index i = 0; i < own.rows; ++i) {
        for (Index j = diagonal ? i : 0; j < own.cols; ++j) own(i, j) += lambda * values(i, j);
        for (Index j = 0; diagonal && j < i; ++j) own(i, j) = own(j, i);
      }
    }
  });
  Index sum = 0;
  for (const Index count : beyond) sum += count;
  return sum;
}

Index add_symmetric(const PairEstimator& z, double lambda, EngineMatrix& kernel, const Engine& engine,
                    Progress* progress) {
  const Index n = kernel.rows();
  ProgressTicker ticker(progress, n * (n + 1) / 2, "pairs");
  Index beyond = 0;
  for (const Range strip : cut({0, n}, pair_strip)) {
    Matrix<double> rows(strip.size(), n - strip.begin, Content::unset);
    engine.algebra().read(kernel.block(strip.begin, strip.begin, rows.rows(), rows.cols()), rows.view());
    beyond += add_to_strip(z, lambda, strip, strip.begin, false, rows.view(), engine);
    mirror_upper(rows.view().block(0, 0, strip.size(), strip.size()));
    write_strip(rows.view(), strip, kernel, engine);
    ticker.at(pairs_above(strip.end, n));
  }
  return beyond;
}

Index add_rows(const PairEstimator& z, double lambda, EngineMatrix& kernel, const Engine& engine, Progress* progress) {
  const Algebra& algebra = engine.algebra();
  ProgressTicker ticker(progress, kernel.rows() * kernel.cols(), "pairs");
  Index beyond = 0;
  for (const Range strip : cut({0, kernel.rows()}, pair_strip)) {
    Matrix<double> rows(strip.size(), kernel.cols(), Content::unset);
    EngineMatrix own = kernel.block(strip.begin, 0, strip.size(), kernel.cols());
    algebra.read(own, rows.view());
    beyond += add_to_strip(z, lambda, strip, 0, true, rows.view(), engine);
    algebra.write(rows.view(), own);
    ticker.at(strip.end * kernel.cols());
  }
  return beyond;
}

void LowerStrip::put(const PairBlock& block, const double* values) {
  const Index i = block.rows.begin - strip_.begin;
  const Index j = block.cols.begin - strip_.begin;
  transpose(MatrixView<const double>{values, block.rows.size(), block.cols.size(), block.cols.size()},
            turned_.view().block(j, i, block.cols.size(), block.rows.size()));
}

void LowerStrip::write(MatrixView<const double> upper, EngineMatrix& kernel, const Algebra& algebra) {
  for (Index i = 0; i < strip_.size(); ++i) {
    std::copy(upper.row(i) + i, upper.row(i) + strip_.size(), turned_.view().row(i) + i);
  }
  EngineMatrix columns = kernel.block(strip_.begin, strip_.begin, turned_.rows(), turned_.cols());
  algebra.write(turned_.view(), columns);
}

void LowerStrip::read(const EngineMatrix& kernel, const Algebra& algebra) {
  algebra.read(kernel.block(strip_.begin, strip_.begin, turned_.rows(), turned_.cols()), turned_.view());
}

Matrix<double> LowerStrip::get(const PairBlock& block) const {
  Matrix<double> values(block.rows.size(), block.cols.size(), Content::unset);
  const Index i = block.rows.begin - strip_.begin;
  const Index j = block.cols.begin - strip_.begin;
  transpose(turned_.view().block(j, i, values.cols(), values.rows()), values.view());
  if (i != j) return values;
  for (Index k = 0; k < values.rows(); ++k) {
    values(k, k) = 0;
    for (Index l = 0; l < k; ++l) values(k, l) = values(l, k);
  }
  return values;
}

namespace {

/// Writes Z of all pairs to the lower triangle of a Gram matrix, which holds their distances on entry if `kept`, and Z
/// of each sample with itself to `diagonal`. Returns Σ|Z| over all ordered pairs.
double keep_estimates(const PairEstimator& z, bool kept, EngineMatrix& kernel, std::vector<double>& diagonal,
                      Index& beyond, const Engine& engine, Progress* progress) {
  const Algebra& algebra = engine.algebra();
  const Index n = kernel.rows();
  ProgressTicker ticker(progress, n * (n + 1) / 2, "pairs");
  double magnitude = 0;
  for (const Range strip : cut({0, n}, pair_strip)) {
    Matrix<double> rows(strip.size(), n - strip.begin, Content::unset);
    algebra.read(kernel.block(strip.begin, strip.begin, rows.rows(), rows.cols()), rows.view());
    mirror_upper(rows.view().block(0, 0, rows.rows(), rows.rows()));
    LowerStrip distances(strip, kept ? n : strip.begin);
    if (kept) distances.read(kernel, algebra);
    LowerStrip estimates(strip, n);
    const std::vector<Range> columns = cut({strip.begin, n}, pair_tile);
    std::vector<std::vector<double>> sums(columns.size());
    std::vector<Index> outside(columns.size(), 0);
    const StripPanels left(strip, engine, [&](Range tile) { return z.left_panel(tile, !kept); });
    engine.for_each(std::ssize(columns), [&](Index task) {
      const host::PairPanel right = z.right_panel(columns[usize(task)], !kept);
      for (const PairBlock& block : blocks_of(strip, columns[usize(task)], false)) {
        Matrix<double> values(block.rows.size(), block.cols.size(), Content::unset);
        const MatrixView<const double> theta = rows.view().block(
            block.rows.begin - strip.begin, block.cols.begin - strip.begin, values.rows(), values.cols());
        const Index out = z.evaluate(block, left.of(block), right, theta, values.view(),
                                     kept ? std::optional(distances.get(block)) : std::nullopt);
        double sum = 0;
        for (Index k = 0; k < block.pairs(); ++k) sum += std::abs(values.data()[k]);
        sums[usize(task)].push_back(pair_weight(block) * sum);
        outside[usize(task)] += block.rows.begin == block.cols.begin ? out : 2 * out;
        estimates.put(block, values.data());
      }
    });
    for (std::size_t c = 0; c < columns.size(); ++c) {
      for (const double sum : sums[c]) magnitude += sum;
      beyond += outside[c];
    }
    for (Index i = 0; i < strip.size(); ++i) diagonal.push_back(estimates.own(i));
    estimates.write(rows.view(), kernel, algebra);
    ticker.at(pairs_above(strip.end, n));
  }
  return magnitude;
}

}  // namespace

double add_share(const PairEstimator& z, double share, bool kept, EngineMatrix& kernel, Index& beyond,
                 const Engine& engine, Progress* progress) {
  const Algebra& algebra = engine.algebra();
  const Index n = kernel.rows();
  std::vector<double> diagonal;
  const double lambda = share / checked_magnitude(keep_estimates(z, kept, kernel, diagonal, beyond, engine, progress));
  for (const Range strip : cut({0, n}, pair_strip)) {
    const Index height = strip.size();
    Matrix<double> rows(height, n - strip.begin, Content::unset);
    Matrix<double> below(rows.cols(), height, Content::unset);
    algebra.read(kernel.block(strip.begin, strip.begin, height, rows.cols()), rows.view());
    algebra.read(kernel.block(strip.begin, strip.begin, below.rows(), height), below.view());
    for (Index i = 0; i < height; ++i) below(i, i) = diagonal[usize(strip.begin + i)];
    const std::vector<Range> parts = cut({0, rows.cols()}, pair_tile);
    engine.for_each(std::ssize(parts), [&](Index task) {
      for (Index j = parts[usize(task)].begin; j < parts[usize(task)].end; ++j) {
        for (Index i = 0; i < std::min(height, j + 1); ++i) rows(i, j) += lambda * below(j, i);
      }
    });
    mirror_upper(rows.view().block(0, 0, height, height));
    write_strip(rows.view(), strip, kernel, engine);
  }
  return lambda;
}

}  // namespace widelimit
