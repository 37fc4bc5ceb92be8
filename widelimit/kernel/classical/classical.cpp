#include "widelimit/kernel/classical/classical.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/matrix.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/engine/tiles.hpp"
#include "widelimit/kernel/classical/arccosine.hpp"
#include "widelimit/kernel/classical/scaled_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

namespace widelimit {

namespace {

/// scale·value·2^exponent; the exponent of `scale` is extracted first, so that no intermediate product overflows.
double scaled(double scale, double value, int exponent) {
  int own = 0;
  const double fraction = std::frexp(scale, &own);
  return std::ldexp(fraction * value, own + exponent);
}

/// Inner products of scaled rows, one tile at a time in host memory; this version is for sparse rows, on the CPU.
template <typename Rows>
class RowProducts {
 public:
  RowProducts(const Rows& x1, const Rows& x2, const Engine& /*engine*/) : x1_(x1), x2_(x2) {}
  void multiply(Range rows, Range cols, MatrixView<double> out) const { x1_.multiply(rows, x2_, cols, out); }

 private:
  const Rows& x1_;
  const Rows& x2_;
};

/// Dense rows are copied once to an engine with its own memory and multiplied there in float64.
template <>
class RowProducts<ScaledRows> {
 public:
  RowProducts(const ScaledRows& x1, const ScaledRows& x2, const Engine& engine);
  void multiply(Range rows, Range cols, MatrixView<double> out) const;

 private:
  const ScaledRows& x1_;
  const ScaledRows& x2_;
  const Algebra* algebra_;  ///< null if the CPU multiplies
  EngineMatrix first_;
  EngineMatrix second_;
};

RowProducts<ScaledRows>::RowProducts(const ScaledRows& x1, const ScaledRows& x2, const Engine& engine)
    : x1_(x1), x2_(x2), algebra_(device_matrices(engine) != nullptr ? &engine.algebra() : nullptr) {
  if (algebra_ == nullptr) return;
  first_ = algebra_->hold(x1.unit());
  second_ = &x1 == &x2 ? first_ : algebra_->hold(x2.unit());
}

void RowProducts<ScaledRows>::multiply(Range rows, Range cols, MatrixView<double> out) const {
  if (algebra_ == nullptr) return x1_.multiply(rows, x2_, cols, out);
  EngineMatrix products = algebra_->allocate(rows.size(), cols.size(), Precision::f64);
  algebra_->product(1, Transpose::no, first_.block(rows.begin, 0, rows.size(), first_.cols()), Transpose::yes,
                    second_.block(cols.begin, 0, cols.size(), second_.cols()), 0, products);
  algebra_->read(products, out);
}

// Each form maps a pair of rows, and the inner product of their scaled copies if reads_inner, to a kernel value.

struct LinearForm {
  static constexpr bool reads_inner = true;
  template <typename Row>
  double operator()(const Row& p, const Row& q, double inner) const {
    return std::ldexp(inner, p.exponent + q.exponent);
  }
};

struct PolynomialForm {
  static constexpr bool reads_inner = true;
  double gamma;
  double offset;
  Index degree;
  template <typename Row>
  double operator()(const Row& p, const Row& q, double inner) const {
    return std::pow(scaled(gamma, inner, p.exponent + q.exponent) + offset, static_cast<double>(degree));
  }
};

/// ‖x‖² + ‖x'‖² − 2⟨x,x'⟩ loses log₂((‖x‖²+‖x'‖²)/‖x−x'‖²) bits; if that exceeds three, the distance is recomputed by
/// subtraction. The remaining relative error of the exponent is at most 8·eps·√d.
struct RbfForm {
  static constexpr bool reads_inner = true;
  double gamma;
  template <typename Row>
  double operator()(const Row& p, const Row& q, double inner) const {
    const int top = std::max(p.exponent, q.exponent);
    const double squares = std::ldexp(p.square, 2 * (p.exponent - top)) + std::ldexp(q.square, 2 * (q.exponent - top));
    ScaledSquare distance{squares - 2.0 * std::ldexp(inner, p.exponent + q.exponent - 2 * top), top};
    if (distance.value < squares / 8.0 || squares == 0.0) distance = squared_distance(p, q);
    return std::exp(-scaled(gamma, distance.value, 2 * distance.exponent));
  }
};

struct LaplaceForm {
  static constexpr bool reads_inner = false;
  static constexpr int far = 64;  // sums that overflow are recomputed scaled by 2^−far
  double gamma;
  template <typename Row>
  double operator()(const Row& p, const Row& q, double /*inner*/) const {
    const double sum = absolute_distance(p, q);
    if (std::isfinite(sum)) return std::exp(-scaled(gamma, sum, 0));
    return std::exp(-scaled(gamma, absolute_distance(p, q, far), far));
  }
};

/// cos θ computed from the inner product has an error of a few eps, hence θ one of eps/sin θ; near 0 and π, the
/// distance 1 − |cos θ| = ½‖u ∓ u'‖² of the unit vectors is used instead.
struct ArccosineForm {
  static constexpr bool reads_inner = true;
  static constexpr double near = 0x1p-6;
  ArccosineKernel angular;
  Index order;

  template <typename Row>
  static Angle angle(const Row& p, const Row& q, double inner) {
    if (p.square == 0.0 || q.square == 0.0) return {};
    const double norm_p = std::sqrt(p.square);
    const double norm_q = std::sqrt(q.square);
    const double cosine = inner / (norm_p * norm_q);
    const bool acute = cosine >= 0.0;
    double t = 1.0 - std::abs(cosine);
    if (t < near) t = direction_distance(p, norm_p, q, acute ? norm_q : -norm_q) / 2.0;
    return Angle::from_distance(t, acute);
  }

  template <typename Row>
  double operator()(const Row& p, const Row& q, double inner) const {
    const double norms = std::pow(p.square * q.square, 0.5 * static_cast<double>(order));
    return std::ldexp(norms * angular(angle(p, q, inner)) / std::numbers::pi,
                      static_cast<int>(order) * (p.exponent + q.exponent));
  }
};

/// Tile edge of a classical kernel: small enough for the caches of a CPU, large enough for a device.
Index tile_edge(const Engine& engine) {
  constexpr Index processor_edge = 128;
  constexpr Index device_edge = 1024;
  return device_matrices(engine) != nullptr ? device_edge : processor_edge;
}

[[noreturn]] void fail_overflow(const ClassicalKernel& kernel, Index i, Index j, Precision precision) {
  fail(Code::numerical, "{}: the value for sample {} against sample {} overflows {}; scale the samples down{}",
       kernel.to_text(), i, j, to_string(precision), precision == Precision::f32 ? " or choose f64" : "");
}

template <typename T, typename Form, typename Rows>
Matrix<T> fill(const ClassicalKernel& kernel, const Form& form, const Rows& x1, const Rows& x2, const Engine& engine,
               Progress* progress) {
  const bool symmetric = &x1 == &x2;
  Matrix<T> gram(x1.count(), x2.count());
  std::vector<Tile> tiles = rectangle_tiles({0, x1.count()}, {0, x2.count()}, tile_edge(engine));
  if (symmetric) std::erase_if(tiles, [](const Tile& tile) { return tile.cols.begin < tile.rows.begin; });
  std::optional<RowProducts<Rows>> products;
  if constexpr (Form::reads_inner) products.emplace(x1, x2, engine);
  ProgressTicker ticker(progress, std::ssize(tiles), "tiles");
  const auto fill_tile = [&](Index task) {
    const auto& [rows, cols] = tiles[usize(task)];
    Matrix<double> inner(Form::reads_inner ? rows.size() : 0, cols.size());
    if constexpr (Form::reads_inner) products->multiply(rows, cols, inner.view());
    for (Index i = rows.begin; i < rows.end; ++i) {
      for (Index j = symmetric ? std::max(i, cols.begin) : cols.begin; j < cols.end; ++j) {
        const double product = Form::reads_inner ? inner(i - rows.begin, j - cols.begin) : 0.0;
        const auto value = static_cast<T>(form(x1[i], x2[j], product));
        if (!std::isfinite(value)) fail_overflow(kernel, i, j, precision_of<T>);
        gram(i, j) = value;
        if (symmetric) gram(j, i) = value;
      }
    }
  };
  engine.for_each(std::ssize(tiles), fill_tile, [&](Index done) { ticker.at(done); });
  return gram;
}

template <typename Rows>
AnyMatrix gram_of(const ClassicalKernel& kernel, const Rows& x1, const Rows& x2, Precision precision,
                  const Engine& engine, Progress* progress) {
  const auto filled = [&](const auto& form) -> AnyMatrix {
    if (precision == Precision::f32) return fill<float>(kernel, form, x1, x2, engine, progress);
    return fill<double>(kernel, form, x1, x2, engine, progress);
  };
  const double gamma = kernel.gamma.value_or(1.0 / static_cast<double>(std::max<Index>(x1.size(), 1)));
  switch (kernel.name) {
    case ClassicalKernel::Name::linear:
      return filled(LinearForm{});
    case ClassicalKernel::Name::polynomial:
      return filled(PolynomialForm{gamma, kernel.offset, kernel.degree});
    case ClassicalKernel::Name::rbf:
      return filled(RbfForm{gamma});
    case ClassicalKernel::Name::laplace:
      return filled(LaplaceForm{gamma});
    case ClassicalKernel::Name::arccosine:
      return filled(ArccosineForm{ArccosineKernel(kernel.degree), kernel.degree});
  }
  fail(Code::input, "unknown classical kernel");
}

/// Converts the samples to `Rows`; without x2, computes the kernel of x1 with itself.
template <typename Rows>
AnyMatrix gram_of(const ClassicalKernel& kernel, const SampleView& x1, const std::optional<SampleView>& x2,
                  Precision precision, const Engine& engine, Progress* progress) {
  const Rows rows1(x1, "x1");
  if (!x2) return gram_of(kernel, rows1, rows1, precision, engine, progress);
  const Rows rows2(*x2, "x2");
  return gram_of(kernel, rows1, rows2, precision, engine, progress);
}

}  // namespace

AnyMatrix classical_gram(const ClassicalKernel& kernel, const SampleView& x1, const std::optional<SampleView>& x2,
                         Precision precision, const Engine& engine, Progress* progress) {
  kernel.validate();
  if (device_matrices(engine) == nullptr) require_cpu(engine, "classical kernels");
  if (x2 && x2->shape.size() != x1.shape.size()) {
    fail(Code::input, "samples of shape {} cannot be compared with samples of shape {}", to_string(x1.shape),
         to_string(x2->shape));
  }
  const bool sparse = x1.sparse() != nullptr || (x2 && x2->sparse() != nullptr);
  if (sparse) return gram_of<SparseRows>(kernel, x1, x2, precision, engine, progress);
  return gram_of<ScaledRows>(kernel, x1, x2, precision, engine, progress);
}

std::string classical_route(const ClassicalKernel& kernel, bool sparse, const Engine& engine) {
  if (device_matrices(engine) == nullptr) return "classical kernel, by its formula";
  if (sparse || kernel.name == ClassicalKernel::Name::laplace)
    return "classical kernel, by its formula on the processor";
  return fmt::format("classical kernel, products of samples on {}, its formula on the processor", engine.name());
}

}  // namespace widelimit
