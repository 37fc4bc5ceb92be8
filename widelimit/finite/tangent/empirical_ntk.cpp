#include "widelimit/finite/tangent/empirical_ntk.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/matrix.hpp"
#include "widelimit/base/transpose.hpp"
#include "widelimit/finite/backward.hpp"
#include "widelimit/finite/tangent/engine_contraction.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace widelimit {

namespace {

/// Number of values of one tile of products, and of one panel of contracted gradients.
constexpr Index tile_numbers = Index{1} << 20;
constexpr Index panel_numbers = Index{1} << 26;

/// Number of samples per tile: rows and columns.
struct TileSize {
  Index rows;
  Index cols;
};
TileSize tile_size(Index positions) {
  const Index rows = std::max<Index>(1, 256 / positions);
  return {rows, std::max<Index>(1, tile_numbers / (rows * positions * positions))};
}

/// kernel += (w²·A Aᵀ + b²)∘(D Dᵀ), summed over the positions of both samples.
template <std::floating_point T>
void contract_pairs(const WeightSlot& slot, const GradientFactors<T>& g1, const GradientFactors<T>& g2,
                    MatrixView<T> kernel, bool symmetric, const Engine& engine, Progress* progress) {
  const Index positions = g1.d->shape().positions();
  const TileSize tile = tile_size(positions);
  std::vector<T> a;
  std::vector<T> d;
  const auto w_square = static_cast<T>(slot.w_scale * slot.w_scale);
  const auto b_square = static_cast<T>(slot.b_scale * slot.b_scale);
  for (Index i = 0; i < kernel.rows; i += tile.rows) {
    const Index tall = std::min(tile.rows, kernel.rows - i);
    const Index rows = tall * positions;
    for (Index j = symmetric ? i : 0; j < kernel.cols; j += tile.cols) {
      stop_if_requested(progress);
      const Index wide = std::min(tile.cols, kernel.cols - j);
      const Index cols = wide * positions;
      const auto inner = [&](const Tensor<T>& left, const Tensor<T>& right, std::vector<T>& products) {
        products.resize(static_cast<std::size_t>(rows * cols));
        engine.algebra().host_product(1, Transpose::no, left.matrix(i, tall), Transpose::yes, right.matrix(j, wide), 0,
                                      {products.data(), rows, cols, cols});
      };
      inner(*g1.a, *g2.a, a);
      inner(*g1.d, *g2.d, d);
      for (Index p = 0; p < rows; ++p) {
        T* to = kernel.row(i + p / positions) + j;
        const T* a_row = a.data() + p * cols;
        const T* d_row = d.data() + p * cols;
        for (Index s = 0; s < wide; ++s) {
          T sum = 0;
          for (Index q = s * positions; q < (s + 1) * positions; ++q)
            sum += (w_square * a_row[q] + b_square) * d_row[q];
          to[s] += sum;
        }
      }
    }
  }
}

/// Returns rows Σ_p (w_scale·a_p d_pᵀ, b_scale·d_p) of samples [first, first + count): the gradients of this slot.
template <std::floating_point T>
std::vector<T> contracted(const WeightSlot& slot, const GradientFactors<T>& g, Index first, Index count,
                          const Engine& engine) {
  const Index positions = g.d->shape().positions();
  const Index weights = slot.fan_in * slot.fan_out;
  const Index row_size = slot.size();
  std::vector<T> rows(static_cast<std::size_t>(count * row_size));
  engine.for_each(count, [&](Index s) {
    T* row = rows.data() + s * row_size;
    const T* d = g.d->sample(first + s);
    engine.algebra().host_product(slot.w_scale, Transpose::yes, g.a->matrix(first + s, 1), Transpose::no,
                                  g.d->matrix(first + s, 1), 0, {row, slot.fan_in, slot.fan_out, slot.fan_out});
    for (Index p = 0; slot.biased() && p < positions; ++p) {
      for (Index o = 0; o < slot.fan_out; ++o)
        row[weights + o] += static_cast<T>(slot.b_scale) * d[p * slot.fan_out + o];
    }
  });
  return rows;
}

template <std::floating_point T>
void contract_positions(const WeightSlot& slot, const GradientFactors<T>& g1, const GradientFactors<T>& g2,
                        MatrixView<T> kernel, bool symmetric, const Engine& engine, Progress* progress) {
  const Index row_size = slot.size();
  const Index panel = std::max<Index>(1, panel_numbers / row_size);
  std::vector<T> products;
  for (Index i = 0; i < kernel.rows; i += panel) {
    const Index rows = std::min(panel, kernel.rows - i);
    const std::vector<T> left = contracted(slot, g1, i, rows, engine);
    for (Index j = symmetric ? i : 0; j < kernel.cols; j += panel) {
      stop_if_requested(progress);
      const Index cols = std::min(panel, kernel.cols - j);
      const bool same = symmetric && i == j;
      const std::vector<T> other = same ? std::vector<T>{} : contracted(slot, g2, j, cols, engine);
      products.resize(static_cast<std::size_t>(rows * cols));
      engine.algebra().host_product(1, Transpose::no, {left.data(), rows, row_size, row_size}, Transpose::yes,
                                    {same ? left.data() : other.data(), cols, row_size, row_size}, 0,
                                    {products.data(), rows, cols, cols});
      for (Index r = 0; r < rows; ++r) {
        for (Index c = 0; c < cols; ++c) kernel(i + r, j + c) += products[static_cast<std::size_t>(r * cols + c)];
      }
    }
  }
}

/// Adds one slot's part of the empirical kernel to `kernel`; if g1 and g2 are the same, only on and above the diagonal.
/// [empirical_ntk.hpp]
template <std::floating_point T>
void contract_slot(const WeightSlot& slot, const GradientFactors<T>& g1, const GradientFactors<T>& g2,
                   MatrixView<T> kernel, const Engine& engine, Progress* progress) {
  const bool symmetric = g1.a == g2.a && g1.d == g2.d;
  const Index positions = g1.d->shape().positions();
  if (slot.fan_in * slot.fan_out < positions * positions * (slot.fan_in + slot.fan_out)) {
    contract_positions(slot, g1, g2, kernel, symmetric, engine, progress);
  } else {
    contract_pairs(slot, g1, g2, kernel, symmetric, engine, progress);
  }
}

constexpr std::array<std::string_view, 2> ntk_outputs_names{"trace", "full"};

/// A kernel in the memory of an engine, initially 0.
template <std::floating_point T>
class EngineKernel {
 public:
  EngineKernel(const std::shared_ptr<LayerPasses<T>>& layers, Index rows, Index cols)
      : layers_(layers),
        entries_(Values<T>::unset(static_cast<std::size_t>(rows * cols))),
        view_{entries_.write(layers), rows, cols, cols} {
    layers->clear(view_.data, rows * cols);
  }

  void add(const Architecture& architecture, const Gradient<T>& g1, const Gradient<T>& g2, Progress* progress) {
    add_contraction(layers_, architecture, g1, g2, view_, progress);
  }
  /// Returns factor·kernel; if `symmetric`, entries below the diagonal are copied from above it.
  Matrix<T> read(T factor, bool symmetric) {
    Matrix<T> result(view_.rows, view_.cols, Content::unset);
    if (view_.rows == 0 || view_.cols == 0) return result;
    if (symmetric) layers_->mirror_upper(view_);
    const Index count = view_.rows * view_.cols;
    if (factor != T{1}) layers_->combine(factor, view_.data, T{0}, nullptr, count, view_.data);
    layers_->download(view_.data, count, result.data());
    return result;
  }

 private:
  std::shared_ptr<LayerPasses<T>> layers_;
  Values<T> entries_;
  MatrixView<T> view_;
};

template <std::floating_point T>
Matrix<T> contract(const Architecture& architecture, const Gradient<T>& g1, const Gradient<T>& g2, const Engine& engine,
                   Progress* progress) {
  if (const auto& layers = layers_of<T>(engine)) {
    EngineKernel<T> kernel(layers, g1.count(), g2.count());
    kernel.add(architecture, g1, g2, progress);
    return kernel.read(T{1}, &g1 == &g2);
  }
  Matrix<T> kernel(g1.count(), g2.count());
  if (kernel.rows() == 0 || kernel.cols() == 0) return kernel;
  for (std::size_t l = 0; l < architecture.slots.size(); ++l) {
    if (!architecture.slots[l].trained) continue;
    contract_slot(architecture.slots[l], g1.slots[l], g2.slots[l], kernel.view(), engine, progress);
  }
  if (&g1 == &g2) mirror_upper(kernel.view());
  return kernel;
}

/// Gradients of each output at a set of samples.
template <std::floating_point T>
class OutputGradients {
 public:
  OutputGradients(const Architecture& architecture, const Parameters<T>& parameters, const Tensor<T>& x,
                  Progress* progress, const Engine& engine)
      : trace_(forward(architecture, parameters, x, {.progress = progress}, engine)) {
    for (Index k = 0; k < architecture.output.size(); ++k) {
      Tensor<T> signal(x.count(), architecture.output);
      for (Index i = 0; i < x.count(); ++i) signal.sample(i)[k] = T{1};
      gradients_.push_back(backward(architecture, parameters, trace_, std::move(signal),
                                    {.input_signal = false, .progress = progress}, engine));
    }
  }
  [[nodiscard]] const Gradient<T>& of(Index output) const { return gradients_[static_cast<std::size_t>(output)]; }

 private:
  Trace<T> trace_;
  std::vector<Gradient<T>> gradients_;
};

template <std::floating_point T>
Matrix<T> combine(const Architecture& architecture, const OutputGradients<T>& g1, const OutputGradients<T>& g2,
                  Index n1, Index n2, const NtkOptions& options, const Engine& engine) {
  const Index outputs = architecture.output.size();
  const bool full = options.outputs == NtkOutputs::full;
  const Index side = full ? outputs : 1;
  if (const auto& layers = layers_of<T>(engine); layers && !full) {
    EngineKernel<T> sum(layers, n1, n2);
    for (Index k = 0; k < outputs; ++k) sum.add(architecture, g1.of(k), g2.of(k), options.progress);
    return sum.read(T{1} / static_cast<T>(outputs), &g1 == &g2);
  }
  Matrix<T> kernel(n1 * side, n2 * side);
  for (Index k = 0; k < outputs; ++k) {
    for (Index l = full ? 0 : k; l < (full ? outputs : k + 1); ++l) {
      const Matrix<T> part = contract(architecture, g1.of(k), g2.of(l), engine, options.progress);
      const T factor = full ? T{1} : T{1} / static_cast<T>(outputs);
      interruptible_rows(n1, n2, [&](Index i) {
        for (Index j = 0; j < n2; ++j) {
          kernel(i * side + (full ? k : 0), j * side + (full ? l : 0)) += factor * part(i, j);
        }
      });
    }
  }
  return kernel;
}

}  // namespace

NtkOutputs parse_ntk_outputs(std::string_view text) {
  return parse_choice<NtkOutputs>("form of the outputs", ntk_outputs_names, text);
}

template <std::floating_point T>
Matrix<T> empirical_ntk(const Architecture& architecture, const Gradient<T>& g1, const Gradient<T>& g2,
                        const Engine& engine) {
  return contract(architecture, g1, g2, engine, nullptr);
}

template <std::floating_point T>
Matrix<T> empirical_ntk(const Architecture& architecture, const Gradient<T>& g, const Engine& engine) {
  return contract(architecture, g, g, engine, nullptr);
}

namespace {

/// Throws Error{numerical} if an entry overflowed.
template <std::floating_point T>
Matrix<T> checked(Matrix<T> kernel) {
  if (!std::all_of(kernel.data(), kernel.data() + kernel.rows() * kernel.cols(),
                   [](T k) { return std::isfinite(k); })) {
    fail(Code::numerical, "the empirical tangent kernel exceeds the range of {}; scale the samples down{}",
         sizeof(T) == sizeof(float) ? "f32" : "f64", sizeof(T) == sizeof(float) ? ", or train in f64" : "");
  }
  return kernel;
}

}  // namespace

template <std::floating_point T>
Matrix<T> empirical_ntk(const Architecture& architecture, const Parameters<T>& parameters, const Tensor<T>& x1,
                        const Tensor<T>& x2, const NtkOptions& options, const Engine& engine) {
  const Interruptible interruptible(options.progress);
  const OutputGradients<T> g1(architecture, parameters, x1, options.progress, engine);
  if (&x1 == &x2) return checked(combine(architecture, g1, g1, x1.count(), x1.count(), options, engine));
  const OutputGradients<T> g2(architecture, parameters, x2, options.progress, engine);
  return checked(combine(architecture, g1, g2, x1.count(), x2.count(), options, engine));
}

template Matrix<float> empirical_ntk(const Architecture&, const Gradient<float>&, const Gradient<float>&,
                                     const Engine&);
template Matrix<double> empirical_ntk(const Architecture&, const Gradient<double>&, const Gradient<double>&,
                                      const Engine&);
template Matrix<float> empirical_ntk(const Architecture&, const Gradient<float>&, const Engine&);
template Matrix<double> empirical_ntk(const Architecture&, const Gradient<double>&, const Engine&);
template Matrix<float> empirical_ntk(const Architecture&, const Parameters<float>&, const Tensor<float>&,
                                     const Tensor<float>&, const NtkOptions&, const Engine&);
template Matrix<double> empirical_ntk(const Architecture&, const Parameters<double>&, const Tensor<double>&,
                                      const Tensor<double>&, const NtkOptions&, const Engine&);

}  // namespace widelimit
