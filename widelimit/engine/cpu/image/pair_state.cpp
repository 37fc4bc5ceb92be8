#include "widelimit/engine/cpu/image/pair_state.hpp"

#include "widelimit/engine/cpu/algebra/blas_calls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit::cpu {

namespace {

/// Array k of a state times r r' (feature 0) at both positions: covariances relative to R R'. An extra column of zeros
/// represents padding.
Matrix<double> covariances(const TracePair& traces, PairState& state, Index k) {
  const double* r = traces.first->array<double>(0);
  const double* r_col = traces.second->array<double>(0);
  const MatrixView<double> array = state.array(k);
  Matrix<double> result(array.rows, array.cols + 1);
  for (Index p = 0; p < array.rows; ++p) {
    for (Index q = 0; q < array.cols; ++q) result(p, q) = array(p, q) * r[state.all_pairs ? p : q] * r_col[q];
  }
  return result;
}

/// Arrays that are summed over positions: ρ and the tangents, not t.
std::vector<Index> summed_arrays(const PairState& state) {
  std::vector<Index> arrays{0};
  for (Index m = 0; m < state.channels; ++m) arrays.push_back(2 + m);
  return arrays;
}

}  // namespace

std::vector<std::vector<Index>> window_sources(const Step& step) {
  const auto along = [&](Index out, Index element, Index stride, Index before, Index size) {
    const Index position = out * stride + element - before;
    if (step.circular) return (position % size + size) % size;
    return position >= 0 && position < size ? position : Index{-1};
  };
  std::vector<std::vector<Index>> windows;
  for (Index row = 0; row < step.size.height; ++row) {
    for (Index col = 0; col < step.size.width; ++col) {
      std::vector<Index> sources;
      for (Index y = 0; y < step.after.height; ++y) {
        for (Index x = 0; x < step.after.width; ++x) {
          const Index from_y = along(y, row, step.strides.height, step.offset.height, step.before.height);
          const Index from_x = along(x, col, step.strides.width, step.offset.width, step.before.width);
          sources.push_back(from_y < 0 || from_x < 0 ? -1 : from_y * step.before.width + from_x);
        }
      }
      windows.push_back(std::move(sources));
    }
  }
  return windows;
}

void mark_equal(PairState& state) {
  for (Index p = 0; p < state.positions; ++p) {
    state.rho().data[state.diagonal(p)] = 1;
    state.t().data[state.diagonal(p)] = 0;
  }
}

PairState equal_positions(PairState& state) {
  PairState result(state.positions, false, state.channels);
  for (Index k = 0; k < 2 + state.channels; ++k) {
    for (Index p = 0; p < state.positions; ++p) result.array(k)(0, p) = state.array(k).data[state.diagonal(p)];
  }
  return result;
}

void apply_everywhere(const Step& step, const TracePair& traces, bool self, PairState* other, PairState& state) {
  std::vector<double> own_tangents;
  const bool keep_equal = self && step.op == Op::dropout;
  for (Index m = 0; keep_equal && m < state.channels; ++m) {
    for (Index p = 0; p < state.positions; ++p) own_tangents.push_back(state.theta(m).data[state.diagonal(p)]);
  }
  for (Index row = 0; row < state.rows(); ++row) {
    const FeatureSides<double> features{traces.first, state.all_pairs ? row : 0, !state.all_pairs, traces.second, 0};
    apply(step, features, other != nullptr ? other->strip(row) : Strip<double>{}, state.strip(row));
  }
  if (self) mark_equal(state);
  for (std::size_t k = 0; k < own_tangents.size(); ++k) {
    const auto m = static_cast<Index>(k) / state.positions;
    state.theta(m).data[state.diagonal(static_cast<Index>(k) % state.positions)] = own_tangents[k];
  }
}

void correlate(const TracePair& traces, PairState& state) {
  const double* v = traces.first->array<double>(1);
  const double* v_col = traces.second->array<double>(1);
  for (Index p = 0; p < state.rows(); ++p) {
    for (Index q = 0; q < state.positions; ++q) {
      const double factor = v[state.all_pairs ? p : q] * v_col[q];
      const double rho = state.rho()(p, q) * factor;
      const double t = 1 - std::abs(rho);
      const bool equal = t < 8 * std::numeric_limits<double>::epsilon();
      state.rho()(p, q) = equal ? std::copysign(1.0, rho) : rho;
      state.t()(p, q) = equal ? 0.0 : t;
      for (Index m = 0; m < state.channels; ++m) state.theta(m)(p, q) *= factor;
    }
  }
}

PairState window_step(const Step& step, const TracePair& traces, PairState& state) {
  const auto windows = window_sources(step);
  PairState result(step.after.positions(), state.all_pairs, state.channels);
  for (const Index k : summed_arrays(state)) {
    const Matrix<double> from = covariances(traces, state, k);
    const Index padding = from.cols() - 1;
    const MatrixView<double> to = result.array(k);
    for (const auto& sources : windows) {
      std::vector<Index> columns = sources;
      std::replace(columns.begin(), columns.end(), Index{-1}, padding);
      for (Index p = 0; p < to.rows; ++p) {
        const Index row = state.all_pairs ? sources[static_cast<std::size_t>(p)] : 0;
        if (row < 0) continue;
        const double* values = from.data() + row * from.cols();
        for (Index q = 0; q < to.cols; ++q) to(p, q) += step.scale * values[columns[static_cast<std::size_t>(q)]];
      }
    }
  }
  correlate(traces, result);
  return result;
}

PairState pool_covariance(const Step& step, const TracePair& traces, PairState& state) {
  const auto windows = window_sources(step);
  const Index positions = step.after.positions();
  PairState result(positions, step.all_pairs_after, state.channels);
  for (const Index k : summed_arrays(state)) {
    const Matrix<double> from = covariances(traces, state, k);
    Matrix<double> half(positions, from.cols());  // summed over the first window
    for (const auto& sources : windows) {
      for (Index p = 0; p < positions; ++p) {
        const Index row = sources[static_cast<std::size_t>(p)];
        if (row < 0) continue;
        for (Index q = 0; q < state.positions; ++q) half(p, q) += step.scale * from(row, q);
      }
    }
    const MatrixView<double> to = result.array(k);
    for (const auto& sources : windows) {
      for (Index p = 0; p < to.rows; ++p) {
        for (Index q = 0; q < positions; ++q) {
          const Index col = sources[static_cast<std::size_t>(q)];
          if (col >= 0) to(p, q) += step.scale * half(result.all_pairs ? p : q, col);
        }
      }
    }
  }
  return result;
}

PairState attend_covariance(const TracePair& traces, PairState& state) {
  PairState result(state.positions, true, state.channels);
  const Index n = state.positions;
  for (const Index k : summed_arrays(state)) {
    const Matrix<double> from = covariances(traces, state, k);
    Matrix<double> half(n, n);
    gemm<double>(1, Transpose::no, traces.attention_first->view(), Transpose::no, from.view().block(0, 0, n, n), 0,
                 half.view());
    gemm<double>(1, Transpose::no, half.view(), Transpose::yes, traces.attention_second->view(), 0, result.array(k));
  }
  return result;
}

PairState flatten_step(const TracePair& traces, PairState& state) {
  PairState result(1, false, state.channels);
  for (const Index k : summed_arrays(state)) {
    const Matrix<double> from = covariances(traces, state, k);
    double sum = 0;
    for (Index p = 0; p < state.positions; ++p) sum += from(state.all_pairs ? p : 0, p);
    result.array(k)(0, 0) = sum / static_cast<double>(state.positions);
  }
  correlate(traces, result);
  return result;
}

}  // namespace widelimit::cpu
