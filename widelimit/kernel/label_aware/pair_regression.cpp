#include "widelimit/base/error.hpp"
#include "widelimit/engine/host/host.hpp"
#include "widelimit/engine/host/row_moments.hpp"
#include "widelimit/kernel/label_aware/hadamard_sketch.hpp"
#include "widelimit/kernel/label_aware/pair_estimate.hpp"
#include "widelimit/kernel/label_aware/pair_tiles.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Eigenvalues of the scaled normal matrix below this fraction of the largest are rounding errors of the sums; their
/// directions are discarded.
constexpr double redundant = 1e-12;

/// MᵀM of the matrix M = [Φ z], upper-left p × p for the features Φ, last column for the targets z.
using NormalEquations = std::vector<double>;

/// Sums MᵀM over the tiles of all ordered pairs. Stores the distances in `keep`, if given.
NormalEquations all_pairs(const GramMatrix& kernel, const PairFeatures& features, std::span<const Index> labels,
                          PairTarget target, EngineMatrix* keep, Progress* progress) {
  const Index size = features.count() + 1;
  std::optional<LowerStrip> lower;
  std::optional<StripPanels> left;
  CompensatedSums sums(size * size);
  over_pairs(
      kernel, progress,
      [&](Range cols) {
        return [&, right = features.right_panel(cols, true)](const PairBlock& block, MatrixView<const double> k) {
          const CoordinateSums of_pairs = PairFeatures::sums(left->of(block), right);
          if (lower) lower->put(block, of_pairs.distances.data());
          host::RowMoments moments(size);
          features.evaluate(block, k, of_pairs, [&](Index first, MatrixView<double> rows) {
            const Index begin = block.rows.begin + first;
            write_targets(labels, target, {{begin, begin + rows.cols / k.cols}, block.cols}, rows.row(size - 1));
            moments.add(rows);
          });
          return moments.values();
        };
      },
      [&](const std::vector<double>& part, double weight) { sums.add(part, weight); },
      [&](Range strip) {
        if (keep != nullptr) lower.emplace(strip, kernel.samples());
        left.emplace(strip, kernel.engine(), [&](Range rows) { return features.left_panel(rows, true); });
      },
      [&](Range, MatrixView<const double> rows) {
        if (lower) lower->write(rows, *keep, kernel.algebra());
      });
  return sums.values();
}

/// Writes features and targets of `count` pairs from pair `first` on, in row-major order of the pairs: one row of
/// `columns` per feature, the targets last.
void write_flat(const GramMatrix& kernel, const PairFeatures& features, std::span<const Index> labels,
                PairTarget target, Index first, Index count, MatrixView<double> columns) {
  const Index n = kernel.samples();
  const Range strip{first / n, (first + count - 1) / n + 1};
  const Matrix<double> theta = kernel.rows(strip.begin, strip.size());
  const StripPanels left(strip, kernel.engine(), [&](Range rows) { return features.left_panel(rows, true); });
  const std::vector<Range> cuts = cut({0, n}, pair_tile);
  // Copies the part of a row of a block that lies within the vector.
  const auto copy = [&](const PairBlock& block, Index row, const double* values, double* to) {
    const Index begin = row * n + block.cols.begin - first;
    const Index from = std::max<Index>(0, -begin);
    const Index end = std::min(block.cols.size(), count - begin);
    if (from < end) std::copy(values + from, values + end, to + begin + from);
  };
  kernel.engine().for_each(std::ssize(cuts), [&](Index task) {
    const Range cols = cuts[usize(task)];
    const host::PairPanel right = features.right_panel(cols, true);
    for (const PairBlock& block : blocks_of(strip, cols, true)) {
      const MatrixView<const double> k =
          theta.view().block(block.rows.begin - strip.begin, cols.begin, block.rows.size(), cols.size());
      features.evaluate(
          block, k, PairFeatures::sums(left.of(block), right), [&](Index above, MatrixView<double> values) {
            const Range rows{block.rows.begin + above, block.rows.begin + above + values.cols / cols.size()};
            write_targets(labels, target, {rows, cols}, values.row(columns.rows - 1));
            for (Index f = 0; f < columns.rows; ++f) {
              for (Index i = 0; i < rows.size(); ++i)
                copy(block, rows.begin + i, values.row(f) + i * cols.size(), columns.row(f));
            }
          });
    }
  });
}

/// Normal equations of P H D M, whose rows are random combinations of pairs.
NormalEquations sketched_pairs(const GramMatrix& kernel, const PairFeatures& features, std::span<const Index> labels,
                               PairTarget target, const LabelAwareOptions& options, Progress* progress) {
  const Index size = features.count() + 1;
  const auto n = static_cast<double>(kernel.samples());
  const double logarithm = std::log(static_cast<double>(size));
  const double required_rows = std::floor(logarithm / (options.distortion * options.distortion));
  if (required_rows > 1e7)
    fail(Code::usage, "a sketch of {:.3g} rows is too large; allow more distortion", required_rows);
  const Index pairs = kernel.samples() * kernel.samples();
  HadamardSketch sketch(pairs, std::max(size, static_cast<Index>(required_rows)),
                        std::min(1.0, logarithm * logarithm / (n * n)), size, options.seed);
  Matrix<double> columns(size, sketch.block(), Content::unset);
  ProgressTicker ticker(progress, pairs, "pairs");
  for (Index s = 0; s < sketch.blocks(); ++s) {
    const Index first = s * sketch.block();
    const Index count = std::min(sketch.block(), pairs - first);
    for (Index f = 0; f < size; ++f)
      std::fill(columns.view().row(f) + count, columns.view().row(f) + columns.cols(), 0.0);
    write_flat(kernel, features, labels, target, first, count, columns.view());
    kernel.engine().for_each(size, [&](Index f) { sketch.add(s, f, columns.view().row(f)); });
    ticker.at(first + count);
  }
  NormalEquations normal(usize(size * size));
  host::product<double>(1, Transpose::no, sketch.result().view(), Transpose::yes, sketch.result().view(), 0,
                        {normal.data(), size, size, size});
  return normal;
}

/// Computes the minimum-norm solution in the coordinates of features scaled to unit length.
void solve(const NormalEquations& normal, const Algebra& algebra, PairRegression& regression) {
  const Index p = std::ssize(regression.coefficients);
  const auto entry = [&](Index i, Index j) { return normal[usize(i * (p + 1) + j)]; };
  if (!std::all_of(normal.begin(), normal.end(), [](double number) { return std::isfinite(number); })) {
    fail(Code::input, "features of pairs overflow; scale the samples");
  }
  std::vector<double> scale(usize(p));
  for (Index i = 0; i < p; ++i) scale[usize(i)] = entry(i, i) > 0 ? 1 / std::sqrt(entry(i, i)) : 0;
  Matrix<double> scaled(p, p);
  for (Index i = 0; i < p; ++i) {
    for (Index j = 0; j < p; ++j) scaled(i, j) = scale[usize(i)] * entry(i, j) * scale[usize(j)];
  }
  EngineMatrix vectors;
  const std::vector<double> values = algebra.eigenvectors(algebra.copy_of(scaled.view()), vectors, nullptr);
  Matrix<double> directions(p, p, Content::unset);
  algebra.read(vectors, directions.view());
  std::vector<double> solution(usize(p), 0.0);
  for (Index e = 0; e < p; ++e) {
    if (values[usize(e)] <= redundant * values.back()) continue;
    ++regression.rank;
    double along = 0;
    for (Index i = 0; i < p; ++i) along += directions(e, i) * scale[usize(i)] * entry(i, p);
    host::axpy(along / values[usize(e)], {directions.view().row(e), usize(p)}, solution);
  }
  double explained = 0;
  for (Index i = 0; i < p; ++i) {
    regression.coefficients[usize(i)] = scale[usize(i)] * solution[usize(i)];
    explained += regression.coefficients[usize(i)] * entry(i, p);
  }
  regression.explained = explained / entry(p, p);
}

}  // namespace

void write_targets(std::span<const Index> labels, PairTarget target, const PairBlock& block, double* to) {
  const double different = target == PairTarget::opposite ? -1 : 0;
  for (Index i = block.rows.begin; i < block.rows.end; ++i) {
    for (Index j = block.cols.begin; j < block.cols.end; ++j) {
      *to++ = labels[usize(i)] == labels[usize(j)] ? 1 : different;
    }
  }
}

PairRegression fit_pair_regression(const GramMatrix& kernel, const KernelRange& range, const PairSources& sources,
                                   std::span<const Index> labels, PairTarget target, const LabelAwareOptions& options,
                                   EngineMatrix* keep, Progress* progress) {
  const bool second = options.method == LabelAwareMethod::linear2 || options.method == LabelAwareMethod::fjlt2;
  const bool sketch = options.method == LabelAwareMethod::fjlt1 || options.method == LabelAwareMethod::fjlt2;
  const auto n = static_cast<double>(kernel.samples());
  PairRegression regression;
  regression.basis = pair_basis(*sources.train, second, kernel.engine(), progress);
  regression.kernel_scale = range.magnitude / n / n;
  if (sources.own != nullptr) regression.own = sources.own->names;
  const PairSamples samples(*sources.train, regression.basis);
  const PairFeatures features(regression.basis, nullptr, samples, sources.own, regression.kernel_scale);
  regression.coefficients.resize(usize(features.count()));
  solve(sketch ? sketched_pairs(kernel, features, labels, target, options, progress)
               : all_pairs(kernel, features, labels, target, keep, progress),
        kernel.algebra(), regression);
  return regression;
}

PairEstimator::PairEstimator(const LabelAware& aware, KernelPart part, const PairSources& sources) : aware_(aware) {
  const auto* regression = std::get_if<PairRegression>(&aware.estimate);
  if (regression == nullptr) return;
  train_.emplace(*sources.train, regression->basis);
  if (part == KernelPart::test) test_.emplace(*sources.test, regression->basis);
  features_.emplace(regression->basis, test_ ? &*test_ : nullptr, *train_, sources.own, regression->kernel_scale);
}

host::PairPanel PairEstimator::left_panel(Range rows, bool distances) const {
  return features_ ? features_->left_panel(rows, distances) : host::PairPanel();
}

host::PairPanel PairEstimator::right_panel(Range cols, bool distances) const {
  return features_ ? features_->right_panel(cols, distances) : host::PairPanel();
}

Index PairEstimator::evaluate(const PairBlock& block, const host::PairPanel& left, const host::PairPanel& right,
                              MatrixView<const double> k, MatrixView<double> z,
                              std::optional<Matrix<double>> distances) const {
  if (const auto* smoother = std::get_if<PairSmoother>(&aware_.estimate)) {
    Index beyond = 0;
    for (Index i = 0; i < k.rows; ++i) {
      for (Index j = 0; j < k.cols; ++j) {
        beyond += smoother->covers(k(i, j)) ? 0 : 1;
        z(i, j) = (*smoother)(k(i, j));
      }
    }
    return beyond;
  }
  const std::vector<double>& coefficients = std::get<PairRegression>(aware_.estimate).coefficients;
  const CoordinateSums sums =
      distances ? PairFeatures::sums(left, right, *std::move(distances)) : PairFeatures::sums(left, right);
  features_->evaluate(block, k, sums, [&](Index first, MatrixView<double> features) {
    const Index p = std::ssize(coefficients);
    // The spare row is scratch space for the sums.
    const std::span<double> values{features.row(p), usize(features.cols)};
    host::multiply(1, Transpose::yes, features.block(0, 0, p, features.cols), coefficients, 0, values);
    for (Index i = 0; i < features.cols / k.cols; ++i)
      std::copy_n(values.data() + i * k.cols, k.cols, z.row(first + i));
  });
  return 0;
}

}  // namespace widelimit
