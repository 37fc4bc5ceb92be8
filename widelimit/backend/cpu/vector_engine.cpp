#include "widelimit/backend/cpu/vector_engine.hpp"

#include "widelimit/backend/cpu/apply.hpp"
#include "widelimit/backend/cpu/gemm.hpp"
#include "widelimit/backend/cpu/loaded.hpp"
#include "widelimit/backend/cpu/normalise.hpp"
#include "widelimit/backend/cpu/self_tangent.hpp"
#include "widelimit/backend/cpu/strip_stack.hpp"
#include "widelimit/backend/overflow.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace widelimit::cpu {

namespace {

/// t below which it is recomputed from the inputs: 1 − ρ of the matrix product has an absolute error of some ulps, and
/// arccos ρ ~ √(2t) turns an error ε into ε/√(2t).
template <typename T>
constexpr T near_one = std::is_same_v<T, float> ? T(0x1p-8) : T(0x1p-20);

/// Deviations outside this range do not fit the float that strips are written with.
constexpr double float_safe = 1e15;

template <typename T>
struct VectorLoaded final : CpuLoaded {
  Matrix<T> unit;                  ///< inputs divided by their norms, n × d
  std::vector<Features> features;  ///< one for each step; emit: the deviations
  /// Samples with a deviation outside float_safe at an emit step; none where there are none.
  std::vector<bool> wide;

  [[nodiscard]] bool any_wide(Range range) const {
    return !wide.empty() &&
           std::find(wide.begin() + range.begin, wide.begin() + range.end, true) != wide.begin() + range.end;
  }
};

/// 1 − |⟨x̂, x̂'⟩| = ½‖x̂ ∓ x̂'‖² for unit vectors: the digits that the product cancels.
template <typename T>
T half_squared_distance(const T* x1, const T* x2, T sign, Index d) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index k = 0; k < d; ++k) {
    const T difference = x1[k] - sign * x2[k];
    sum += difference * difference;
  }
  return sum / 2;
}

/// Memory for one tile, kept by each thread from tile to tile; not cleared.
template <typename T>
MatrixView<T> scratch_matrix(Index rows, Index cols) {
  thread_local Matrix<T> memory;
  if (memory.rows() * memory.cols() < rows * cols) memory = Matrix<T>(rows, cols);
  return {memory.data(), rows, cols, cols};
}

template <typename T>
void refine(const VectorLoaded<T>& a, Index i, const VectorLoaded<T>& b, Index first, const Strip<T>& strip) {
  for (Index k = 0; k < strip.size; ++k) {
    if (!(strip.t[k] < near_one<T>)) continue;
    const T sign = strip.rho[k] < 0 ? T(-1) : T(1);
    const Index d = a.unit.cols();
    strip.t[k] = half_squared_distance(a.unit.data() + i * d, b.unit.data() + (first + k) * d, sign, d);
    strip.rho[k] = sign * (1 - strip.t[k]);
    for (Index m = strip.trained_begin; m < strip.trained_end; ++m)
      strip.theta[m * strip.theta_stride + k] = strip.rho[k];
  }
}

/// Step k, where it is a layer without bias: it leaves ρ alone and adds it to the tangents, which the step before it
/// does in passing.
const Step* bias_free_at(const Recipe& recipe, std::size_t k) {
  const bool fits = k < recipe.steps.size() && recipe.steps[k].op == Op::affine && recipe.steps[k].b2 == 0;
  return fits ? &recipe.steps[k] : nullptr;
}

/// out = values·r·r' in double, where r does not fit a float.
template <typename T, typename Out>
bool write_wide(const T* values, Index size, double r, const double* r_col, Out* out) {
  bool finite = true;
  for (Index k = 0; k < size; ++k) {
    out[k] = static_cast<Out>(static_cast<double>(values[k]) * r * r_col[k]);
    finite &= std::isfinite(out[k]);
  }
  return finite;
}

}  // namespace

template <typename T>
std::unique_ptr<Loaded> load_vectors(const Recipe& recipe, const SampleView& x, int threads) {
  auto loaded = std::make_unique<VectorLoaded<T>>();
  const Index n = x.count();
  loaded->unit = Matrix<T>(n, recipe.input.channels);
  loaded->diagonal = Matrix<double>(recipe.outputs, n);

  std::vector<Variances> stack{normalise_rows(x, recipe.input.channels, loaded->unit.view(), threads)};
  SelfTangent tangent(recipe.channels, n);
  for (const Step& step : recipe.steps) {
    Advance advanced;
    switch (step.op) {
      case Op::fork:
        stack.push_back(stack.back());
        break;
      case Op::swap:
        std::swap(stack.back(), stack[stack.size() - 2]);
        break;
      case Op::join:
        advanced = advance_join(stack[stack.size() - 2], stack.back());
        stack.pop_back();
        break;
      case Op::emit:
        advanced.features = make_features(1, n);
        for (Index i = 0; i < n; ++i) {
          const auto r = static_cast<double>(std::sqrt(stack.back()[static_cast<std::size_t>(i)]));
          advanced.features.f64(0, i) = r;
          if (r > float_safe || (r > 0 && r < 1 / float_safe)) {
            loaded->wide.resize(static_cast<std::size_t>(n));
            loaded->wide[static_cast<std::size_t>(i)] = true;
          }
        }
        break;
      default:
        advanced = advance(recipe, step, stack.back());
        break;
    }
    tangent.advance(step, stack.back(), advanced);
    if (step.op == Op::emit) tangent.write(step, stack.back(), loaded->diagonal.view());
    if (!advanced.variance.empty()) stack.back() = std::move(advanced.variance);
    loaded->truncation = std::max(loaded->truncation, advanced.quadrature_error);
    if constexpr (std::is_same_v<T, float>) advanced.features.round_to_float();
    loaded->features.push_back(std::move(advanced.features));
  }
  return loaded;
}

template <typename T, typename Out>
void vector_tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
                 std::span<const MatrixView<Out>> outputs) {
  const auto& a = dynamic_cast<const VectorLoaded<T>&>(x1);
  const auto& b = dynamic_cast<const VectorLoaded<T>&>(x2);
  // Of this tile alone: bits must not depend on what else was loaded.
  const bool wide = sizeof(T) == sizeof(float) && (a.any_wide(rows) || b.any_wide(cols));
  const Index d = recipe.input.channels;
  const Index stride = padded(cols.size());

  MatrixView<T> rho = scratch_matrix<T>(rows.size(), stride);
  for (Index i = 0; i < rows.size(); ++i) std::fill(rho.row(i) + cols.size(), rho.row(i) + stride, T(0));
  multiply_transposed(MatrixView<const T>(a.unit.view().block(rows.begin, 0, rows.size(), d)),
                      MatrixView<const T>(b.unit.view().block(cols.begin, 0, cols.size(), d)),
                      rho.block(0, 0, rows.size(), cols.size()));

  StripStack<T> stack(recipe, cols.size());
  for (Index i = rows.begin; i < rows.end; ++i) {
    const Step* follower = bias_free_at(recipe, 0);
    stack.restart(rho.row(i - rows.begin), follower);
    if (begin_strip(stack.top(), near_one<T>)) refine(a, i, b, cols.begin, stack.top());
    for (std::size_t k = follower != nullptr ? 1 : 0; k < recipe.steps.size(); ++k) {
      const Step& step = recipe.steps[k];
      const FeatureSides<T> features{&a.features[k], i, false, &b.features[k], cols.begin};
      if (step.op != Op::emit) {
        follower = step.op == Op::dual ? bias_free_at(recipe, k + 1) : nullptr;
        stack.run(step, features, follower);
        if (follower != nullptr) ++k;
        continue;
      }
      const Strip<T>& strip = stack.top();
      const auto write = [&](Index slot, const T* values) {
        Out* out = outputs[static_cast<std::size_t>(slot)].row(i - rows.begin);
        const bool finite =
            wide ? write_wide(values, strip.size, a.features[k].f64(0, i), b.features[k].f64.data() + cols.begin, out)
                 : write_out(values, strip.size, features[0], out);
        if (!finite) {
          Index j = 0;
          while (std::isfinite(out[j])) ++j;
          report_overflow(slot, i, cols.begin + j, precision_of<Out>);
        }
      };
      if (step.nngp_slot >= 0) write(step.nngp_slot, strip.rho);
      for (Index m = 0; m < step.ntk_count; ++m) write(step.ntk_slot + m, strip.theta + m * strip.theta_stride);
    }
  }
}

template std::unique_ptr<Loaded> load_vectors<float>(const Recipe&, const SampleView&, int);
template std::unique_ptr<Loaded> load_vectors<double>(const Recipe&, const SampleView&, int);
template void vector_tile<float, float>(const Recipe&, const Loaded&, Range, const Loaded&, Range,
                                        std::span<const MatrixView<float>>);
template void vector_tile<double, float>(const Recipe&, const Loaded&, Range, const Loaded&, Range,
                                         std::span<const MatrixView<float>>);
template void vector_tile<double, double>(const Recipe&, const Loaded&, Range, const Loaded&, Range,
                                          std::span<const MatrixView<double>>);

}  // namespace widelimit::cpu
