#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/engine/select.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace widelimit {

/// Classical kernels, for comparison with the limit kernels.
struct ClassicalKernel {
  enum class Name : std::uint8_t {
    linear,      ///< ⟨x,x'⟩
    polynomial,  ///< (gamma·⟨x,x'⟩ + offset)^degree
    rbf,         ///< exp(−gamma·‖x−x'‖²)
    laplace,     ///< exp(−gamma·‖x−x'‖₁)
    arccosine,   ///< Cho & Saul's kernel of order `degree`, ‖x‖ⁿ‖x'‖ⁿ J_n(θ)/π
  };
  Name name = Name::rbf;
  std::optional<double> gamma;  ///< absent: 1/d
  double offset = 1.0;          ///< polynomial
  Index degree = 3;             ///< polynomial, arccosine (0 … 8)
  bool operator==(const ClassicalKernel&) const = default;

  /// Parses "rbf", "rbf(gamma=0.5)", "polynomial(degree=2, offset=1)", …; throws Error{input} stating what was
  /// expected.
  [[nodiscard]] static ClassicalKernel parse(std::string_view text);
  [[nodiscard]] std::string to_text() const;
  /// Throws Error{input} if a parameter of this kernel is out of range.
  void validate() const;
};

/// Kernel of every sample of x1 with every sample of x2; without x2, of x1 with itself, exactly symmetric at half the
/// cost.  O(n₁·n₂·d). Rows are first scaled by powers of two, so that products of 1e±150 neither overflow nor
/// underflow; throws Error{numerical} naming the pair if a value overflows the precision. A zero row is orthogonal to
/// every row (arccosine). On a device, the engine computes the inner products and the CPU the rest.
[[nodiscard]] AnyMatrix classical_gram(const ClassicalKernel& kernel, const SampleView& x1,
                                       const std::optional<SampleView>& x2, Precision precision,
                                       const Engine& engine = all_processors(), Progress* progress = nullptr);

/// Description of the method that computes a classical kernel.
[[nodiscard]] std::string classical_route(const ClassicalKernel& kernel, bool sparse, const Engine& engine);

}  // namespace widelimit
