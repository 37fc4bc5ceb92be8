#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/engine/cpu/plane/plane.hpp"

#include <vector>

namespace widelimit::cpu {

/// The state between two stages: all unwrapped planes at the beginning of the next stage, with displacements dy × dx.
template <typename T>
class PlaneSpill {
 public:
  /// Resets to zeros for displacements dy × dx of a grid.
  void restart(Grid grid, const std::vector<Index>& dy, const std::vector<Index>& dx, Index arrays);

  [[nodiscard]] const std::vector<Index>& dy() const { return rows_.list; }
  [[nodiscard]] const std::vector<Index>& dx() const { return cols_.list; }
  [[nodiscard]] Grid grid() const { return grid_; }
  /// Returns the first element of a plane: positions max(0, −dy), max(0, −dx) of the first image.
  [[nodiscard]] T* plane(Index array, Index dy, Index dx);
  /// Copies the pairs of `plane`, at the beginning of the next stage, to `state`.
  void copy_to(const Plane& plane, const PlaneState<T>& state);
  /// Adds a pooled plane. `step` is the pooling step, `plane` a plane of the finer grid.
  void add_pooled(const Step& step, const Plane& plane, const PlaneState<T>& state);

 private:
  struct Axis {
    std::vector<Index> list;
    std::vector<Index> offset;  ///< number of elements before displacement d, at d + n − 1; −1 if it is absent
    Index total = 0;
    void restart(Index n, const std::vector<Index>& displacements);
  };

  Grid grid_;
  Axis rows_, cols_;
  Matrix<T> memory_;
  Index stride_ = 0;
};

}  // namespace widelimit::cpu
