#pragma once

/// A displacement plane in the registers of one warp.                         [docs/theory/convolution.md]
///
/// The plane of displacement d holds the pairs (p, p + d), p + d modulo the grid, of a grid of at most 32×32 positions:
/// lane 8g + c holds rows 8g … 8g + 7 and columns 4c … 4c + 3 of Σ and Θ. Windows are summed along columns first (halo
/// from lanes ±8), then along rows (halo from lanes ±1). `links` are 1 between positions that are neighbours in both
/// images and 0 at image borders, so that seams of the wrapped grid need no branches.
///
/// With the deviations r_p, r'_q after the window, n = r_p r'_q and S = A(Σ), a rectifier of slope s,
/// b = (1 − s)²/(1 + s²), a = 1 − b, computes (times π, which is compensated by the scale of the images)
///   t = 1 − |S|/n,  X = arccos|ρ| = √t·P(t),  K = π − bX  (ρ ≥ 0),  πa + bX  (ρ < 0),
///   Σ ← S·K + b·n·√t·√(2 − t),  Θ ← (A(Θ) + [trained]S)·K.
/// Values of t below 2⁻²⁰ are rounding error and treated as 0, so that equal patches stay equal: t·2⁻¹⁰⁶ is then
/// denormal and flushed to zero.
namespace widelimit::cuda {

constexpr int plane_rows = 8;  ///< rows and columns of a lane
constexpr int plane_cols = 4;
constexpr int plane_side = 32;
constexpr int plane_places = plane_side * plane_side;

/// Constants of a rectifier, prescaled for `bend`. P has relative error 1.1e-6.
struct RectifierConstants {
  float p[6];         ///< b·2⁵³·P
  float one, linear;  ///< π and πa
  float g0, g1;       ///< b²·2¹⁰⁶·(2 − t) = g0 + g1·t
};

inline RectifierConstants constants_of(double slope) {
  constexpr double pi = 3.14159265358979323846;
  constexpr double p[] = {1.414212442, 0.1179254756, 0.02572182872, 0.0109358664, -0.002337570395, 0.004337164101};
  const double b = (1 - slope) * (1 - slope) / (1 + slope * slope);
  RectifierConstants c{};
  for (int k = 0; k < 6; ++k) c.p[k] = static_cast<float>(p[k] * b * 0x1p53);
  c.one = static_cast<float>(pi);
  c.linear = static_cast<float>(pi * (1 - b));
  c.g0 = static_cast<float>(b * b * 0x1p107);
  c.g1 = static_cast<float>(-b * b * 0x1p106);
  return c;
}

__device__ __forceinline__ float root_of(float x) {
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float reciprocal_of(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/// Returns x·y clamped to [0, 1]; 0 for NaN, which results from 0/0 if an image has zero variance.
__device__ __forceinline__ float clamped_product(float x, float y) {
  float z;
  asm("mul.ftz.sat.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}

/// The part of one lane of Σ and Θ of a plane.
struct RegisterPlane {
  float state[2][plane_rows][plane_cols];
};

/// Links above the rows and left of the columns of a lane, plus one below and one to the right.
struct PlaneLinks {
  float above[plane_rows + 1];
  float left[plane_cols + 1];
};

/// Returns 1 if positions k − 1 and k of an axis are neighbours in both images, else 0.
__device__ __forceinline__ float link_of(int k, int size, int displacement) {
  return k > 0 && k < size && k != size - displacement ? 1.0F : 0.0F;
}

__device__ __forceinline__ PlaneLinks links_of(int lane, int height, int width, int dy, int dx) {
  PlaneLinks links;
  const int y = lane / 8 * plane_rows;
  const int x = lane % 8 * plane_cols;
#pragma unroll
  for (int i = 0; i <= plane_rows; ++i) links.above[i] = link_of(y + i, height, dy);
#pragma unroll
  for (int k = 0; k <= plane_cols; ++k) links.left[k] = link_of(x + k, width, dx);
  return links;
}

/// Applies the activation to one element: S and A(Θ) on input, Σ and Θ on output.
template <bool Signed>
__device__ __forceinline__ void bend(const RectifierConstants& c, float n, float trained, float& sigma, float& theta) {
  const float s = sigma;
  const float t = clamped_product(n - (Signed ? fabsf(s) : s), reciprocal_of(n));
  const float root = root_of(clamped_product(t, 0x1p-106F));
  const float g = root_of(__fmaf_rn(c.g1, t, c.g0));
  float p = c.p[5];
#pragma unroll
  for (int k = 4; k >= 0; --k) p = __fmaf_rn(p, t, c.p[k]);
  float dot;
  if constexpr (Signed) {
    const bool negative = s < 0;
    dot = __fmaf_rn(negative ? root : -root, p, negative ? c.linear : c.one);
  } else {
    dot = __fmaf_rn(-root, p, c.one);
  }
  sigma = __fmaf_rn(s, dot, (n * g) * root);
  theta = __fmaf_rn(trained, s, theta) * dot;
}

/// Pairing of three-term sums along an axis: two adjacent sums share x_i + x_{i+1} where no seam can lie between i and
/// i + 1. On 32 rows and columns, seams lie at even positions for even displacements, so pairs begin at even positions;
/// for odd displacements, pairs begin at odd positions and the two ends are unpaired.
enum class Pairing { none, even, odd };

__device__ constexpr bool begins_pair(Pairing pairing, int i, int size) {
  return pairing == Pairing::even ? i % 2 == 0 : pairing == Pairing::odd && i % 2 == 1 && i + 1 < size;
}
__device__ constexpr bool ends_pair(Pairing pairing, int i) { return i > 0 && begins_pair(pairing, i - 1, i + 1); }

/// Applies a 3×3 window and a rectifier. `first`, `second`: deviations of this lane's columns; row i of the first image
/// is at first + Stride·i, of the second at second + offset(i). `Y`, `X`: pairing of the sums along columns and rows;
/// `First`: Θ is 0.
template <bool Signed, Pairing Y, Pairing X, int Stride = 8, bool First = false, typename Offset>
__device__ __forceinline__ void bend_plane(const RectifierConstants& c, const PlaneLinks& links, const float4* first,
                                           const float4* second, const Offset& offset, float trained,
                                           RegisterPlane& plane) {
  constexpr unsigned all = 0xffffffffU;
  constexpr int arrays = First ? 1 : 2;
  float above[2][plane_cols];
  float below[2][plane_cols];
  float pair[2][plane_cols];
#pragma unroll
  for (int m = 0; m < arrays; ++m) {
#pragma unroll
    for (int k = 0; k < plane_cols; ++k) {
      above[m][k] = __shfl_up_sync(all, plane.state[m][plane_rows - 1][k], 8);
      below[m][k] = __shfl_down_sync(all, plane.state[m][0][k], 8);
    }
  }
#pragma unroll
  for (int i = 0; i < plane_rows; ++i) {
    float sum[2][plane_cols] = {};
#pragma unroll
    for (int m = 0; m < arrays; ++m) {
      float wide[plane_cols + 2];
#pragma unroll
      for (int k = 0; k < plane_cols; ++k) {
        const float here = plane.state[m][i][k];
        const float under = i + 1 < plane_rows ? plane.state[m][(i + 1) % plane_rows][k] : below[m][k];
        if (begins_pair(Y, i, plane_rows)) {
          pair[m][k] = here + under;
          wide[k + 1] = __fmaf_rn(links.above[i], above[m][k], pair[m][k]);
        } else if (ends_pair(Y, i)) {
          wide[k + 1] = __fmaf_rn(links.above[i + 1], under, pair[m][k]);
        } else {
          wide[k + 1] = __fmaf_rn(links.above[i], above[m][k], __fmaf_rn(links.above[i + 1], under, here));
        }
        above[m][k] = here;
      }
      wide[0] = __shfl_up_sync(all, wide[plane_cols], 1);
      wide[plane_cols + 1] = __shfl_down_sync(all, wide[1], 1);
      float between = 0;
#pragma unroll
      for (int k = 0; k < plane_cols; ++k) {
        if (begins_pair(X, k, plane_cols)) {
          between = wide[k + 1] + wide[k + 2];
          sum[m][k] = __fmaf_rn(links.left[k], wide[k], between);
        } else if (ends_pair(X, k)) {
          sum[m][k] = __fmaf_rn(links.left[k + 1], wide[k + 2], between);
        } else {
          sum[m][k] = __fmaf_rn(links.left[k], wide[k], __fmaf_rn(links.left[k + 1], wide[k + 2], wide[k + 1]));
        }
      }
    }
    const float4 p = first[i * Stride];
    const float4 q = second[offset(i)];
    const float n[plane_cols] = {p.x * q.x, p.y * q.y, p.z * q.z, p.w * q.w};
#pragma unroll
    for (int k = 0; k < plane_cols; ++k) {
      bend<Signed>(c, n[k], trained, sum[0][k], sum[1][k]);
      plane.state[0][i][k] = sum[0][k];
      plane.state[1][i][k] = sum[1][k];
    }
  }
}

/// Σ += x_p x'_q of one input channel.
template <typename Offset>
__device__ __forceinline__ void add_channel(const float4* first, const float4* second, const Offset& offset,
                                            RegisterPlane& plane) {
#pragma unroll
  for (int i = 0; i < plane_rows; ++i) {
    const float4 p = first[i * 8];
    const float4 q = second[offset(i)];
    plane.state[0][i][0] = __fmaf_rn(p.x, q.x, plane.state[0][i][0]);
    plane.state[0][i][1] = __fmaf_rn(p.y, q.y, plane.state[0][i][1]);
    plane.state[0][i][2] = __fmaf_rn(p.z, q.z, plane.state[0][i][2]);
    plane.state[0][i][3] = __fmaf_rn(p.w, q.w, plane.state[0][i][3]);
  }
}

__device__ __forceinline__ void clear(RegisterPlane& plane) {
#pragma unroll
  for (int i = 0; i < plane_rows; ++i) {
#pragma unroll
    for (int k = 0; k < plane_cols; ++k) plane.state[0][i][k] = plane.state[1][i][k] = 0;
  }
}

__device__ __forceinline__ void scale(float factor, RegisterPlane& plane) {
#pragma unroll
  for (int i = 0; i < plane_rows; ++i) {
#pragma unroll
    for (int k = 0; k < plane_cols; ++k) {
      plane.state[0][i][k] *= factor;
      plane.state[1][i][k] *= factor;
    }
  }
}

/// Returns the sum of one array over the whole plane in every lane, as a tree with a fixed order.
__device__ __forceinline__ float sum_of(const float (&array)[plane_rows][plane_cols]) {
  float rows[plane_rows];
#pragma unroll
  for (int i = 0; i < plane_rows; ++i) rows[i] = (array[i][0] + array[i][1]) + (array[i][2] + array[i][3]);
  float sum = ((rows[0] + rows[1]) + (rows[2] + rows[3])) + ((rows[4] + rows[5]) + (rows[6] + rows[7]));
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
  return sum;
}

}  // namespace widelimit::cuda
