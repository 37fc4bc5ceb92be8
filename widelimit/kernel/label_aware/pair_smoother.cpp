#include "widelimit/kernel/label_aware/pair_estimate.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/engine/host/host.hpp"
#include "widelimit/kernel/label_aware/pair_tiles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

/// Target matrix in factored form, Σ_c sign_c b_c b_cᵀ with columns b_c: one column y = ±1 for two classes with signed
/// targets; else the class indicators, and for signed targets −11ᵀ.
struct TargetColumns {
  Matrix<double> columns;
  std::vector<double> signs;
};

TargetColumns target_columns(std::span<const Index> labels, PairTarget target) {
  const Index n = std::ssize(labels);
  const Index classes = *std::max_element(labels.begin(), labels.end()) + 1;
  const bool opposite = target == PairTarget::opposite;
  TargetColumns result;
  if (opposite && classes == 2) {
    result.columns = Matrix<double>(n, 1);
    for (Index i = 0; i < n; ++i) result.columns(i, 0) = labels[usize(i)] == 1 ? 1 : -1;
    result.signs = {1};
    return result;
  }
  result.columns = Matrix<double>(n, classes + (opposite ? 1 : 0));
  for (Index i = 0; i < n; ++i) {
    result.columns(i, labels[usize(i)]) = 1;
    if (opposite) result.columns(i, classes) = 1;
  }
  result.signs.assign(usize(classes), opposite ? 2 : 1);
  if (opposite) result.signs.push_back(-1);
  return result;
}

/// b = H⁻¹b.
void solve_kernel(const GramMatrix& kernel, MatrixView<double> b, Progress* progress) {
  const Algebra& algebra = kernel.algebra();
  EngineMatrix factor = algebra.copy_of(kernel.matrix(), Precision::f64);
  if (const Index minor = algebra.cholesky(factor, progress); minor != 0) {
    fail(Code::numerical,
         "kr2 needs the inverse of the kernel of the training samples, which is not positive definite (leading minor "
         "{}); remove equal samples, add to its diagonal, or choose kr1",
         minor);
  }
  algebra.solve_factored(factor, b);
}

/// Targets of a block: Σ_c sign_c b_c b_cᵀ.
void write_products(const TargetColumns& targets, const PairBlock& block, MatrixView<double> to) {
  const Index count = targets.columns.cols();
  Matrix<double> signed_rows(block.rows.size(), count, Content::unset);
  for (Index i = 0; i < block.rows.size(); ++i) {
    for (Index c = 0; c < count; ++c) {
      signed_rows(i, c) = targets.signs[usize(c)] * targets.columns(block.rows.begin + i, c);
    }
  }
  host::product<double>(1, Transpose::no, signed_rows.view(), Transpose::yes,
                        targets.columns.view().block(block.cols.begin, 0, block.cols.size(), count), 0, to);
}

}  // namespace

KernelRange kernel_range(const GramMatrix& kernel, Progress* progress) {
  KernelRange range{.least = std::numeric_limits<double>::infinity(),
                    .largest = -std::numeric_limits<double>::infinity()};
  over_pairs(
      kernel, progress,
      [](const PairBlock&, MatrixView<const double> k) {
        KernelRange part{.least = k(0, 0), .largest = k(0, 0)};
        for (Index i = 0; i < k.rows; ++i) {
          for (Index j = 0; j < k.cols; ++j) {
            part.least = std::min(part.least, k(i, j));
            part.largest = std::max(part.largest, k(i, j));
            part.magnitude += std::abs(k(i, j));
          }
        }
        return part;
      },
      [&](const KernelRange& part, double weight) {
        range.least = std::min(range.least, part.least);
        range.largest = std::max(range.largest, part.largest);
        range.magnitude += weight * part.magnitude;
      });
  if (!(range.magnitude > 0)) fail(Code::input, "the kernel is 0 for all pairs of samples");
  return range;
}

/// With w = 4 − (t − t_ij)² the sums over pairs are quadratics in t: Σ w z = (4 − t²)Σz + 2tΣtz − Σt²z with t and t_ij
/// in [−1, 1]; the published form in Θ itself cancels numbers as large as n²Θ².
PairSmoother fit_smoother(const GramMatrix& kernel, const KernelRange& range, std::span<const Index> labels,
                          PairTarget target, bool inverse, Progress* progress) {
  PairSmoother smoother;
  smoother.centre = range.least / 2 + range.largest / 2;
  smoother.half_width = range.largest / 2 - range.least / 2;
  if (!(smoother.half_width > 0)) {
    fail(Code::input,
         "the kernel is {} for all pairs of samples; kernel regression needs a kernel that is not constant",
         range.least);
  }
  TargetColumns targets = target_columns(labels, target);
  if (inverse) solve_kernel(kernel, targets.columns.view(), progress);
  CompensatedSums sums(6);  // Σz, Σtz, Σt²z, and the same without z
  over_pairs(
      kernel, progress,
      [&](const PairBlock& block, MatrixView<const double> k) {
        Matrix<double> z(k.rows, k.cols, Content::unset);
        write_products(targets, block, z.view());
        std::array<double, 6> part{};
        for (Index i = 0; i < k.rows; ++i) {
          for (Index j = 0; j < k.cols; ++j) {
            const double t = (k(i, j) - smoother.centre) / smoother.half_width;
            part[0] += z(i, j);
            part[1] += t * z(i, j);
            part[2] += t * t * z(i, j);
            part[4] += t;
            part[5] += t * t;
          }
        }
        part[3] = static_cast<double>(block.pairs());
        return part;
      },
      [&](const std::array<double, 6>& part, double weight) { sums.add(part, weight); });
  const std::vector<double> s = sums.values();
  smoother.numerator = {4 * s[0] - s[2], 2 * s[1], -s[0]};
  smoother.denominator = {4 * s[3] - s[5], 2 * s[4], -s[3]};
  return smoother;
}

}  // namespace widelimit
