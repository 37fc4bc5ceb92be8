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

  /// "rbf", "rbf(gamma=0.5)", "polynomial(degree=2, offset=1)", …; Error{input} says what was expected.
  [[nodiscard]] static ClassicalKernel parse(std::string_view text);
  [[nodiscard]] std::string to_text() const;
  /// Error{input} where an argument that counts is outside its range.
  void validate() const;
};

/// Kernel of every sample of x1 with every sample of x2; where x2 is absent, of x1 with itself, exactly symmetric at
/// half the work.  O(n₁·n₂·d). Rows are scaled by powers of two first, so that products of 1e±150 neither overflow
/// nor vanish; a value too large for the precision is Error{numerical} that names the pair. A zero row stands at a
/// right angle to every row (arccosine). On a device the products are its work, the rest is the processor's.
[[nodiscard]] AnyMatrix classical_gram(const ClassicalKernel& kernel, const SampleView& x1,
                                       const std::optional<SampleView>& x2, Precision precision,
                                       const Engine& engine = all_processors(), Progress* progress = nullptr);

}  // namespace widelimit
