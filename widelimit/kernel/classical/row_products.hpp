#pragma once

#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/kernel/classical/scaled_rows.hpp"

#include <string>

namespace widelimit {

struct ClassicalKernel;

/// Description of the method that computes a classical kernel.
[[nodiscard]] std::string classical_route(const ClassicalKernel& kernel, bool sparse, const Engine& engine);

/// Tile edge of a classical kernel: small enough for the caches of a CPU, large enough for a device.
[[nodiscard]] Index classical_tile_edge(const Engine& engine);

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

}  // namespace widelimit
