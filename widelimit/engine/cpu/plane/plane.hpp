#pragma once

#include "widelimit/recipe/step.hpp"

#include <array>
#include <span>

/// Displacement planes. Without pooling, the displacement q − p of a position pair (p, q) is invariant, so the pairs of
/// one displacement, a plane, pass through all steps independently.                    [docs/theory/convolution.md]
///
/// Every number is a group of 16, one for each of 16 pairs of images: vectors run over pairs, never over positions, so
/// sizes, strides and padding are scalar control flow. Unwrapped planes hold Σ_d (H−|dy|)(W−|dx|) = (HW)² elements,
/// exactly the position pairs, without overhead.
namespace widelimit::cpu {

constexpr Index plane_lanes = 16;

/// Part of a plane in which the positions of both images are contiguous.
struct PlaneRect {
  Index row = 0, col = 0;    ///< first element
  Index rows = 0, cols = 0;  ///< extent
  Index first_y = 0, first_x = 0;
  Index second_y = 0, second_x = 0;  ///< positions of the first element in the two images
};

struct Plane {
  Index rows = 0, cols = 0;
  Index grid_width = 0;
  std::array<PlaneRect, 4> parts{};
  std::size_t part_count = 0;

  [[nodiscard]] Index size() const { return rows * cols * plane_lanes; }
  [[nodiscard]] std::span<const PlaneRect> rects() const { return {parts.data(), part_count}; }
};

/// Returns the pairs (p, p + d) of a grid, in at most four parts. `wraps`: p + d modulo the grid, for circular windows.
[[nodiscard]] Plane make_plane(Grid grid, Index dy, Index dx, bool wraps);

/// Window sums in plane coordinates: element j reads elements strides·j − offset + [0, size).
struct PlaneWindow {
  Grid size, strides, offset{0, 0};
  bool wraps = false;
  Index rows_before = 0, cols_before = 0;
  [[nodiscard]] bool moves() const { return size != Grid{} || strides != Grid{}; }
  /// Returns true for the most common case: 3×3 windows at every position with zero padding.
  [[nodiscard]] bool is_square() const {
    return size == Grid{3, 3} && strides == Grid{} && offset == Grid{1, 1} && !wraps;
  }
};

/// Σ and the tangents of one plane; array k is at data + k·stride.
template <typename T>
struct PlaneState {
  T* data = nullptr;
  Index stride = 0;
  Index channels = 0;
  [[nodiscard]] T* array(Index k) const { return data + k * stride; }
  [[nodiscard]] Index arrays() const { return 1 + channels; }
};

/// One number per position on each side: value p of 16 images at col + 16p; on the row side at row + p for all lanes
/// or, if `row_varies`, at row + 16p.
template <typename T>
struct PlaneFeature {
  const T* row = nullptr;
  const T* col = nullptr;
  bool row_varies = false;
};

/// Optional window, optional affine layer and an activation of the rectifier family, fused in one pass over a plane:
///   Σ ← g·A(Σ) + c,  Θ ← g·A(Θ) + [trained]Σ,  ρ = Σ·v v',  Σ ← (aρ + bκ₁(ρ))·r r',  Θ ← Θ·h·(a + bκ₀(ρ))
/// with v, r per position and g, c, h per lane.
template <typename T>
struct RectifierPass {
  PlaneWindow window;
  PlaneFeature<T> inverse, deviation;
  const T* gain = nullptr;  ///< 16 numbers each; `plain`: g = 1, c = 0, h = theta_scale
  const T* constant = nullptr;
  const T* theta_gain = nullptr;
  bool plain = true;
  T theta_scale = 1;
  T linear = 0, bend = 1;
  bool nonnegative = false;  ///< Σ of this step is nonnegative
  T equal = 0;               ///< values of 1 − |ρ| below this are rounding errors and count as 0
  Index trained_begin = 0, trained_end = 0;
};

/// `scratch` holds (window height + 2)·arrays rows of the plane. `to` may alias `from` unless the window wraps or is
/// square.
template <typename T>
void rectifier_pass(const RectifierPass<T>& pass, const Plane& plane, const PlaneState<T>& from,
                    const PlaneState<T>& to, T* scratch);

/// The other passes, compiled for the instruction set of this processor.
template <typename T>
struct PlanePasses {
  /// All arrays ← scale·A(array).
  void (*window)(const PlaneWindow& window, T scale, const Plane& plane, const PlaneState<T>& from,
                 const PlaneState<T>& to, T* scratch);
  /// Σ = Σ_c x_c x'_c, Θ = 0; x_c of position p at row + pC + c and col + 16(pC + c), C = channels.
  void (*input)(const PlaneFeature<T>& x, Index channels, const Plane& plane, const PlaneState<T>& to);
  /// Multiplies all arrays by f f'.
  void (*scale)(const PlaneFeature<T>& f, const Plane& plane, const PlaneState<T>& state);
  /// Σ ← g·Σ + c,  Θ_m ← g·Θ_m + [begin ≤ m < end]Σ, with g, c per lane.
  void (*affine)(const T* gain, const T* constant, Index begin, Index end, const Plane& plane,
                 const PlaneState<T>& state);
  /// state ← g·state + h·other, with g, h per lane.
  void (*join)(const T* gain, const T* other_gain, const Plane& plane, const PlaneState<T>& other,
               const PlaneState<T>& state);
  /// Adds the sum of array k to sums[16k …]: rows are summed in T, across rows in double.
  void (*total)(const Plane& plane, const PlaneState<T>& state, double* sums);
  /// to[j] += scale·Σ_{begin ≤ a < end} from[stride·j + a] for j < count, elements of 16 lanes.
  void (*pool_row)(const T* from, Index begin, Index end, Index stride, T scale, Index count, T* to);
  /// Writes clamped ρ and t = 1 − |ρ|; values of t below `equal` are rounding errors and become 0.
  void (*correlation)(double* rho, double* t, Index size, double equal);
};
template <typename T>
const PlanePasses<T>& plane_passes();

}  // namespace widelimit::cpu
