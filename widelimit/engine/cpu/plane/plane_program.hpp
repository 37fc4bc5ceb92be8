#pragma once

#include "widelimit/recipe/recipe.hpp"

#include <optional>
#include <string>
#include <vector>

/// A recipe cut for displacement planes: stages without pooling, of operations on single planes.
namespace widelimit::cpu {

/// Steps that are done in one pass over a plane. `main` alone decides what is done; a rectifier takes the window and
/// the layer before it along.
struct PlaneOp {
  Step main;
  std::optional<Step> window, affine;
  bool rectifies = false;
  bool nonnegative = false;          ///< Σ before the activation is never negative: it comes from relu or abs
  Index products = 0;                ///< channels, where Σ was summed over them since the last activation
  Grid before, after;                ///< positions
  Grid stride_before, stride_after;  ///< displacement of a plane of this operation over that at the end of the stage
};

enum class StageEnd : std::uint8_t {
  total,  ///< flatten (displacement 0) or global pooling: weight times the sum over the planes
  pool,   ///< the planes of a coarser grid
  emit,   ///< one position is left, and written
};

struct PlaneStage {
  std::vector<PlaneOp> ops;
  Grid begin, end;     ///< positions of its first and last state
  Grid stride_begin;   ///< displacement at the begin over that at the end
  bool wraps = false;  ///< circular windows: displacements modulo the grid
  StageEnd ending = StageEnd::emit;
  Step last;                    ///< flatten, pool or emit
  double weight = 1;            ///< total: of each element
  std::vector<Index> dy, dx;    ///< displacements at the end that are needed
  bool variance_after = false;  ///< a later operation needs variances
};

struct PlaneProgram {
  std::vector<PlaneStage> stages;
  Index channels = 0;
  std::size_t depth = 1;  ///< states at once, residual branches included
  Index largest = 0;      ///< positions of the largest plane
  Index tallest_window = 1;
  /// Why the recipe cannot run on planes; empty where it can.
  std::string obstacle;
};

[[nodiscard]] PlaneProgram plane_program(const Recipe& recipe);

}  // namespace widelimit::cpu
