#include "widelimit/kernel/classical/classical.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/matrix.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/engine/host/host.hpp"
#include "widelimit/kernel/classical/arccosine.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

namespace widelimit {

namespace {

/// One sample as the classical kernels read it: x = 2^exponent · unit, the largest |unit_k| in [½, 1).
struct ScaledRow {
  const double* values;  ///< x itself
  const double* unit;
  int exponent;
  double square;  ///< ‖unit‖², 0 for a zero row
  Index size;
};

/// Samples in double, beside a copy scaled row by row by a power of two (exact): inner products of scaled rows lie
/// within ±d whatever the scale of the data.
class ScaledRows {
 public:
  /// Error{input} names the sample and the feature that is not finite, or rows that do not fit their shape.
  ScaledRows(const SampleView& samples, std::string_view name);
  [[nodiscard]] Index count() const { return values_.rows(); }
  [[nodiscard]] Index size() const { return values_.cols(); }
  [[nodiscard]] const double* unit() const { return unit_.data(); }
  [[nodiscard]] ScaledRow operator[](Index i) const {
    const auto at = static_cast<std::size_t>(i);
    return {values_.data() + i * size(), unit_.data() + i * size(), exponents_[at], squares_[at], size()};
  }

 private:
  Matrix<double> values_;
  Matrix<double> unit_;
  std::vector<int> exponents_;
  std::vector<double> squares_;
};

Matrix<double> read(const SampleView& samples, std::string_view name) {
  return std::visit(
      [&](const auto& view) {
        if (view.cols != samples.shape.size()) {
          fail(Code::input, "{}: rows of {} values do not fit the shape {}", name, view.cols, to_string(samples.shape));
        }
        Matrix<double> values(view.rows, view.cols);
        for (Index i = 0; i < view.rows; ++i) {
          for (Index k = 0; k < view.cols; ++k) {
            const auto value = static_cast<double>(view(i, k));
            if (!std::isfinite(value)) {
              fail(Code::input, "{}: value {} of sample {} is not finite; remove or impute it", name, k, i);
            }
            values(i, k) = value;
          }
        }
        return values;
      },
      samples.dense());
}

ScaledRows::ScaledRows(const SampleView& samples, std::string_view name)
    : values_(read(samples, name)),
      unit_(values_.rows(), values_.cols()),
      exponents_(static_cast<std::size_t>(values_.rows()), 0),
      squares_(static_cast<std::size_t>(values_.rows()), 0.0) {
  for (Index i = 0; i < count(); ++i) {
    double largest = 0.0;
    for (Index k = 0; k < size(); ++k) largest = std::max(largest, std::abs(values_(i, k)));
    int exponent = 0;
    std::frexp(largest, &exponent);
    double square = 0.0;
    for (Index k = 0; k < size(); ++k) {
      unit_(i, k) = std::ldexp(values_(i, k), -exponent);
      square += unit_(i, k) * unit_(i, k);
    }
    exponents_[static_cast<std::size_t>(i)] = exponent;
    squares_[static_cast<std::size_t>(i)] = square;
  }
}

/// scale·2^exponent with the scale's own exponent split off, so that no product on the way leaves the range.
double scaled(double scale, double value, int exponent) {
  int own = 0;
  const double fraction = std::frexp(scale, &own);
  return std::ldexp(fraction * value, own + exponent);
}

// Each form turns a pair of rows, and the inner product of their scaled copies where it asks for it, into a value.

struct LinearForm {
  static constexpr bool reads_inner = true;
  double operator()(const ScaledRow& p, const ScaledRow& q, double inner) const {
    return std::ldexp(inner, p.exponent + q.exponent);
  }
};

struct PolynomialForm {
  static constexpr bool reads_inner = true;
  double gamma;
  double offset;
  Index degree;
  double operator()(const ScaledRow& p, const ScaledRow& q, double inner) const {
    return std::pow(scaled(gamma, inner, p.exponent + q.exponent) + offset, static_cast<double>(degree));
  }
};

/// ‖x−x'‖² = 2^(2·exponent)·value, by subtraction before squaring; differences are scaled by the largest of them.
struct ScaledSquare {
  double value;
  int exponent;
};

ScaledSquare direct_distance(const ScaledRow& p, const ScaledRow& q) {
  double largest = 0.0;
  for (Index k = 0; k < p.size; ++k) largest = std::max(largest, std::abs(p.values[k] - q.values[k]));
  int exponent = 0;
  std::frexp(largest, &exponent);
  double sum = 0.0;
  for (Index k = 0; k < p.size; ++k) {
    const double difference = std::ldexp(p.values[k] - q.values[k], -exponent);
    sum += difference * difference;
  }
  return {sum, exponent};
}

/// ‖x‖² + ‖x'‖² − 2⟨x,x'⟩ loses log₂((‖x‖²+‖x'‖²)/‖x−x'‖²) bits; where that is more than three, the distance is
/// computed again by subtraction. What stays is at most 8·eps·√d relative in the exponent.
struct RbfForm {
  static constexpr bool reads_inner = true;
  double gamma;
  double operator()(const ScaledRow& p, const ScaledRow& q, double inner) const {
    const int top = std::max(p.exponent, q.exponent);
    const double squares = std::ldexp(p.square, 2 * (p.exponent - top)) + std::ldexp(q.square, 2 * (q.exponent - top));
    ScaledSquare distance{squares - 2.0 * std::ldexp(inner, p.exponent + q.exponent - 2 * top), top};
    if (distance.value < squares / 8.0 || squares == 0.0) distance = direct_distance(p, q);
    return std::exp(-scaled(gamma, distance.value, 2 * distance.exponent));
  }
};

struct LaplaceForm {
  static constexpr bool reads_inner = false;
  static constexpr int far = 64;  // sums that leave the range are summed again, this many powers of two lower
  double gamma;
  double operator()(const ScaledRow& p, const ScaledRow& q, double /*inner*/) const {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (Index k = 0; k < p.size; ++k) sum += std::abs(p.values[k] - q.values[k]);
    if (std::isfinite(sum)) return std::exp(-scaled(gamma, sum, 0));
    double low = 0.0;
    for (Index k = 0; k < p.size; ++k) {
      low += std::abs(std::ldexp(p.values[k], -far) - std::ldexp(q.values[k], -far));
    }
    return std::exp(-scaled(gamma, low, far));
  }
};

/// cos θ from the inner product carries an error of a few eps, θ then one of eps/sin θ: near 0 and π the distance
/// 1 − |cos θ| = ½‖u ∓ u'‖² of the unit vectors is taken instead.
struct ArccosineForm {
  static constexpr bool reads_inner = true;
  static constexpr double near = 0x1p-6;
  ArccosineKernel angular;
  Index order;

  static Angle angle(const ScaledRow& p, const ScaledRow& q, double inner) {
    if (p.square == 0.0 || q.square == 0.0) return {};
    const double norm_p = std::sqrt(p.square);
    const double norm_q = std::sqrt(q.square);
    const double cosine = inner / (norm_p * norm_q);
    const bool acute = cosine >= 0.0;
    double t = 1.0 - std::abs(cosine);
    if (t < near) {
      double sum = 0.0;
      for (Index k = 0; k < p.size; ++k) {
        const double other = q.unit[k] / norm_q;
        const double difference = p.unit[k] / norm_p - (acute ? other : -other);
        sum += difference * difference;
      }
      t = sum / 2.0;
    }
    return Angle::from_distance(t, acute);
  }

  double operator()(const ScaledRow& p, const ScaledRow& q, double inner) const {
    const double norms = std::pow(p.square * q.square, 0.5 * static_cast<double>(order));
    return std::ldexp(norms * angular(angle(p, q, inner)) / std::numbers::pi,
                      static_cast<int>(order) * (p.exponent + q.exponent));
  }
};

struct ClassicalTile {
  Index row, col, rows, cols;
};

constexpr Index tile_size = 128;

std::vector<ClassicalTile> tiles(Index rows, Index cols, bool upper_half) {
  std::vector<ClassicalTile> list;
  for (Index i = 0; i < rows; i += tile_size) {
    for (Index j = upper_half ? i : 0; j < cols; j += tile_size) {
      list.push_back({i, j, std::min(tile_size, rows - i), std::min(tile_size, cols - j)});
    }
  }
  return list;
}

std::vector<double> inner_products(const ScaledRows& x1, const ScaledRows& x2, const ClassicalTile& tile) {
  std::vector<double> inner(static_cast<std::size_t>(tile.rows * tile.cols));
  const Index size = x1.size();
  host::product<double>(1, Transpose::no, {x1.unit() + tile.row * size, tile.rows, size, size}, Transpose::yes,
                        {x2.unit() + tile.col * size, tile.cols, size, size}, 0,
                        {inner.data(), tile.rows, tile.cols, tile.cols});
  return inner;
}

[[noreturn]] void fail_overflow(const ClassicalKernel& kernel, Index i, Index j, Precision precision) {
  fail(Code::numerical, "{}: the value for sample {} against sample {} overflows {}; scale the samples down{}",
       kernel.to_text(), i, j, to_string(precision), precision == Precision::f32 ? " or choose f64" : "");
}

template <typename T, typename Form>
Matrix<T> fill(const ClassicalKernel& kernel, const Form& form, const ScaledRows& x1, const ScaledRows& x2,
               const Engine& engine, Progress* progress) {
  const bool symmetric = &x1 == &x2;
  constexpr Precision precision = sizeof(T) == sizeof(float) ? Precision::f32 : Precision::f64;
  Matrix<T> gram(x1.count(), x2.count());
  const auto list = tiles(x1.count(), x2.count(), symmetric);
  ProgressTicker ticker(progress, static_cast<std::int64_t>(list.size()), "tiles");
  const auto fill_tile = [&](Index task) {
    const ClassicalTile& tile = list[static_cast<std::size_t>(task)];
    std::vector<double> inner;
    if constexpr (Form::reads_inner) inner = inner_products(x1, x2, tile);
    for (Index i = tile.row; i < tile.row + tile.rows; ++i) {
      for (Index j = symmetric ? std::max(i, tile.col) : tile.col; j < tile.col + tile.cols; ++j) {
        const auto at = static_cast<std::size_t>((i - tile.row) * tile.cols + j - tile.col);
        const auto value = static_cast<T>(form(x1[i], x2[j], Form::reads_inner ? inner[at] : 0.0));
        if (!std::isfinite(value)) fail_overflow(kernel, i, j, precision);
        gram(i, j) = value;
        if (symmetric) gram(j, i) = value;
      }
    }
  };
  engine.for_each(static_cast<Index>(list.size()), fill_tile, [&](Index done) { ticker.at(done); });
  return gram;
}

template <typename Form>
AnyMatrix fill(const ClassicalKernel& kernel, const Form& form, const ScaledRows& x1, const ScaledRows& x2,
               Precision precision, const Engine& engine, Progress* progress) {
  if (precision == Precision::f32) return fill<float>(kernel, form, x1, x2, engine, progress);
  return fill<double>(kernel, form, x1, x2, engine, progress);
}

}  // namespace

AnyMatrix classical_gram(const ClassicalKernel& kernel, const SampleView& x1, const std::optional<SampleView>& x2,
                         Precision precision, const Engine& engine, Progress* progress) {
  kernel.validate();
  require_cpu(engine, "classical kernels");
  if (x2 && x2->shape.size() != x1.shape.size()) {
    fail(Code::input, "samples of shape {} cannot be compared with samples of shape {}", to_string(x1.shape),
         to_string(x2->shape));
  }
  const ScaledRows rows1(x1, "x1");
  std::optional<ScaledRows> rows2;
  if (x2) rows2.emplace(*x2, "x2");
  const ScaledRows& second = rows2 ? *rows2 : rows1;

  const double gamma = kernel.gamma.value_or(1.0 / static_cast<double>(std::max<Index>(rows1.size(), 1)));
  switch (kernel.name) {
    case ClassicalKernel::Name::linear:
      return fill(kernel, LinearForm{}, rows1, second, precision, engine, progress);
    case ClassicalKernel::Name::polynomial:
      return fill(kernel, PolynomialForm{gamma, kernel.offset, kernel.degree}, rows1, second, precision, engine,
                  progress);
    case ClassicalKernel::Name::rbf:
      return fill(kernel, RbfForm{gamma}, rows1, second, precision, engine, progress);
    case ClassicalKernel::Name::laplace:
      return fill(kernel, LaplaceForm{gamma}, rows1, second, precision, engine, progress);
    case ClassicalKernel::Name::arccosine:
      return fill(kernel, ArccosineForm{ArccosineKernel(kernel.degree), kernel.degree}, rows1, second, precision,
                  engine, progress);
  }
  fail(Code::input, "a classical kernel of unknown name was asked for");
}

}  // namespace widelimit
