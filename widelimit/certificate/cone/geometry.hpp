#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/engine/engine_matrix.hpp"

#include <optional>
#include <span>
#include <vector>

namespace widelimit {

class Cones;
class Engine;
struct CertifyOptions;

/// Training samples in the memory of an engine that has one of its own, where they stay.
struct HeldSupport {
  const Engine& engine;
  const Cones& cones;
  EngineMatrix directions;
  EngineMatrix absolute;  ///< the same handle where no entry is negative; empty where no box is given
  EngineMatrix spread;    ///< sum_norms, 1 × support
};

/// Training samples as directions and lengths.
struct SupportGeometry {
  Matrix<double> directions;      ///< rows xᵢ/‖xᵢ‖, 0 for xᵢ = 0; entries are right to two units of rounding
  Matrix<double> absolute;        ///< |directions|; without rows where no entry is negative or no box is given
  std::vector<double> norms;      ///< ‖xᵢ‖, right to norm_error of itself
  std::vector<double> sum_norms;  ///< Σ w_j|x_ij|/‖xᵢ‖ for the half-widths w of an ℓ∞ ball, rounded up
  std::vector<Index> used;        ///< features that some sample has, in order
  double norm_error = 0;
  std::optional<HeldSupport> held;  ///< where the engine works in a memory of its own

  /// Cost: a few passes over the samples, in long double so that squares of large and small numbers are numbers.
  SupportGeometry(MatrixView<const double> support, const CertifyOptions& options, const Engine& engine);

 private:
  void hold(const Engine& engine, bool boxed);
};

/// Points against the directions.
struct PointGeometry {
  const SupportGeometry& support;
  /// ⟨x, xᵢ⟩/‖xᵢ‖, points × support, off by inner_error·‖x‖ at most; rows beyond the points mean nothing.
  Matrix<double> inner;
  EngineMatrix placed;        ///< of a support that an engine holds: here, and `inner` has no rows
  std::vector<double> norms;  ///< ‖x‖, right to support.norm_error of itself
  double inner_error = 0;

  /// Cost: a matrix product over the features that some point and some training sample have: the others add zeros.
  /// `memory` is that of other points' inner products, which need not come from the system again.
  PointGeometry(const SupportGeometry& directions, MatrixView<const double> points, const Engine& engine,
                Matrix<double> memory = {});
};

[[nodiscard]] double euclidean_norm(const double* row, Index size);
/// Σ w_j|row_j|; empty weights are 1.
[[nodiscard]] double sum_norm(const double* row, Index size, std::span<const double> weights = {});

}  // namespace widelimit
