#pragma once

#include "widelimit/engine/enclosure/interval.hpp"
#include "widelimit/engine/layers.hpp"

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>

namespace widelimit {

/// g ≥ γ_{terms+8} + 8u with γ_k = ku/(1 − ku): relative error bound of a sum of `terms` products in any order,
/// including a few operations around it.
[[nodiscard]] inline double summation_error(Index terms) {
  return 1.01 * (static_cast<double>(terms) + 16) * unit_roundoff;
}

/// Columns [first, first + width) of a rows × cols weight matrix, minus those of `minus` if it is not null.
template <std::floating_point T>
struct WeightColumns {
  const T* w = nullptr;
  const T* minus = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index first = 0;
  Index width = 0;
};
/// Map applied to a weight when it is converted to float64.
enum class WeightMap : std::uint8_t { itself, modulus, square };

/// Enclosures |v − centre| ≤ radius of the values v of a layer.
struct EnclosureView {
  double* centre = nullptr;
  double* radius = nullptr;
};
struct ConstEnclosureView {
  const double* centre = nullptr;
  const double* radius = nullptr;
};
/// Enclosures of two networks and of their difference trained − start.
struct EnclosedPairView {
  ConstEnclosureView trained;
  ConstEnclosureView start;
  EnclosureView difference;
};

/// First layer of balls: row n belongs to point points[n], with radius reach[n] times the radii of the unit ball.
struct FirstLayerRows {
  std::span<const Index> points;  ///< host memory
  std::span<const double> reach;  ///< host memory
  const double* centres = nullptr;
  const double* unit = nullptr;
  Index size = 0;  ///< numbers per row
  double g = 0;
};

/// Enclosures of the layers of finite networks, elementwise in float64, in engine memory (allocated by LayerPasses) or
/// host memory. Rounding is bounded as in the proof, for any order of summation.
/// [docs/theory/certificates-proof.md#finite-networks]
class EnclosurePasses {
 public:
  virtual ~EnclosurePasses() = default;

  // Products.

  /// Writes rows × width numbers. The conversion to float64 is exact; squares and differences round once.
  virtual void take_columns(WeightMap map, const WeightColumns<float>& from, double* to) = 0;
  virtual void take_columns(WeightMap map, const WeightColumns<double>& from, double* to) = 0;
  /// |w_ic − w_ik| for all columns k, rounded up if the weights are differences.
  virtual void column_distances(const WeightColumns<float>& from, Index c, double* to) = 0;
  virtual void column_distances(const WeightColumns<double>& from, Index c, double* to) = 0;
  /// to = radius + (g·|centre| + 2⁻¹⁰⁰⁰); a null radius means 0; `to` may alias the radius.
  virtual void widen(double g, const ConstEnclosureView& a, Index count, double* to) = 0;
  /// radius = (radius + g·|bias_j|)·(1 + 2g) + least, j the column; a null bias means 0.
  virtual void round_up(double g, double least, const double* bias, Index rows, Index cols, double* radius) = 0;
  /// Sets the centres to those of the points and the radii to (reach·unit + 2g·|centre|)·(1 + 2g) + 2⁻¹⁰⁰⁰.
  virtual void first_layer(const FirstLayerRows& rows, const EnclosureView& to) = 0;

  // Layers, in place.

  /// φ must have a range rule (activation_range.hpp).
  virtual void activate(const ScalarFunction& phi, Index count, const EnclosureView& values) = 0;
  virtual void normalise(Index rows, Index cols, const EnclosureView& values) = 0;
  virtual void scale(double by, Index count, const EnclosureView& values) = 0;
  virtual void add(const ConstEnclosureView& other, Index count, const EnclosureView& values) = 0;
  /// Convert (centre, radius) to interval ends, and back.
  virtual void to_ends(Index count, const EnclosureView& values) = 0;
  virtual void from_ends(Index count, const EnclosureView& values) = 0;

  // Differences of two networks.

  /// Adds two enclosures by centres and radii.
  virtual void add_centres(const ConstEnclosureView& other, Index count, const EnclosureView& values) = 0;
  /// `subtract` replaces the difference by trained − start in interval arithmetic; `cut` intersects it with that.
  virtual void subtract(Index count, const EnclosedPairView& pair) = 0;
  virtual void cut(Index count, const EnclosedPairView& pair) = 0;
  /// Difference after φ, whose slopes lie in `slope`; for ReLU, intervals of one sign pass it on or set it to 0.
  virtual void activate_difference(Phi phi, const Interval& slope, Index count, const EnclosedPairView& pair) = 0;
};

/// Returns the enclosures of an engine with layers, or else host loops on the threads of the engine.
[[nodiscard]] std::shared_ptr<EnclosurePasses> enclosures_of(const Engine& engine);

}  // namespace widelimit
