#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/network/activation.hpp"

/// Vectorised steps on strips of pairs. A strip holds, for one row (a sample, or a position of an image) against a run
/// of columns, the correlation and the tangent channels relative to the two standard deviations r, r':
///   ρ = Σ/(r r'),   t = 1 − |ρ| carried beside it with its own digits,   θ_m = Θ_m/(r r').
/// Relative to the deviations nothing overflows or underflows, and 1 − ρ keeps its digits however deep the network.
/// Arrays are padded to a multiple of `strip_padding`: loops run over whole vectors, the excess lanes mean nothing.
namespace widelimit::cpu {

constexpr Index strip_padding = 16;
constexpr Index padded(Index size) { return (size + strip_padding - 1) / strip_padding * strip_padding; }

template <typename T>
struct Strip {
  Index size = 0;
  T* rho = nullptr;
  T* t = nullptr;
  T* theta = nullptr;  ///< channel m at theta + m·theta_stride
  Index theta_stride = 0;
  Index channels = 0;
  /// Channels [begin, end) to whose θ a step adds the ρ it leaves: the layer without bias that mostly follows an
  /// activation, done while the numbers are in registers.
  Index trained_begin = 0;
  Index trained_end = 0;
};

/// A number that belongs to one side of the pair: the same for the whole strip on the row side (or one for each
/// element, where `row_varies`, or one for each 16, where `row_in_groups`), one for each element on the column side.
template <typename T>
struct Sides {
  const T* row = nullptr;
  const T* col = nullptr;
  bool row_varies = false;
  bool row_in_groups = false;
};

/// Clamps ρ, sets t and θ. True where some |ρ| is so near 1 that t must be recomputed from the inputs.
template <typename T>
bool begin_strip(const Strip<T>& strip, T near);

/// relu, leaky_relu, abs:  ρ ← Aρ + Bκ₁(ρ),  θ ← θ·(A + Bκ₀(ρ)),  A + B = 1.
template <typename T>
void rectifier(T a, T b, const Strip<T>& strip);

/// θ_m ← θ_m + ρ for m in [begin, end): a layer without bias, whose weights leave ρ alone.
template <typename T>
void add_rho(Index begin, Index end, const Strip<T>& strip);

/// ρ ← a a'ρ + c c', θ_m ← a a'θ_m + [begin ≤ m < end]·ρ: a layer with bias, a² + c² = 1 on each side.
template <typename T>
void blend_constant(const Sides<T>& a, const Sides<T>& c, Index begin, Index end, const Strip<T>& strip);

/// strip ← a a'·strip + b b'·other: the sum of two branches, a² + b² = 1 on each side.
template <typename T>
void blend(const Sides<T>& a, const Sides<T>& b, const Strip<T>& other, const Strip<T>& strip);

/// ρ ← rate·ρ, θ ← rate·θ: dropout raises the variances, not the covariance.
template <typename T>
void shrink(T rate, const Strip<T>& strip);

/// out = values·s·s'. False where an element left the range of Out.
template <typename T, typename Out>
bool write_out(const T* values, Index size, const Sides<T>& s, Out* out);

/// erf:  with e = √(2q/(1+2q)), h = √(1−e²):  ρ ← (2/π)asin(e e'ρ)·n n',  θ ← θ·d d'/√(1−(e e'ρ)²).
void erf_strip(const Sides<double>& e, const Sides<double>& h, const Sides<double>& n, const Sides<double>& d,
               const Strip<double>& strip);
/// gelu: e = √(q/(1+q)), h = √(1−e²), n = r/r_new.
void gelu_strip(const Sides<double>& e, const Sides<double>& h, const Sides<double>& n, const Strip<double>& strip);
/// e^{−x²}: e, h as for erf;  ρ ← n n'/√(1−(e e'ρ)²),  θ ← θ·ρ·d d'/(1−(e e'ρ)²)^{3/2}.
void gaussian_strip(const Sides<double>& e, const Sides<double>& h, const Sides<double>& n, const Sides<double>& d,
                    const Strip<double>& strip);
/// exp (γ = ½) and rbf:  ρ ← exp(−γ((r−r')² + 2rr'(1−ρ))),  θ ← θ·2γrr'ρ_new.
void radial_strip(double gamma, const Sides<double>& r, const Strip<double>& strip);
/// sin (odd) and cos: e^{−(r²+r'²)/2} times sinh and cosh of rr'ρ, one for ρ and the other for θ; n = 1/r_new.
void wave_strip(bool odd, const Sides<double>& r, const Sides<double>& n, const Strip<double>& strip);
/// sign:  ρ ← (2/π)asin ρ, θ ← 0.
void sign_strip(const Strip<double>& strip);
/// ρ ← A(ρ)√(1−ρ²) + B(ρ)(π − arccos ρ), and θ ← θ times the same with the second pair of polynomials.
struct ArcCosinePolynomials {
  const double* a = nullptr;
  const double* b = nullptr;
  const double* a_dot = nullptr;
  const double* b_dot = nullptr;
  int count = 0;  ///< coefficients of each, lowest power first
};
void arc_cosine_strip(const ArcCosinePolynomials& polynomials, const Strip<double>& strip);
/// ρ ← ρᵈ, θ ← θ·d·ρᵈ⁻¹.
void power_strip(int degree, const Strip<double>& strip);

/// What a dual makes of the pairs of a strip, before it is stored: ρ, 1 − |ρ| with its own digits, and the factor of θ.
struct DualStrip {
  double* rho = nullptr;
  double* t = nullptr;
  double* slope = nullptr;
};
/// Mehler's series:  ρ ← Σ_k A_k A'_k ρᵏ,  θ ← θ·Σ_k k A_k A'_k ρᵏ⁻¹, or θ·Σ_k B_k B'_k ρᵏ where `slope_row` is given;
/// coefficient k of the row side at row[k·row_stride], of the column side at col[k·col_stride] on. A pair takes
/// min(max(n, n'), m, m') terms, n and m its sides' `enough` and `plenty`.
struct Series {
  Sides<double> enough;
  Sides<double> plenty;
  Sides<double> rest;  ///< 0 where the squares of a side's A_k sum to 1
  const double* row = nullptr;
  const double* slope_row = nullptr;
  Index row_stride = 0;
  const double* col = nullptr;
  const double* slope_col = nullptr;
  Index col_stride = 0;
  bool odd = false;  ///< all A_k of even k are 0
};
void series_strip(const Series& series, const Strip<double>& strip, const DualStrip& dual);

/// Pairs to which a series does not do justice: |ρ|²⁵⁶ times the product of what both sides leave beyond 256 terms is
/// above 1, for φ or for φ', and so is |ρ|¹⁰²⁴ times that beyond 1024 (more than anything where there are not as many).
struct Rests {
  Sides<double> value;
  Sides<double> slope;
  Sides<double> long_value;
  Sides<double> long_slope;
};
[[nodiscard]] bool any_unresolved(const Rests& rests, const Strip<double>& strip);
/// The pair at element k.
[[nodiscard]] bool is_unresolved(const Rests& rests, const Strip<double>& strip, Index k);
/// Replaces what a series made of unresolved pairs by the double sum over the logistic mixture (tanh, sigmoid, swish,
/// softplus). [recipe/quadrature/logistic_mixture.hpp]
struct MixtureSides {
  Sides<double> r;        ///< deviations before
  Sides<double> n;        ///< reciprocals of those after
  Sides<double> stretch;  ///< how fast φ(r·z)·n moves with log r
};
void mixture_strip(Phi phi, const MixtureSides& sides, const Rests& rests, const Strip<double>& strip,
                   const DualStrip& dual);
/// Stores ρ and t, and multiplies θ.
void store_dual(const DualStrip& dual, const Strip<double>& strip);

/// Name of the vector instructions in use, e.g. "AVX3".
const char* vector_target();

}  // namespace widelimit::cpu
