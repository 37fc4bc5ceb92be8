#pragma once

#include "widelimit/engine/enclosure/interval.hpp"
#include "widelimit/engine/layers.hpp"

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>

namespace widelimit {

/// g ≥ γ_{terms+8} + 8u with γ_k = ku/(1 − ku): the relative error of a sum of so many products in any order, with
/// room for the few operations around it.
[[nodiscard]] inline double summation_error(Index terms) {
  return 1.01 * (static_cast<double>(terms) + 16) * unit_roundoff;
}

/// Columns [first, first + width) of the weights of a layer, rows × cols, less those of `minus` where there are any.
template <std::floating_point T>
struct WeightColumns {
  const T* w = nullptr;
  const T* minus = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index first = 0;
  Index width = 0;
};
/// What becomes of a weight on its way to float64.
enum class WeightMap : std::uint8_t { itself, modulus, square };

/// Values v of a layer with |v − centre| ≤ radius, to be read or changed.
struct EnclosureView {
  double* centre = nullptr;
  double* radius = nullptr;
};
struct ConstEnclosureView {
  const double* centre = nullptr;
  const double* radius = nullptr;
};
/// Two networks, and what the first has more than the second.
struct EnclosedPairView {
  ConstEnclosureView trained;
  ConstEnclosureView start;
  EnclosureView difference;
};

/// The first layer of balls: row n is that of point points[n], which moves by reach[n] times the radii of the unit
/// ball.
struct FirstLayerRows {
  std::span<const Index> points;  ///< of the host
  std::span<const double> reach;  ///< of the host
  const double* centres = nullptr;
  const double* unit = nullptr;
  Index size = 0;  ///< numbers of a row
  double g = 0;
};

/// Enclosures of the layers of networks of finite width, number by number in float64, where an engine works: in its own
/// memory, which LayerPasses allocate, or in that of the host. Rounding is counted as the proof does, whatever the
/// order of sums. [docs/theory/certificates-proof.md#finite-networks]
class EnclosurePasses {
 public:
  virtual ~EnclosurePasses() = default;

  // Products.

  /// rows × width numbers; of float32 they are exact, squares and differences round once.
  virtual void take_columns(WeightMap map, const WeightColumns<float>& from, double* to) = 0;
  virtual void take_columns(WeightMap map, const WeightColumns<double>& from, double* to) = 0;
  /// |w_ic − w_ik| of all columns k, upwards where the weights themselves are differences.
  virtual void column_distances(const WeightColumns<float>& from, Index c, double* to) = 0;
  virtual void column_distances(const WeightColumns<double>& from, Index c, double* to) = 0;
  /// to = radius + (g·|centre| + 2⁻¹⁰⁰⁰); a radius that is null is 0, `to` may be the radius.
  virtual void widen(double g, const ConstEnclosureView& a, Index count, double* to) = 0;
  /// radius = (radius + g·|bias_j|)·(1 + 2g) + least, j the column; a bias that is null is 0.
  virtual void round_up(double g, double least, const double* bias, Index rows, Index cols, double* radius) = 0;
  /// (reach·unit + 2g·|centre|)·(1 + 2g) + 2⁻¹⁰⁰⁰ about the centres of the points.
  virtual void first_layer(const FirstLayerRows& rows, const EnclosureView& to) = 0;

  // Layers, in place.

  /// φ has a range (activation_range.hpp).
  virtual void activate(const ScalarFunction& phi, Index count, const EnclosureView& values) = 0;
  virtual void normalise(Index rows, Index cols, const EnclosureView& values) = 0;
  virtual void scale(double by, Index count, const EnclosureView& values) = 0;
  virtual void add(const ConstEnclosureView& other, Index count, const EnclosureView& values) = 0;
  /// Centre and radius become the ends of an interval, and back.
  virtual void to_ends(Index count, const EnclosureView& values) = 0;
  virtual void from_ends(Index count, const EnclosureView& values) = 0;

  // Differences of two networks.

  /// The sum of two enclosures by centres and radii.
  virtual void add_centres(const ConstEnclosureView& other, Index count, const EnclosureView& values) = 0;
  /// The two intervals subtracted in place of the difference, or where that says more than it.
  virtual void subtract(Index count, const EnclosedPairView& pair) = 0;
  virtual void cut(Index count, const EnclosedPairView& pair) = 0;
  /// The difference that leaves φ, of slopes in `slope`; a relu whose intervals have one sign passes or drops it.
  virtual void activate_difference(Phi phi, const Interval& slope, Index count, const EnclosedPairView& pair) = 0;
};

/// Those of an engine with layers, else loops of the host on the engine's threads.
[[nodiscard]] std::shared_ptr<EnclosurePasses> enclosures_of(const Engine& engine);

}  // namespace widelimit
