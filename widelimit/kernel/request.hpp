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

/// Formulas or Monte Carlo over random finite networks; `automatic` uses formulas where they exist.
enum class Method : std::uint8_t { automatic, exact, monte_carlo };
[[nodiscard]] Method parse_method(std::string_view text);  ///< "auto", "exact" or "monte-carlo"

/// Which matrices to compute.
enum class KernelQuantity : std::uint8_t {
  gram,      ///< train × train, and test × train where there is a test set
  diagonal,  ///< of train × train alone
  layers,    ///< contribution of each weight layer to the NTK
  sweep,     ///< every depth and every frozen prefix
};

/// A complete request for kernels, as the command line and Python make it.
struct KernelRequest {
  std::variant<Network, ClassicalKernel> kernel;
  KernelQuantity quantity = KernelQuantity::gram;
  Kind kind = GramOptions{}.kind;
  Precision precision = GramOptions{}.precision;
  Method method = Method::automatic;
  MonteCarloOptions monte_carlo;      ///< its progress and `ntk` are set from here
  std::optional<std::size_t> memory;  ///< bytes the answer may take; default: the available memory
  Progress* progress = nullptr;

  /// Error{usage} for contradictory settings.
  void validate(bool has_test) const;
};

/// A network whose kernel comes from formulas, not from sampling.
[[nodiscard]] bool by_formulas(const KernelRequest& request);

/// One array of the answer, with its name in files.
struct NamedMatrix {
  std::string name;
  AnyMatrix values;
  std::vector<Index> dims;  ///< where it has more than two
};

struct KernelAnswer {
  std::vector<NamedMatrix> matrices;
  std::vector<std::string> layers;  ///< KernelQuantity::layers: place and text of each, in the order of the array
  bool monte_carlo = false;
  std::string route;  ///< description of the method used
  double quadrature_error = 0.0;
  /// Whether the matrix of the training samples is known to be positive semi-definite, as Gram::semidefinite says.
  bool semidefinite = false;
  /// Monte Carlo: the largest standard error of an entry, relative to the largest entry of its matrix.
  double standard_error = 0.0;
  double seconds = 0.0;
  double pairs = 0.0;  ///< pairs of samples evaluated

  [[nodiscard]] const AnyMatrix* find(std::string_view name) const;
};

/// Bytes of the matrices in the answer.  O(steps).
[[nodiscard]] double answer_bytes(const KernelRequest& request, Index train, Index test, const Shape& shape);

/// Arrays by name: ntk, nngp (or kernel, where it is a classical one) and test_…, with …_error beside them where they
/// are means over random networks; diagonal_ntk, diagonal_nngp; layer_ntk; sweep. Error{resource} before anything is
/// computed where the answer would not fit.
[[nodiscard]] KernelAnswer compute_kernel(const KernelRequest& request, const SampleView& train,
                                          const std::optional<SampleView>& test, const Engine& engine);
[[nodiscard]] KernelAnswer compute_kernel(const KernelRequest& request, const Dataset& train,
                                          const std::optional<Dataset>& test, const Engine& engine);

}  // namespace widelimit
