#pragma once

#include "widelimit/engine/cuda/plugin/dense_steps.hpp"

namespace widelimit::cuda {

/// Steps outside the rectifier family, which run in double only. Not inlined: the steps are long and would otherwise be
/// compiled into every kernel.
template <class Tables>
#ifdef __CUDACC__
__noinline__
#endif
    WIDELIMIT_BOTH inline Moved<double>
    called_smooth_step(const DenseStep& step, const Tables& tables, const PairFeatures<double>& f, double rho,
                       double t) {
  return smooth_step(step, tables, f, rho, t);
}

template <typename T, class Tables>
WIDELIMIT_BOTH inline Moved<T> any_step(const DenseStep& step, const Tables& tables, const PairFeatures<T>& f, T rho,
                                        T t) {
  switch (step.op) {
    case DenseOp::add_rho:
      return {rho, t, T(1)};
    case DenseOp::blend_constant:
      return blend_constant(f, rho, t);
    case DenseOp::shrink: {
      const T rate = static_cast<T>(step.a);
      return {rate * rho, std::fma(rate, t, T(1) - rate), rate};
    }
    default:
      if constexpr (sizeof(T) == sizeof(double)) {
        return called_smooth_step(step, tables, f, rho, t);
      } else {
        return {rho, t, T(1)};
      }
  }
}

/// D stacked states of P pairs of one column, with C channels each.
template <typename T, int C, int D, int P>
struct PairStates {
  T rho[D][P];
  T t[D][P];
  T theta[D][C][P];
};

/// θ_m ← θ_m·factor, plus ρ for trained channels.
template <typename T, int C, int D, int P>
WIDELIMIT_BOTH inline void propagate(const DenseStep& step, int first_channel, const Moved<T>& moved,
                                     PairStates<T, C, D, P>& states, int state, int p) {
#ifdef __CUDACC__
#pragma unroll
#endif
  for (int m = 0; m < C; ++m) {
    const int channel = first_channel + m;
    const bool trained = channel >= step.trained_begin && channel < step.trained_end;
    states.theta[state][m][p] = std::fma(moved.factor, states.theta[state][m][p], trained ? moved.rho : T(0));
  }
}

/// Runs all steps on P pairs: rows row[p] and one column, given as sample indices. `states` holds ρ and t of the inputs
/// in its first state. Processes C channels from `first_channel` on; calls emit(step, state) at emit steps.
template <typename T, int C, int D, int P, class Emit>
WIDELIMIT_BOTH inline void run_steps(const DenseTile& tile, const std::int32_t (&row)[P], std::int32_t col,
                                     int first_channel, PairStates<T, C, D, P>& states, const Emit& emit) {
  const int channels = least(C, tile.channels - first_channel);
  int top = 0;
  for (int m = 0; m < C; ++m) {
    for (int p = 0; p < P; ++p) states.theta[0][m][p] = T(0);
  }
  for (int s = 0; s < tile.step_count; ++s) {
    const DenseStep& step = tile.steps[s];
    const int state = D == 1 ? 0 : top;
    if (step.op == DenseOp::emit) {
      emit(step, state);
      continue;
    }
    if constexpr (D > 1) {
      if (step.op == DenseOp::fork || step.op == DenseOp::swap) {
        const int other = step.op == DenseOp::fork ? top + 1 : top - 1;
        const bool swapped = step.op == DenseOp::swap;
        const auto move = [swapped](T& from, T& to) {
          const T kept = to;
          to = from;
          if (swapped) from = kept;
        };
        for (int p = 0; p < P; ++p) {
          move(states.rho[top][p], states.rho[other][p]);
          move(states.t[top][p], states.t[other][p]);
          for (int m = 0; m < channels; ++m) move(states.theta[top][m][p], states.theta[other][m][p]);
        }
        if (!swapped) ++top;
        continue;
      }
    }
    if (step.op == DenseOp::rectifier) {
      const T a = static_cast<T>(step.a);
      const T b = static_cast<T>(step.b);
#ifdef __CUDACC__
#pragma unroll
#endif
      for (int p = 0; p < P; ++p) {
        const Moved<T> moved = rectifier(a, b, states.rho[state][p], states.t[state][p]);
        states.rho[state][p] = moved.rho;
        states.t[state][p] = moved.t;
        propagate(step, first_channel, moved, states, state, p);
      }
      continue;
    }
    const T* const row_features = static_cast<const T*>(tile.rows.features) + step.row_feature * tile.rows.samples;
    const T* const col_features = static_cast<const T*>(tile.cols.features) + step.col_feature * tile.cols.samples;
    const bool joins = D > 1 && step.op == DenseOp::join;
    const int into = joins ? top - 1 : state;
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int p = 0; p < P; ++p) {
      const PairFeatures<T> f{row_features + row[p], col_features + col, tile.rows.samples, tile.cols.samples};
      T& rho = states.rho[into][p];
      T& t = states.t[into][p];
      if (joins) {
        const T bb = f.product(1);
        const Moved<T> moved = blend(f, rho, t, states.rho[top][p], states.t[top][p]);
        rho = moved.rho;
        t = moved.t;
        for (int m = 0; m < channels; ++m) {
          states.theta[into][m][p] = std::fma(moved.factor, states.theta[into][m][p], bb * states.theta[top][m][p]);
        }
        continue;
      }
      const Moved<T> moved = any_step(step, tile, f, rho, t);
      rho = moved.rho;
      t = moved.t;
      propagate(step, first_channel, moved, states, into, p);
    }
    if (joins) --top;
  }
}

/// Returns value·r·r', in the arithmetic of the steps if it can represent both deviations, else in double.
WIDELIMIT_BOTH inline float scaled_back(float value, const DenseTile& tile, Index row, Index col) {
  const float r = tile.rows.rounded_deviations[row];
  const float r_col = tile.cols.rounded_deviations[col];
  if (r == r && r_col == r_col) return value * r * r_col;
  return static_cast<float>(static_cast<double>(value) * tile.rows.deviations[row] * tile.cols.deviations[col]);
}
WIDELIMIT_BOTH inline double scaled_back(double value, const DenseTile& tile, Index row, Index col) {
  return value * tile.rows.deviations[row] * tile.cols.deviations[col];
}

/// Threshold for t = 1 − |ρ| of a float64 product below which t is recomputed from the inputs, for steps in T: the
/// product has an error of a few ulps in t. [near_one, widelimit/engine/cpu/vector/vector_samples.hpp]
template <typename T>
constexpr double recomputed_below = sizeof(T) == sizeof(float) ? 0x1p-24 : 0x1p-10;

/// ρ clamped to [−1, 1], and t = 1 − |ρ|.
struct Correlation {
  double rho;
  double t;
};
WIDELIMIT_BOTH inline Correlation correlation_of(double product) {
  const double rho = least(1.0, most(-1.0, product));
  return {rho, 1.0 - std::abs(rho)};
}
/// The same from a recomputed t = ½‖x̂ ∓ x̂'‖².
WIDELIMIT_BOTH inline Correlation near_correlation(double sign, double t) { return {sign * (1.0 - t), t}; }

}  // namespace widelimit::cuda
