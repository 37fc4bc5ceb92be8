#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/network/network.hpp"

#include <cstdint>
#include <optional>
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
  Progress* progress = nullptr;  ///< called on the calling thread; can cancel the computation
};

/// A Gram matrix and how it was computed.
struct Gram {
  AnyMatrix nngp;          ///< empty unless requested
  AnyMatrix ntk;           ///< empty unless requested
  bool symmetric = false;  ///< x1 with itself; the matrices are then exactly symmetric
  std::string route;       ///< description of the method used
  /// First-order bound of the quadrature error of an entry K(x,x'), relative to √(K(x,x)·K(x',x')). 0 if all duals have
  /// closed forms. Excludes rounding errors.
  double quadrature_error = 0.0;
  double seconds = 0.0;

  /// Whether the matrices are positive semi-definite by construction, up to the rounding of their entries: they are
  /// covariances of a Gaussian process, or sums of products of such, and the formulas are accurate to rounding.
  [[nodiscard]] bool semidefinite() const { return symmetric && quadrature_error <= 1e-12; }
};

/// Returns a warning if the quadrature error exceeds the tolerance of the precision (1e-10 in float64, 1e-6 in
/// float32), else an empty string.
[[nodiscard]] std::string quadrature_warning(double quadrature_error, Precision precision);

/// Returns a warning if the NTK is requested but no layer of the network is trained, so that the NTK is identically 0;
/// else an empty string.
[[nodiscard]] std::string zero_kernel_warning(const Network& network, Kind kind);
/// Throws Error{input} in that case: a kernel machine cannot be fitted with a zero kernel.
void require_trained_layer(const Network& network, Kind kind);

/// Kernel of x with itself: half the cost of the rectangular kernel, exactly symmetric.  O(n²·steps).
[[nodiscard]] Gram gram(const Network& network, const SampleView& x, const GramOptions& options, const Engine& engine);
/// Kernel of every sample of x1 with every sample of x2.
[[nodiscard]] Gram gram(const Network& network, const SampleView& x1, const SampleView& x2, const GramOptions& options,
                        const Engine& engine);

/// One kernel of x with itself as a matrix of the engine, on which machines operate without a copy.
[[nodiscard]] GramMatrix gram_matrix(const Network& network, const SampleView& x, const GramOptions& options,
                                     const Engine& engine);

/// A Gram matrix in the memory of the engine, with the same metadata as Gram.
struct EngineGram {
  EngineMatrix nngp;  ///< empty unless requested
  EngineMatrix ntk;   ///< empty unless requested
  bool symmetric = false;
  std::string route;
  double quadrature_error = 0.0;
  double seconds = 0.0;

  /// See Gram::semidefinite.
  [[nodiscard]] bool semidefinite() const { return symmetric && quadrature_error <= 1e-12; }
};

/// Returns the kernel of x1 with itself, or of every sample of x1 with every sample of x2. Throws Error{resource} if it
/// does not fit into the memory of the engine.
[[nodiscard]] EngineGram engine_gram(const Network& network, const SampleView& x1, const std::optional<SampleView>& x2,
                                     const GramOptions& options, const Engine& engine);

/// Diagonals Θ(x_i, x_i) and Σ(x_i, x_i) only, in double.  O(n·steps) for networks on vectors.
struct Diagonal {
  Matrix<double> values;  ///< 2 × n, nngp first
  double quadrature_error = 0.0;
};
[[nodiscard]] Diagonal diagonal(const Network& network, const SampleView& x, const Engine& engine,
                                Precision precision = Precision::f64, Progress* progress = nullptr);

/// Contribution of each weight layer to the NTK, 0 for a frozen layer; the matrices sum to Θ.
struct LayerContributions {
  std::vector<std::string> layers;  ///< position and text of each weight layer, in order of evaluation
  std::vector<AnyMatrix> ntk;       ///< one per layer
  double quadrature_error = 0.0;
};
[[nodiscard]] LayerContributions layer_contributions(const Network& network, const SampleView& x,
                                                     const GramOptions& options, const Engine& engine);

/// NTKs of all depths and all frozen prefixes in one pass. `values` is an (L+1)²·n × n stack; its matrix (i·(L+1) + j)
/// is the NTK of cut_network(network, i, j), i.e. of the network truncated after i hidden layers (0 = linear) with its
/// first j weight layers frozen, in addition to those already frozen; zero if j > i. The network must be dense layers
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
