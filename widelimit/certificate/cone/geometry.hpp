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

/// Training samples that stay in the separate memory of an engine.
struct HeldSupport {
  const Engine& engine;
  const Cones& cones;
  EngineMatrix directions;
  EngineMatrix absolute;  ///< the same handle if no entry is negative; empty without a box
  EngineMatrix spread;    ///< sum_norms, 1 × support
};

/// Training samples as directions and lengths.
struct SupportGeometry {
  Matrix<double> directions;      ///< rows xᵢ/‖xᵢ‖, 0 for xᵢ = 0; entries accurate to two rounding units
  Matrix<double> absolute;        ///< |directions|; no rows if no entry is negative or without a box
  std::vector<double> norms;      ///< ‖xᵢ‖ with relative error norm_error
  std::vector<double> sum_norms;  ///< Σ w_j|x_ij|/‖xᵢ‖ for the half-widths w of an ℓ∞ ball, rounded up
  std::vector<Index> used;        ///< features that are non-zero in some sample, ascending
  double norm_error = 0;
  std::optional<HeldSupport> held;  ///< if the engine has separate memory

  /// Cost: a few passes over the samples, in long double so that squares neither overflow nor underflow.
  SupportGeometry(MatrixView<const double> support, const CertifyOptions& options, const Engine& engine);

 private:
  void hold(const Engine& engine, bool boxed);
};

/// Norms of points and their inner products with the directions.
struct PointGeometry {
  const SupportGeometry& support;
  /// ⟨x, xᵢ⟩/‖xᵢ‖, points × support, with error at most inner_error·‖x‖; rows beyond the points are undefined.
  Matrix<double> inner;
  EngineMatrix placed;        ///< inner products on an engine that holds the support; `inner` then has no rows
  std::vector<double> norms;  ///< ‖x‖ with relative error support.norm_error
  double inner_error = 0;

  /// Cost: a matrix product over the features that are non-zero in some point and in some training sample.
  /// `memory` is a matrix of earlier inner products whose allocation is reused.
  PointGeometry(const SupportGeometry& directions, MatrixView<const double> points, const Engine& engine,
                Matrix<double> memory = {});
};

[[nodiscard]] double euclidean_norm(const double* row, Index size);
/// Returns Σ w_j|row_j|; empty weights mean 1.
[[nodiscard]] double sum_norm(const double* row, Index size, std::span<const double> weights = {});

}  // namespace widelimit
