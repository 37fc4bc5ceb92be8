#pragma once

#include "widelimit/recipe/recipe.hpp"

#include <optional>
#include <string>
#include <vector>

/// A recipe split for displacement planes: stages without pooling, made of operations on single planes.
namespace widelimit::cpu {

/// Steps fused into one pass over a plane. `main` determines the operation; a rectifier includes the preceding window
/// and layer.
struct PlaneOp {
  Step main;
  std::optional<Step> window, affine;
  bool rectifies = false;
  bool nonnegative = false;          ///< Σ before the activation is nonnegative, as after relu or abs
  Index products = 0;                ///< number of channels if Σ was summed over them since the last activation
  Grid before, after;                ///< positions
  Grid stride_before, stride_after;  ///< displacement of a plane at this operation relative to the end of the stage
};

enum class StageEnd : std::uint8_t {
  total,  ///< flatten (displacement 0) or global pooling: weight times the sum over the planes
  pool,   ///< writes the planes of a coarser grid
  emit,   ///< one position is left and is written
};

struct PlaneStage {
  std::vector<PlaneOp> ops;
  Grid begin, end;     ///< positions of its first and last state
  Grid stride_begin;   ///< displacement at the beginning relative to the end
  bool wraps = false;  ///< circular windows: displacements are modulo the grid
  StageEnd ending = StageEnd::emit;
  Step last;                    ///< flatten, pool or emit
  double weight = 1;            ///< total: weight of each element
  std::vector<Index> dy, dx;    ///< required displacements at the end
  bool variance_after = false;  ///< a later operation needs variances
};

struct PlaneProgram {
  std::vector<PlaneStage> stages;
  Index channels = 0;
  std::size_t depth = 1;  ///< maximum number of simultaneous states, including residual branches
  Index largest = 0;      ///< positions of the largest plane
  Index tallest_window = 1;
  /// Reason why the recipe cannot run on planes; empty if it can.
  std::string obstacle;
};

[[nodiscard]] PlaneProgram plane_program(const Recipe& recipe);

}  // namespace widelimit::cpu
