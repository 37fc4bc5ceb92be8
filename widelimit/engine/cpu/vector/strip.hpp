#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/network/activation.hpp"

/// Vectorised steps on strips of pairs. A strip holds, for one row (a sample, or a position of an image) and a range of
/// columns, the correlation and the tangent channels relative to the standard deviations r, r':
///   ρ = Σ/(r r'),   t = 1 − |ρ| stored separately without cancellation,   θ_m = Θ_m/(r r').
/// These relative values neither overflow nor underflow, and 1 − ρ stays accurate at any depth. Arrays are padded to a
/// multiple of `strip_padding`: loops run over whole vectors, the excess lanes are meaningless.
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
  /// Channels [begin, end) to whose θ a step adds its resulting ρ: fuses the layer without bias that usually follows an
  /// activation, while the numbers are in registers.
  Index trained_begin = 0;
  Index trained_end = 0;
};

/// A number that belongs to one side of the pair: on the row side the same for the whole strip (or one per element if
/// `row_varies`, or one per 16 elements if `row_in_groups`); on the column side one per element.
template <typename T>
struct Sides {
  const T* row = nullptr;
  const T* col = nullptr;
  bool row_varies = false;
  bool row_in_groups = false;
};

/// Clamps ρ, sets t and θ. Returns true if some |ρ| is so close to 1 that t must be recomputed from the inputs.
template <typename T>
bool begin_strip(const Strip<T>& strip, T near);

/// relu, leaky_relu, abs:  ρ ← Aρ + Bκ₁(ρ),  θ ← θ·(A + Bκ₀(ρ)),  A + B = 1.
template <typename T>
void rectifier(T a, T b, const Strip<T>& strip);

/// θ_m ← θ_m + ρ for m in [begin, end): a layer without bias, which does not change ρ.
template <typename T>
void add_rho(Index begin, Index end, const Strip<T>& strip);

/// ρ ← a a'ρ + c c', θ_m ← a a'θ_m + [begin ≤ m < end]·ρ: a layer with bias, a² + c² = 1 on each side.
template <typename T>
void blend_constant(const Sides<T>& a, const Sides<T>& c, Index begin, Index end, const Strip<T>& strip);

/// strip ← a a'·strip + b b'·other: the sum of two branches, a² + b² = 1 on each side.
template <typename T>
void blend(const Sides<T>& a, const Sides<T>& b, const Strip<T>& other, const Strip<T>& strip);

/// ρ ← rate·ρ, θ ← rate·θ: dropout increases the variances, not the covariances.
template <typename T>
void shrink(T rate, const Strip<T>& strip);

/// out = values·s·s'. Returns false if an element exceeds the range of Out.
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
/// ρ ← A(ρ)√(1−ρ²) + B(ρ)(π − arccos ρ), and θ ← θ times the same expression with the second pair of polynomials.
struct ArcCosinePolynomials {
  const double* a = nullptr;
  const double* b = nullptr;
  const double* a_dot = nullptr;
  const double* b_dot = nullptr;
  int count = 0;  ///< number of coefficients of each, in ascending order
};
void arc_cosine_strip(const ArcCosinePolynomials& polynomials, const Strip<double>& strip);
/// ρ ← ρᵈ, θ ← θ·d·ρᵈ⁻¹.
void power_strip(int degree, const Strip<double>& strip);

/// Result of a dual on a strip before it is stored: ρ, an accurate 1 − |ρ|, and the factor of θ.
struct DualStrip {
  double* rho = nullptr;
  double* t = nullptr;
  double* slope = nullptr;
};
/// Mehler's series:  ρ ← Σ_k A_k A'_k ρᵏ,  θ ← θ·Σ_k k A_k A'_k ρᵏ⁻¹, or θ·Σ_k B_k B'_k ρᵏ if `slope_row` is not null;
/// coefficient k of the row side is at row[k·row_stride], of the column side at col[k·col_stride]. A pair uses
/// min(max(n, n'), m, m') terms, with n and m the `sufficient_terms` and `maximal_terms` of its sides.
struct Series {
  Sides<double> sufficient_terms;
  Sides<double> maximal_terms;
  Sides<double> rest;  ///< 0 if the squares of the A_k of a side sum to 1
  const double* row = nullptr;
  const double* slope_row = nullptr;
  Index row_stride = 0;
  const double* col = nullptr;
  const double* slope_col = nullptr;
  Index col_stride = 0;
  bool odd = false;  ///< all A_k of even k are 0
};
void series_strip(const Series& series, const Strip<double>& strip, const DualStrip& dual);

/// Remainders that identify pairs which a series does not resolve: |ρ|²⁵⁶ times the product of the remainders of both
/// sides beyond 256 terms is above 1, for φ or for φ', and so is |ρ|¹⁰²⁴ times the remainders beyond 1024 terms (huge
/// for shorter series).
struct SeriesRemainders {
  Sides<double> value;
  Sides<double> slope;
  Sides<double> long_value;
  Sides<double> long_slope;
};
[[nodiscard]] bool any_unresolved(const SeriesRemainders& rests, const Strip<double>& strip);
/// Returns whether the pair at element k is unresolved.
[[nodiscard]] bool is_unresolved(const SeriesRemainders& rests, const Strip<double>& strip, Index k);
/// Replaces the series of unresolved pairs by the double sum over the logistic mixture (tanh, sigmoid, swish,
/// softplus). [recipe/quadrature/logistic_mixture.hpp]
struct MixtureSides {
  Sides<double> r;        ///< standard deviations before
  Sides<double> n;        ///< reciprocals of the standard deviations after
  Sides<double> stretch;  ///< sensitivity of φ(r·z)·n to log r
};
void mixture_strip(Phi phi, const MixtureSides& sides, const SeriesRemainders& rests, const Strip<double>& strip,
                   const DualStrip& dual);
/// Stores ρ and t, and multiplies θ.
void store_dual(const DualStrip& dual, const Strip<double>& strip);

/// Returns the name of the vector instruction set in use, e.g. "AVX3".
const char* vector_target();

}  // namespace widelimit::cpu
