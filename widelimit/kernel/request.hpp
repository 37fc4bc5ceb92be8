#pragma once

#include "widelimit/data/dataset.hpp"
#include "widelimit/kernel/classical/classical.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/monte_carlo.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace widelimit {

/// Closed formulas or Monte Carlo over random finite networks; `automatic` uses formulas if they exist.
enum class Method : std::uint8_t { automatic, exact, monte_carlo };
[[nodiscard]] Method parse_method(std::string_view text);  ///< "auto", "exact" or "monte-carlo"

/// Which matrices to compute.
enum class KernelQuantity : std::uint8_t {
  gram,      ///< train × train, and test × train if there is a test set
  diagonal,  ///< diagonal of train × train
  layers,    ///< contribution of each weight layer to the NTK
  sweep,     ///< every depth and every frozen prefix
};

/// A complete kernel request, as built by the command line and the Python bindings.
struct KernelRequest {
  std::variant<Network, ClassicalKernel> kernel;
  KernelQuantity quantity = KernelQuantity::gram;
  Kind kind = GramOptions{}.kind;
  Precision precision = GramOptions{}.precision;
  Method method = Method::automatic;
  MonteCarloOptions monte_carlo;      ///< its `progress` and `ntk` are overwritten by this request
  std::optional<std::size_t> memory;  ///< limit in bytes for the result; default: the available memory
  Progress* progress = nullptr;

  /// Error{usage} for contradictory settings.
  void validate(bool has_test) const;
};

/// Whether the kernel is that of a network and is computed from formulas, not by sampling.
[[nodiscard]] bool by_formulas(const KernelRequest& request);

/// One array of the result and its name in files.
struct NamedMatrix {
  std::string name;
  AnyMatrix values;
  std::vector<Index> dims;  ///< if there are more than two
};

struct KernelResult {
  std::vector<NamedMatrix> matrices;
  /// KernelQuantity::layers: position and text of each layer, in the order of the array.
  std::vector<std::string> layers;
  bool monte_carlo = false;
  std::string route;  ///< description of the method used
  double quadrature_error = 0.0;
  /// Whether the matrix of the training samples is known to be positive semi-definite, see Gram::semidefinite.
  bool semidefinite = false;
  /// Monte Carlo: the largest standard error of an entry, relative to the largest entry of its matrix.
  double standard_error = 0.0;
  double seconds = 0.0;
  double pairs = 0.0;  ///< pairs of samples evaluated

  [[nodiscard]] const AnyMatrix* find(std::string_view name) const;
};

/// Bytes of the matrices in the result.  O(steps).
[[nodiscard]] double result_bytes(const KernelRequest& request, Index train, Index test, const Shape& shape);

/// Returns arrays named ntk, nngp (or kernel, for a classical kernel) and test_…, with …_error added if they are means
/// over random networks; diagonal_ntk, diagonal_nngp; layer_ntk; sweep. Throws Error{resource} before the computation
/// starts if the result does not fit into memory.
[[nodiscard]] KernelResult compute_kernel(const KernelRequest& request, const SampleView& train,
                                          const std::optional<SampleView>& test, const Engine& engine);
[[nodiscard]] KernelResult compute_kernel(const KernelRequest& request, const Dataset& train,
                                          const std::optional<Dataset>& test, const Engine& engine);

}  // namespace widelimit
