#pragma once

#include "widelimit/engine/cpu/plane/plane_spill.hpp"
#include "widelimit/engine/cpu/plane/plane_trace.hpp"

namespace widelimit::cpu {

/// Row side of 16 pairs: image `lane` in image-major layout or, if it varies, one image per lane.
template <typename T>
struct PlaneRow {
  const GroupTrace<T>* trace = nullptr;
  Index lane = 0;
  bool varies = false;
};

/// 16 pairs of images. `self`: each image paired with itself.
template <typename T>
struct PlaneBatch {
  const GroupTrace<T>* col = nullptr;
  PlaneRow<T> row;
  bool self = false;
};

/// Runs 16 pairs through a program, plane by plane and stage by stage.
template <typename T>
class PlaneRunner {
 public:
  PlaneRunner(const PlaneProgram& program, Index input_channels);

  void begin(const PlaneBatch<T>& batch) { batch_ = batch; }
  /// Runs one stage; stages must run in order.
  void run_stage(std::size_t s);
  void run(const PlaneBatch<T>& batch);

  /// After the last stage: returns array k (Σ, then the tangents) of each lane, relative to R R'.
  [[nodiscard]] const T* result(Index k) const { return levels_.front().state.array(k); }
  /// Returns variances relative to R² after a stage, for images paired with themselves.
  [[nodiscard]] std::vector<double> variances();

 private:
  struct Level {
    PlaneState<T> state;
    Plane plane;
  };
  /// Products of the per-image numbers of both sides for one operation.
  struct Lanes {
    alignas(64) T gain[plane_lanes], constant[plane_lanes], theta[plane_lanes];
  };

  void open_stage(const PlaneStage& stage, std::size_t s);
  void open_plane(const PlaneStage& stage, std::size_t s, Index dy, Index dx);
  void run_op(std::size_t s, std::size_t k, Index dy, Index dx);
  void close_plane(const PlaneStage& stage);
  void close_stage(const PlaneStage& stage);
  void run_rectifier(const PlaneOp& op, const OpTrace& trace, std::size_t s, std::size_t k, Index dy, Index dx);
  void run_window(const Step& window, const Plane& before, const Plane& after);
  void run_dual(const PlaneOp& op, std::size_t s, std::size_t k);
  [[nodiscard]] PlaneFeature<T> feature(std::size_t s, std::size_t k, Index f) const;
  [[nodiscard]] Plane plane_after(const PlaneOp& op, std::size_t s, Index dy, Index dx);
  [[nodiscard]] Lanes lanes_of(std::size_t s, std::size_t k) const;
  [[nodiscard]] Level& top() { return levels_[top_]; }

  const PlaneProgram& program_;
  const PlanePasses<T>& passes_;
  Index channels_;
  PlaneBatch<T> batch_;
  Matrix<T> memory_, rows_;
  std::vector<Level> levels_;  ///< one per open branch, and one spare
  std::size_t top_ = 0;
  std::vector<Lanes> lanes_;  ///< for the operations of the current stage
  std::vector<double> totals_;
  PlaneSpill<T> now_, next_;
};

}  // namespace widelimit::cpu
