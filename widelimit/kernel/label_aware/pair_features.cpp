#include "widelimit/kernel/label_aware/pair_features.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/engine/host/angle_pass.hpp"
#include "widelimit/engine/host/host.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 10> set_1{"kernel",      "inner product", "cosine", "squared distance",
                                                 "norms",       "sine",          "angle",  "rbf",
                                                 "correlation", "L1 distance"};
/// Samples read at a time.
constexpr Index panel_rows = 256;
/// Pairs whose features are processed at a time: those of set 1 take 22 KiB.
constexpr Index pairs_at_once = 256;

SampleReader pair_features_reader() {
  return {"pair features", "choose the methods kr1 or kr2, which use the kernel of graphs only"};
}

/// Copies rows of samples in double.
void read_rows(const SampleView& x, Range range, MatrixView<double> into) {
  const auto copy = [&](const auto& rows) {
    for (Index i = 0; i < rows.rows; ++i) std::copy_n(rows.row(i), rows.cols, into.row(i));
  };
  std::visit(
      [&]<typename Rows>(const Rows& rows) {
        if constexpr (std::is_same_v<Rows, SparseView>) {
          copy(dense_copy(rows).view());
        } else {
          copy(rows);
        }
      },
      x.part(range.begin, range.size()).rows(pair_features_reader()));
}

template <typename Visit>
void each_panel(const SampleView& x, const Visit& visit) {
  Matrix<double> rows(std::min(panel_rows, x.count()), x.shape.size(), Content::unset);
  for (Index begin = 0; begin < x.count(); begin += panel_rows) {
    interruption_point();
    const Range range{begin, std::min(x.count(), begin + panel_rows)};
    const MatrixView<double> part = rows.view().block(0, 0, range.size(), rows.cols());
    read_rows(x, range, part);
    visit(range, part);
  }
}

std::vector<double> mean_of(const SampleView& x) {
  std::vector<double> mean(usize(x.shape.size()), 0.0);
  const auto n = static_cast<double>(x.count());
  each_panel(x, [&](Range, MatrixView<const double> rows) {
    for (Index i = 0; i < rows.rows; ++i) host::axpy(1 / n, {rows.row(i), mean.size()}, mean);
  });
  return mean;
}

/// Calls visit(range, rows − centre).
template <typename Visit>
void each_centred(const SampleView& x, const std::vector<double>& centre, const Visit& visit) {
  each_panel(x, [&](Range range, MatrixView<double> rows) {
    for (Index i = 0; i < rows.rows; ++i) host::axpy(-1, centre, {rows.row(i), centre.size()});
    visit(range, MatrixView<const double>(rows));
  });
}

/// Σ (x − µ)(x − µ)ᵀ, d × d.
Matrix<double> scatter_of(const SampleView& x, const std::vector<double>& centre, const Algebra& algebra) {
  Matrix<double> scatter(x.shape.size(), x.shape.size());
  each_centred(x, centre, [&](Range, MatrixView<const double> rows) {
    algebra.host_product(1, Transpose::yes, rows, Transpose::no, rows, 1, scatter.view());
  });
  return scatter;
}

/// ⟨x − µ, x' − µ⟩, n × n, with the same non-zero eigenvalues as the scatter matrix.
Matrix<double> centred_gram(const SampleView& x, const std::vector<double>& centre, const Algebra& algebra) {
  Matrix<double> gram(x.count(), x.count());
  each_centred(x, centre, [&](Range left, MatrixView<const double> a) {
    each_centred(x, centre, [&](Range right, MatrixView<const double> b) {
      algebra.host_product(1, Transpose::no, a, Transpose::yes, b, 0,
                           gram.view().block(left.begin, right.begin, left.size(), right.size()));
    });
  });
  return gram;
}

/// Leading principal directions in order of decreasing variance; fewer than most_components if the rank is lower.
Matrix<double> principal_components(const SampleView& x, const std::vector<double>& centre, const Engine& engine,
                                    Progress* progress) {
  const Algebra& algebra = engine.algebra();
  const Index d = x.shape.size();
  const bool by_features = d <= x.count();
  const Index size = std::min(d, x.count());
  require_memory(4 * sizeof(double) * static_cast<double>(size) * static_cast<double>(size), std::nullopt,
                 "principal components of the samples", "use pair features without them", {Remedy::fewer_samples});
  const Matrix<double> m = by_features ? scatter_of(x, centre, algebra) : centred_gram(x, centre, algebra);
  EngineMatrix vectors;
  const std::vector<double> values = algebra.eigenvectors(algebra.copy_of(m.view()), vectors, progress);
  const double rounding = static_cast<double>(size) * std::numeric_limits<double>::epsilon() * values.back();
  Index count = 0;
  while (count < std::min(size, PairBasis::most_components) && values[usize(size - 1 - count)] > rounding) ++count;
  Matrix<double> leading(count, size);
  for (Index c = 0; c < count; ++c) {
    algebra.read(vectors.block(size - 1 - c, 0, 1, size), leading.view().block(c, 0, 1, size));
  }
  if (by_features) return leading;
  // v = (X − µ)ᵀu/√λ.
  Matrix<double> components(count, d);
  each_centred(x, centre, [&](Range range, MatrixView<const double> rows) {
    algebra.host_product(1, Transpose::no, leading.view().block(0, range.begin, count, range.size()), Transpose::no,
                         rows, 1, components.view());
  });
  for (Index c = 0; c < count; ++c) {
    const double norm = host::norm({components.view().row(c), usize(d)});
    std::for_each_n(components.view().row(c), d, [&](double& v) { v /= norm; });
  }
  return components;
}

}  // namespace

PairBasis pair_basis(const SampleView& x, bool components, const Engine& engine, Progress* progress) {
  (void)x.rows(pair_features_reader());
  const auto n = static_cast<double>(x.count());
  std::vector<double> centre = mean_of(x);
  // Σ_ij ‖x_i − x_j‖² = 2n Σ_i ‖x_i − µ‖².
  double spread = 0;
  each_centred(x, centre, [&](Range, MatrixView<const double> rows) {
    for (Index i = 0; i < rows.rows; ++i)
      spread += host::dot({rows.row(i), centre.size()}, {rows.row(i), centre.size()});
  });
  if (!std::isfinite(spread)) {
    fail(Code::input, "squared distances of the samples overflow; scale the samples");
  }
  if (spread <= 0) fail(Code::input, "all samples are equal; pair features cannot distinguish their classes");
  PairBasis basis;
  basis.mean_square = 2 * spread / n;
  if (!components) return basis;
  basis.components = principal_components(x, centre, engine, progress);
  basis.centre = std::move(centre);
  return basis;
}

std::vector<std::string> pair_feature_names(const PairBasis& basis, Index own) {
  std::vector<std::string> names(set_1.begin(), set_1.end());
  for (Index c = 1; c <= basis.components.rows(); ++c) names.push_back(fmt::format("component {} product", c));
  for (Index c = 1; c <= basis.components.rows(); ++c) names.push_back(fmt::format("component {} difference", c));
  for (Index f = 1; f <= own; ++f) names.push_back(fmt::format("own {}", f));
  return names;
}

PairSamples::PairSamples(const SampleView& x, const PairBasis& basis)
    : x_(x), scores_(x.count(), basis.components.rows()) {
  if (!basis.centre.empty() && std::ssize(basis.centre) != x.shape.size()) {
    fail(Code::input, "pair features were fitted to samples of {} values; these have {}", basis.centre.size(),
         x.shape.size());
  }
  const double length = static_cast<double>(x.shape.size()) + 1;
  each_panel(x, [&](Range range, MatrixView<double> rows) {
    for (Index i = 0; i < rows.rows; ++i) {
      const std::span<double> row{rows.row(i), usize(rows.cols)};
      double sum = 1;
      for (const double value : row) sum += value;
      const double mean = sum / length;
      double variance = (1 - mean) * (1 - mean);
      for (const double value : row) variance += (value - mean) * (value - mean);
      square_.push_back(host::dot(row, row) + 1);
      norm_.push_back(std::sqrt(square_.back()));
      mean_.push_back(mean);
      inverse_.push_back(variance > 0 ? 1 / std::sqrt(variance) : 0);
      if (scores_.cols() == 0) continue;
      host::axpy(-1, basis.centre, row);
      host::multiply(1, Transpose::no, basis.components.view(), row, 0,
                     {scores_.view().row(range.begin + i), usize(scores_.cols())});
    }
  });
}

PairFeatures::PairFeatures(const PairBasis& basis, const PairSamples* left, const PairSamples& right,
                           const PairFunctions* own, double kernel_scale)
    : basis_(basis), left_(left), right_(right), own_(own), kernel_scale_(kernel_scale) {}

host::PairPanel PairFeatures::panel(const PairSamples& samples, Range range, host::PairPanel::Side side,
                                    bool distances) {
  const double* means = samples.mean_.data() + range.begin;
  const NumberRows numbers = samples.x_.part(range.begin, range.size()).rows(pair_features_reader());
  if (const auto* rows = std::get_if<MatrixView<const double>>(&numbers)) return {*rows, means, side, distances};
  Matrix<double> copy(range.size(), samples.x_.shape.size(), Content::unset);
  read_rows(samples.x_, range, copy.view());
  return {copy.view(), means, side, distances};
}

host::PairPanel PairFeatures::left_panel(Range rows, bool distances) const {
  return panel(left_ != nullptr ? *left_ : right_, rows, host::PairPanel::Side::left, distances);
}

host::PairPanel PairFeatures::right_panel(Range cols, bool distances) const {
  return panel(right_, cols, host::PairPanel::Side::right, distances);
}

CoordinateSums PairFeatures::sums(const host::PairPanel& left, const host::PairPanel& right) {
  CoordinateSums result{Matrix<double>(left.rows(), right.rows(), Content::unset),
                        Matrix<double>(left.rows(), right.rows(), Content::unset)};
  host::pair_products(left, right, result.products.view(), result.distances.view());
  return result;
}

CoordinateSums PairFeatures::sums(const host::PairPanel& left, const host::PairPanel& right, Matrix<double> distances) {
  CoordinateSums result{Matrix<double>(left.rows(), right.rows(), Content::unset), std::move(distances)};
  host::pair_products(left, right, result.products.view());
  return result;
}

void PairFeatures::evaluate(const PairBlock& block, MatrixView<const double> k, const CoordinateSums& sums,
                            const Take& take) const {
  const Index cols = block.cols.size();
  const Matrix<double> own = of_caller(block);
  const Index rows = std::min(block.rows.size(), std::max<Index>(1, pairs_at_once / cols));
  Matrix<double> features(count() + 1, rows * cols, Content::unset);
  for (Index first = 0; first < block.rows.size(); first += rows) {
    const Index height = std::min(rows, block.rows.size() - first);
    const MatrixView<double> out = features.view().block(0, 0, count() + 1, height * cols);
    for (Index i = 0; i < height; ++i) {
      for (Index j = 0; j < cols; ++j) out(0, i * cols + j) = k(first + i, j) / kernel_scale_;
    }
    const Index begin = block.rows.begin + first;
    const PairBlock part{{begin, begin + height}, block.cols};
    of_samples(part, sums, first, out);
    of_components(part, out);
    for (Index f = 0; f < own.rows(); ++f)
      std::copy_n(own.view().row(f) + first * cols, out.cols, out.row(basis_.count() + f));
    take(first, out);
  }
}

/// Inner products use centred rows, which keeps the correlation of nearly constant rows accurate:
/// ⟨x, x'⟩ = ⟨x − m, x' − m'⟩ + (d + 1) m m'. Squared distances are accurate to a few ε(‖x‖² + ‖x'‖²), angles to √ε.
void PairFeatures::of_samples(const PairBlock& part, const CoordinateSums& sums, Index first,
                              MatrixView<double> out) const {
  const PairSamples& left = left_ != nullptr ? *left_ : right_;
  const Index cols = part.cols.size();
  const double length = static_cast<double>(right_.x_.shape.size()) + 1;
  const auto side = [](const PairSamples& samples) {
    return host::AngleSide{samples.norm_.data(), samples.square_.data(), samples.mean_.data(), samples.inverse_.data()};
  };
  for (Index i = 0; i < part.rows.size(); ++i) {
    const auto at = [&](Index f) { return out.row(f) + i * cols; };
    std::copy_n(sums.distances.view().row(first + i), cols, at(9));
    const Index p = part.rows.begin + i;
    host::angle_pass(side(left), p, side(right_), part.cols.begin, cols, length, basis_.mean_square,
                     {sums.products.view().row(first + i), at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8)});
    // The values for a sample with itself are known exactly.
    if (left_ != nullptr || p < part.cols.begin || p >= part.cols.end) continue;
    const double square = right_.square_[usize(p)];
    const std::array<double, 8> own{square, 1, 0, square, 0, 0, 1, right_.inverse_[usize(p)] > 0 ? 1.0 : 0.0};
    for (Index f = 1; f <= std::ssize(own); ++f) at(f)[p - part.cols.begin] = own[usize(f - 1)];
  }
}

void PairFeatures::of_components(const PairBlock& part, MatrixView<double> out) const {
  const PairSamples& left = left_ != nullptr ? *left_ : right_;
  const Index cols = part.cols.size();
  const Index components = basis_.components.rows();
  for (Index c = 0; c < components; ++c) {
    for (Index i = 0; i < part.rows.size(); ++i) {
      const double s = left.scores_(part.rows.begin + i, c);
      for (Index j = 0; j < cols; ++j) {
        const double t = right_.scores_(part.cols.begin + j, c);
        out(10 + c, i * cols + j) = s * t;
        out(10 + components + c, i * cols + j) = std::abs(s - t);
      }
    }
  }
}

/// User-supplied features of a block, validated: one row per feature, an empty matrix if there are none.
Matrix<double> PairFeatures::of_caller(const PairBlock& block) const {
  if (own_ == nullptr) return {};
  Matrix<double> out(own_->count(), block.pairs(), Content::unset);
  const SampleView& left = left_ != nullptr ? left_->x_ : right_.x_;
  own_->evaluate(left.part(block.rows.begin, block.rows.size()), right_.x_.part(block.cols.begin, block.cols.size()),
                 out.view());
  const Index cols = block.cols.size();
  const bool square = left_ == nullptr && block.rows.begin == block.cols.begin && block.rows.size() == cols;
  for (Index f = 0; f < own_->count(); ++f) {
    // Tolerance for features that sum in an order that depends on the order of the arguments.
    const double allowed =
        1e-9 * std::abs(*std::max_element(out.view().row(f), out.view().row(f) + out.cols(),
                                          [](double a, double b) { return std::abs(a) < std::abs(b); }));
    for (Index at = 0; at < out.cols(); ++at) {
      const Index i = at / cols;
      const Index j = at % cols;
      const double value = out(f, at);
      if (!std::isfinite(value)) {
        fail(Code::input, "pair feature {} of samples {} and {} is {}", f + 1, block.rows.begin + i,
             block.cols.begin + j, value);
      }
      if (!square) continue;
      const double mirror = out(f, j * cols + i);
      if (std::abs(value - mirror) > allowed) {
        fail(Code::input, "pair feature {} is not symmetric: for samples {} and {} it is {}, with arguments swapped {}",
             f + 1, block.rows.begin + i, block.cols.begin + j, value, mirror);
      }
    }
  }
  return out;
}

}  // namespace widelimit
