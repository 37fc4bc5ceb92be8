#pragma once

#include "widelimit/recipe/step.hpp"

#include <array>
#include <span>

/// Displacement planes. Without pooling the displacement q − p of a position pair (p, q) never changes, so the pairs of
/// one displacement, a plane, go through all steps alone.                    [docs/theory/convolution.md]
///
/// Every number is a run of 16, one for each of 16 pairs of images: vectors run over pairs and never over positions, so
/// sizes, strides and padding are scalar control flow. Unwrapped planes then cost nothing: they hold
/// Σ_d (H−|dy|)(W−|dx|) = (HW)² elements, exactly the position pairs.
namespace widelimit::cpu {

constexpr Index plane_lanes = 16;

/// Part of a plane in which the positions of both images run without a seam.
struct PlaneRect {
  Index row = 0, col = 0;    ///< first element
  Index rows = 0, cols = 0;  ///< extent
  Index first_y = 0, first_x = 0;
  Index second_y = 0, second_x = 0;  ///< positions of that element in the two images
};

struct Plane {
  Index rows = 0, cols = 0;
  Index grid_width = 0;
  std::array<PlaneRect, 4> parts{};
  std::size_t part_count = 0;

  [[nodiscard]] Index size() const { return rows * cols * plane_lanes; }
  [[nodiscard]] std::span<const PlaneRect> rects() const { return {parts.data(), part_count}; }
};

/// The pairs (p, p + d) of a grid. `wraps`: p + d modulo the grid, which circular windows need; four parts at most.
[[nodiscard]] Plane make_plane(Grid grid, Index dy, Index dx, bool wraps);

/// Sums over a window in the coordinates of planes: element j reads elements strides·j − offset + [0, size).
struct PlaneWindow {
  Grid size, strides, offset{0, 0};
  bool wraps = false;
  Index rows_before = 0, cols_before = 0;
  [[nodiscard]] bool moves() const { return size != Grid{} || strides != Grid{}; }
  /// 3×3, every position, zeros around: what most layers are.
  [[nodiscard]] bool is_square() const {
    return size == Grid{3, 3} && strides == Grid{} && offset == Grid{1, 1} && !wraps;
  }
};

/// Σ and the tangents of one plane: array k at data + k·stride.
template <typename T>
struct PlaneState {
  T* data = nullptr;
  Index stride = 0;
  Index channels = 0;
  [[nodiscard]] T* array(Index k) const { return data + k * stride; }
  [[nodiscard]] Index arrays() const { return 1 + channels; }
};

/// A number of one side at each position: value p of 16 images at col + 16p; of the row side at row + p, the same for
/// all lanes, or, where `row_varies`, at row + 16p.
template <typename T>
struct PlaneFeature {
  const T* row = nullptr;
  const T* col = nullptr;
  bool row_varies = false;
};

/// window (or none), affine (or none) and an activation of the rectifier family in one pass over a plane:
///   Σ ← g·A(Σ) + c,  Θ ← g·A(Θ) + [trained]Σ,  ρ = Σ·v v',  Σ ← (aρ + bκ₁(ρ))·r r',  Θ ← Θ·h·(a + bκ₀(ρ))
/// with v, r of positions and g, c, h of lanes.
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
  bool nonnegative = false;  ///< no Σ of this step is negative
  T equal = 0;               ///< 1 − |ρ| below this is rounding: counted as 0
  Index trained_begin = 0, trained_end = 0;
};

/// `scratch` holds (rows of the window + 2)·arrays rows of the plane. `to` may be `from` unless the window wraps or
/// is square.
template <typename T>
void rectifier_pass(const RectifierPass<T>& pass, const Plane& plane, const PlaneState<T>& from,
                    const PlaneState<T>& to, T* scratch);

/// The other passes, compiled for the instructions of this processor.
template <typename T>
struct PlanePasses {
  /// All arrays ← scale·A(array).
  void (*window)(const PlaneWindow& window, T scale, const Plane& plane, const PlaneState<T>& from,
                 const PlaneState<T>& to, T* scratch);
  /// Σ = Σ_c x_c x'_c, Θ = 0; x_c of position p at row + pC + c and col + 16(pC + c), C = channels.
  void (*input)(const PlaneFeature<T>& x, Index channels, const Plane& plane, const PlaneState<T>& to);
  /// All arrays times f f'.
  void (*scale)(const PlaneFeature<T>& f, const Plane& plane, const PlaneState<T>& state);
  /// Σ ← g·Σ + c,  Θ_m ← g·Θ_m + [begin ≤ m < end]Σ; g, c of lanes.
  void (*affine)(const T* gain, const T* constant, Index begin, Index end, const Plane& plane,
                 const PlaneState<T>& state);
  /// state ← g·state + h·other; g, h of lanes.
  void (*join)(const T* gain, const T* other_gain, const Plane& plane, const PlaneState<T>& other,
               const PlaneState<T>& state);
  /// Adds the sum of array k to sums[16k …]: rows in T, the rest in double.
  void (*total)(const Plane& plane, const PlaneState<T>& state, double* sums);
  /// to[j] += scale·Σ_{begin ≤ a < end} from[stride·j + a] for j < count, elements of 16 lanes.
  void (*pool_row)(const T* from, Index begin, Index end, Index stride, T scale, Index count, T* to);
  /// ρ clamped, t = 1 − |ρ| beside it; below `equal` it is rounding and counts as 0.
  void (*correlation)(double* rho, double* t, Index size, double equal);
};
template <typename T>
const PlanePasses<T>& plane_passes();

}  // namespace widelimit::cpu
