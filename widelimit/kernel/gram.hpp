#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/network/network.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace widelimit {

/// Which of the two limit kernels to compute; `both` costs little more than `ntk`.
enum class Kind : std::uint8_t { nngp = 1, ntk = 2, both = 3 };
[[nodiscard]] constexpr bool has(Kind kinds, Kind kind) {
  return (static_cast<int>(kinds) & static_cast<int>(kind)) != 0;
}
[[nodiscard]] Kind parse_kind(std::string_view text);  ///< "ntk", "nngp" or "nngp,ntk"

struct GramOptions {
  Kind kind = Kind::ntk;
  Precision precision = Precision::f64;
  Progress* progress = nullptr;  ///< called on the calling thread; may stop the computation
};

/// A Gram matrix and how it was computed.
struct Gram {
  AnyMatrix nngp;          ///< empty unless asked for
  AnyMatrix ntk;           ///< empty unless asked for
  bool symmetric = false;  ///< one set of samples against itself; the matrices are exactly symmetric
  std::string route;       ///< description of the method used
  /// A bound, to first order, of the quadrature error of an entry K(x,x'), relative to √(K(x,x)·K(x',x')). 0 where all
  /// duals have closed forms. Rounding is not included.
  double quadrature_error = 0.0;
  double seconds = 0.0;

  /// Whether the matrices are positive semi-definite by construction, up to the rounding of their entries: covariances
  /// of a Gaussian process, and sums of products of such, from formulas that are accurate to rounding.
  [[nodiscard]] bool semidefinite() const { return symmetric && quadrature_error <= 1e-12; }
};

/// A warning where the quadrature error exceeds the tolerance of the precision (1e-10 in float64, 1e-6 in float32);
/// empty otherwise.
[[nodiscard]] std::string quadrature_warning(double quadrature_error, Precision precision);

/// A warning where the NTK is asked for and no layer of the network is trained, so that it is 0 at every pair; empty
/// otherwise.
[[nodiscard]] std::string zero_kernel_warning(const Network& network, Kind kind);
/// Error{input} there instead: a machine learns nothing with such a kernel.
void require_trained_layer(const Network& network, Kind kind);

/// Kernel of x with itself: half the cost of the rectangular kernel, exactly symmetric.  O(n²·steps).
[[nodiscard]] Gram gram(const Network& network, const SampleView& x, const GramOptions& options, const Engine& engine);
/// Kernel of every sample of x1 with every sample of x2.
[[nodiscard]] Gram gram(const Network& network, const SampleView& x1, const SampleView& x2, const GramOptions& options,
                        const Engine& engine);

/// One kernel of x with itself as a matrix of the engine, which machines take where it lies.
[[nodiscard]] GramMatrix gram_matrix(const Network& network, const SampleView& x, const GramOptions& options,
                                     const Engine& engine);

/// Θ(x_i, x_i) and Σ(x_i, x_i) alone, in double.  O(n·steps) for networks on vectors.
struct Diagonal {
  Matrix<double> values;  ///< 2 × n, nngp first
  double quadrature_error = 0.0;
};
[[nodiscard]] Diagonal diagonal(const Network& network, const SampleView& x, const Engine& engine,
                                Precision precision = Precision::f64, Progress* progress = nullptr);

/// Contribution of each weight layer to the NTK, 0 where it is frozen; the matrices sum to Θ.
struct LayerContributions {
  std::vector<std::string> layers;  ///< place and text of each weight layer, in order of evaluation
  std::vector<AnyMatrix> ntk;       ///< one for each layer
  double quadrature_error = 0.0;
};
[[nodiscard]] LayerContributions layer_contributions(const Network& network, const SampleView& x,
                                                     const GramOptions& options, const Engine& engine);

/// Every depth and every frozen prefix in one pass: matrix (i·(L+1) + j) of `values`, an (L+1)²·n × n stack, is the
/// NTK of the network cut after i hidden layers (0 = linear) with its first j weight layers frozen, those that are
/// frozen in it besides; zero where j > i. It is that of cut_network(network, i, j). The network must be dense layers
/// with activations between them: dense (φ dense)*.
struct Sweep {
  Index hidden_layers = 0;  ///< L
  Index count = 0;          ///< n
  AnyMatrix values;
  double quadrature_error = 0.0;
};
[[nodiscard]] Sweep sweep(const Network& network, const SampleView& x, const GramOptions& options,
                          const Engine& engine);

}  // namespace widelimit
