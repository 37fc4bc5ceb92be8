#pragma once

#include "widelimit/engine/cuda/plane/plane_stage.hpp"
#include "widelimit/engine/enclosure/both.hpp"

#include <cmath>
#include <cstdint>

/// Runs the steps of a stage on one plane by a team of threads: a warp or block of a device, or one host thread.
namespace widelimit::cuda {

/// The plane of displacement d = (dy, dx) of a grid: pairs (p, p + d), with p + d modulo the grid if it wraps.
struct PlaneGrid {
  int rows, cols;
  int height, width;
  int dy, dx;
  bool wraps;

  WIDELIMIT_BOTH PlaneGrid(PlaneExtent grid, int y, int x, bool modulo)
      : rows(modulo ? grid.height : grid.height - (y < 0 ? -y : y)),
        cols(modulo ? grid.width : grid.width - (x < 0 ? -x : x)),
        height(grid.height),
        width(grid.width),
        dy(y),
        dx(x),
        wraps(modulo) {}
  [[nodiscard]] WIDELIMIT_BOTH int size() const { return rows * cols; }
  [[nodiscard]] WIDELIMIT_BOTH int first(int row, int col) const {
    return (row + (!wraps && dy < 0 ? -dy : 0)) * width + col + (!wraps && dx < 0 ? -dx : 0);
  }
  [[nodiscard]] WIDELIMIT_BOTH int second(int row, int col) const {
    int y = row + (wraps || dy > 0 ? dy : 0);
    int x = col + (wraps || dx > 0 ? dx : 0);
    if (wraps) y = (y % height + height) % height, x = (x % width + width) % width;
    return y * width + x;
  }
};

template <typename T>
struct PlaneTask {
  const PlaneStageCall& call;
  const T* first;  ///< records
  const T* second;
  int pair;
  int dy, dx;  ///< displacement at the end of the stage
  int plane;   ///< index of the plane
};

constexpr int most_plane_levels = 8;

/// Σ and Θ of the planes of all open branches, and of one spare plane to write to.
template <typename T, typename Team>
class PlaneStack {
 public:
  WIDELIMIT_BOTH PlaneStack(const PlaneTask<T>& task, T* memory, const Team& team)
      : task_(task), call_(task.call), memory_(memory), team_(team), arrays_(1 + task.call.channels) {}

  WIDELIMIT_BOTH void run() {
    open();
    for (int k = 0; k < call_.step_count; ++k) {
      team_.sync();
      apply(call_.steps[k]);
    }
    team_.sync();
    close();
  }

 private:
  /// Products of the per-step values of both images.
  struct Numbers {
    T gain, constant, theta;
  };

  [[nodiscard]] WIDELIMIT_BOTH T* array(int level, int m) const {
    return memory_ + (static_cast<std::int64_t>(places_[level]) * arrays_ + m) * call_.largest;
  }
  [[nodiscard]] WIDELIMIT_BOTH PlaneGrid grid_of(PlaneExtent grid, PlaneExtent stride) const {
    return {grid, task_.dy * stride.height, task_.dx * stride.width, call_.wraps};
  }
  /// Calls f(element, position in the first image, position in the second) for the elements of this thread.
  template <typename F>
  WIDELIMIT_BOTH void each(const PlaneGrid& grid, const F& f) const {
    for (int e = team_.rank(); e < grid.size(); e += team_.size()) {
      const int row = e / grid.cols;
      const int col = e % grid.cols;
      f(e, grid.first(row, col), grid.second(row, col));
    }
  }
  [[nodiscard]] WIDELIMIT_BOTH T product(int number) const { return task_.first[number] * task_.second[number]; }
  WIDELIMIT_BOTH void exchange(int a, int b) {
    const int place = places_[a];
    places_[a] = places_[b];
    places_[b] = place;
  }

  /// 3×3 window with zero padding, the most common case.
  [[nodiscard]] WIDELIMIT_BOTH static T square_sum(const PlaneGrid& before, const T* from, int row, int col) {
    const T* here = from + row * before.cols + col;
    const bool left = col > 0;
    const bool right = col + 1 < before.cols;
    const auto along = [&](const T* at) { return at[0] + (left ? at[-1] : T(0)) + (right ? at[1] : T(0)); };
    return along(here) + (row > 0 ? along(here - before.cols) : T(0)) +
           (row + 1 < before.rows ? along(here + before.cols) : T(0));
  }
  /// Returns the window sum for element (row, col) of the plane after the step.
  [[nodiscard]] WIDELIMIT_BOTH T window_sum(const PlaneStep& step, const PlaneGrid& before, const T* from, int row,
                                            int col) const {
    if (step.square) return square_sum(before, from, row, col);
    T sum = 0;
    for (int i = 0; i < step.size.height; ++i) {
      int y = row * step.strides.height - step.offset.height + i;
      if (step.wraps) y = (y % before.rows + before.rows) % before.rows;
      if (y < 0 || y >= before.rows) continue;
      for (int j = 0; j < step.size.width; ++j) {
        int x = col * step.strides.width - step.offset.width + j;
        if (step.wraps) x = (x % before.cols + before.cols) % before.cols;
        if (x >= 0 && x < before.cols) sum += from[y * before.cols + x];
      }
    }
    return sum;
  }

  WIDELIMIT_BOTH void open() {
    const PlaneGrid grid = grid_of(call_.begin, call_.stride_begin);
    const T factor =
        static_cast<T>(call_.source_scale) * (call_.source_numbers < 0 ? T(1) : product(call_.source_numbers));
    each(grid, [&](int e, int p, int q) {
      if (call_.source == PlaneSource::inputs) {
        T sum = 0;
        for (int c = 0; c < call_.input_channels; ++c) {
          sum += task_.first[p * call_.input_channels + c] * task_.second[q * call_.input_channels + c];
        }
        array(0, 0)[e] = sum;
        for (int m = 1; m < arrays_; ++m) array(0, m)[e] = 0;
        return;
      }
      for (int m = 0; m < arrays_; ++m) {
        T value = 0;
        if (call_.source == PlaneSource::pooled) value = pooled(m, p, q);
        if (call_.source == PlaneSource::parts) value = from_parts(m, p, q);
        if (call_.source == PlaneSource::sums) value = static_cast<T>(total(m));
        array(0, m)[e] = factor * value;
      }
    });
  }

  /// Returns entry (p, q) of the pooled grid from the planes of the finer one, indexed by displacement modulo the grid.
  [[nodiscard]] WIDELIMIT_BOTH T pooled(int m, int p, int q) const {
    const int height = call_.fine.height;
    const int width = call_.fine.width;
    const T* from = static_cast<const T*>(call_.from) +
                    (static_cast<std::int64_t>(task_.pair) * arrays_ + m) * kept_size(call_.fine);
    T sum = 0;
    for (int a = 0; a < call_.pool_size.height * call_.pool_size.width; ++a) {
      const int y =
          p / call_.begin.width * call_.pool_strides.height - call_.pool_offset.height + a / call_.pool_size.width;
      const int x =
          p % call_.begin.width * call_.pool_strides.width - call_.pool_offset.width + a % call_.pool_size.width;
      if (y < 0 || y >= height || x < 0 || x >= width) continue;
      T row = 0;
      for (int b = 0; b < call_.pool_size.height * call_.pool_size.width; ++b) {
        const int v =
            q / call_.begin.width * call_.pool_strides.height - call_.pool_offset.height + b / call_.pool_size.width;
        const int u =
            q % call_.begin.width * call_.pool_strides.width - call_.pool_offset.width + b % call_.pool_size.width;
        if (v < 0 || v >= height || u < 0 || u >= width) continue;
        const int displacement = (v - y + height) % height * width + (u - x + width) % width;
        row += from[static_cast<std::int64_t>(displacement) * height * width + y * width + x];
      }
      sum += row;
    }
    return sum;
  }
  /// The same from the three parts that pool_register_planes computes.
  [[nodiscard]] WIDELIMIT_BOTH T from_parts(int m, int p, int q) const {
    const int height = call_.fine.height / 2;
    const int width = call_.fine.width / 2;
    const int down = (q / width - p / width + height) % height;
    const int across = (q % width - p % width + width) % width;
    const std::int64_t size = std::int64_t{2} * height * height * width;
    const float* from = static_cast<const float*>(call_.from) + task_.pair * 2 * size * call_.fine.width +
                        (std::int64_t{m} * height + down) * height * width + p;
    const int before = (2 * across - 1 + call_.fine.width) % call_.fine.width;
    return static_cast<T>(from[2 * size * (2 * across)]) + static_cast<T>(from[2 * size * (2 * across + 1)]) +
           static_cast<T>(from[2 * size * before + size]);
  }
  /// Sum over all planes of the previous stage, in plane order.
  [[nodiscard]] WIDELIMIT_BOTH double total(int m) const {
    const double* from = static_cast<const double*>(call_.from) +
                         static_cast<std::int64_t>(task_.pair) * call_.sum_count * call_.source_arrays;
    double sum = 0;
    for (int k = 0; k < call_.sum_count; ++k) sum += from[static_cast<std::int64_t>(k) * call_.source_arrays + m];
    return sum;
  }

  WIDELIMIT_BOTH void apply(const PlaneStep& step) {
    const PlaneGrid grid = grid_of(step.after, step.stride_after);
    const int spare = call_.levels - 1;
    switch (step.kind) {
      case PlaneStepKind::window:
      case PlaneStepKind::rectifier: {
        const PlaneGrid before = grid_of(step.before, step.stride_before);
        const Numbers numbers{product(step.numbers), product(step.numbers + 1), product(step.numbers + 2)};
        each(grid, [&](int e, int p, int q) {
          step.kind == PlaneStepKind::window ? average(step, before, e, grid.cols)
                                             : bend(step, numbers, before, e, grid.cols, p, q);
        });
        exchange(top_, spare);
        break;
      }
      case PlaneStepKind::affine: {
        const T gain = product(step.numbers);
        const T constant = product(step.numbers + 1);
        each(grid, [&](int e, int, int) {
          const T sigma = gain * array(top_, 0)[e] + constant;
          array(top_, 0)[e] = sigma;
          for (int m = 0; m < call_.channels; ++m) {
            const bool trained = m >= step.trained_begin && m < step.trained_end;
            T& theta = array(top_, 1 + m)[e];
            theta = gain * theta + (trained ? sigma : T(0));
          }
        });
        break;
      }
      case PlaneStepKind::layer_norm:
        each(grid, [&](int e, int p, int q) {
          const T factor = task_.first[step.features + p] * task_.second[step.features + q];
          for (int m = 0; m < arrays_; ++m) array(top_, m)[e] *= factor;
        });
        break;
      case PlaneStepKind::dropout:
        if (call_.self && task_.dy == 0 && task_.dx == 0) {
          each(grid, [&](int e, int, int) {
            for (int m = 0; m < arrays_; ++m) array(top_, m)[e] *= static_cast<T>(1 / step.scale);
          });
        }
        break;
      case PlaneStepKind::fork:
        each(grid, [&](int e, int, int) {
          for (int m = 0; m < arrays_; ++m) array(top_ + 1, m)[e] = array(top_, m)[e];
        });
        ++top_;
        break;
      case PlaneStepKind::swap:
        exchange(top_, top_ - 1);
        break;
      case PlaneStepKind::join: {
        const T gain = product(step.numbers);
        const T other = product(step.numbers + 1);
        --top_;
        each(grid, [&](int e, int, int) {
          for (int m = 0; m < arrays_; ++m)
            array(top_, m)[e] = gain * array(top_, m)[e] + other * array(top_ + 1, m)[e];
        });
        break;
      }
    }
  }

  WIDELIMIT_BOTH void average(const PlaneStep& step, const PlaneGrid& before, int e, int cols) const {
    for (int m = 0; m < arrays_; ++m) {
      array(call_.levels - 1, m)[e] =
          static_cast<T>(step.scale) * window_sum(step, before, array(top_, m), e / cols, e % cols);
    }
  }

  /// With t = 1 − |ρ| and X = arccos|ρ| = 2·arcsin√(t/2):  K = 1 − bX/π (ρ ≥ 0), a + bX/π (ρ < 0),
  ///   Σ ← (ρK + b√(t(2 − t))/π)·r r',  Θ ← (gA(Θ) + [trained]S)·K·h.
  WIDELIMIT_BOTH void bend(const PlaneStep& step, const Numbers& numbers, const PlaneGrid& before, int e, int cols,
                           int p, int q) const {
    constexpr T inverse_pi = static_cast<T>(0.318309886183790671538);
    const int spare = call_.levels - 1;
    const int positions = step.after.height * step.after.width;
    const T* f = task_.first + step.features;
    const T* g = task_.second + step.features;
    const T gain = numbers.gain;
    const auto sum = [&](int m) {
      return step.windowed ? window_sum(step, before, array(top_, m), e / cols, e % cols) : array(top_, m)[e];
    };
    const T sigma = gain * sum(0) + numbers.constant;
    const T rho = sigma * (f[p] * g[q]);
    const T magnitude = rho < 0 ? -rho : rho;
    const T t = magnitude < static_cast<T>(1 - step.equal) ? 1 - magnitude : T(0);
    const T angle = static_cast<T>(step.bend) * inverse_pi * 2 * std::asin(std::sqrt(t / 2));
    const T rest = static_cast<T>(step.bend) * inverse_pi * std::sqrt(t * (2 - t));
    const T dot = rho < 0 ? static_cast<T>(step.linear) + angle : 1 - angle;
    const T clamped = rho < 0 ? t - 1 : 1 - t;
    const T factor = dot * numbers.theta;
    for (int m = 0; m < call_.channels; ++m) {
      const bool trained = m >= step.trained_begin && m < step.trained_end;
      array(spare, 1 + m)[e] = (gain * sum(1 + m) + (trained ? sigma : T(0))) * factor;
    }
    array(spare, 0)[e] = (clamped * dot + rest) * (f[positions + p] * g[positions + q]);
  }

  WIDELIMIT_BOTH void close() {
    const PlaneGrid grid = grid_of(call_.end, {1, 1});
    if (call_.sink == PlaneSink::planes) {
      const int places = grid.height * grid.width;
      each(grid, [&](int e, int p, int q) {
        const int down = (q / grid.width - p / grid.width + grid.height) % grid.height;
        const int across = (q % grid.width - p % grid.width + grid.width) % grid.width;
        for (int m = 0; m < arrays_; ++m) {
          T* to =
              static_cast<T*>(call_.to) + (static_cast<std::int64_t>(task_.pair) * arrays_ + m) * kept_size(call_.end);
          to[(std::int64_t{down} * grid.width + across) * places + p] = array(top_, m)[e];
        }
      });
    } else if (call_.sink == PlaneSink::sums) {
      for (int m = 0; m < arrays_; ++m) {
        const double sum = team_.sum(array(top_, m), grid.size());
        if (team_.rank() == 0) {
          const std::int64_t planes = std::int64_t{call_.dy_count} * call_.dx_count;
          static_cast<double*>(call_.to)[(task_.pair * planes + task_.plane) * arrays_ + m] = sum;
        }
      }
    } else if (team_.rank() == 0) {
      const double r = call_.first_scale[call_.pairs[task_.pair].first];
      const double s = call_.second_scale[call_.pairs[task_.pair].second];
      const auto write = [&](int slot, int m) {
        // Multiply by the smaller factor first: r·s may overflow although the result does not.
        static_cast<double*>(call_.to)[std::int64_t{slot} * call_.pair_count + task_.pair] =
            static_cast<double>(array(top_, m)[0]) * (r < s ? r : s) * (r < s ? s : r);
      };
      if (call_.nngp_slot >= 0) write(call_.nngp_slot, 0);
      for (int m = 0; m < call_.ntk_count; ++m) write(call_.ntk_slot + m, 1 + m);
    }
  }

  const PlaneTask<T>& task_;
  const PlaneStageCall& call_;
  T* memory_;
  const Team& team_;
  int arrays_;
  int top_ = 0;
  int places_[most_plane_levels] = {0, 1, 2, 3, 4, 5, 6, 7};  ///< memory slot of each branch; the last one is spare
};

/// Returns the elements of memory that a team needs.
[[nodiscard]] WIDELIMIT_BOTH inline std::int64_t team_memory(const PlaneStageCall& call) {
  return std::int64_t{call.levels} * (1 + call.channels) * call.largest;
}

/// Runs plane number `work` of a call; the planes of one pair are adjacent.
template <typename T, typename Team>
WIDELIMIT_BOTH void run_plane(const PlaneStageCall& call, std::int64_t work, T* memory, const Team& team) {
  const int planes = call.dy_count * call.dx_count;
  const int pair = static_cast<int>(work / planes);
  const int plane = static_cast<int>(work % planes);
  const PlaneTask<T> task{call,
                          static_cast<const T*>(call.first) + call.pairs[pair].first * call.record_size,
                          static_cast<const T*>(call.second) + call.pairs[pair].second * call.record_size,
                          pair,
                          call.dy[plane / call.dx_count],
                          call.dx[plane % call.dx_count],
                          plane};
  PlaneStack<T, Team>(task, memory, team).run();
}

}  // namespace widelimit::cuda
