#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/certificate/ball.hpp"
#include "widelimit/machine/model.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// How a machine is bounded from below on a ball. [docs/theory/certificates.md#methods]
enum class CertificateMethod : std::uint8_t {
  paper,     ///< EQ Theorem 4.2 as published
  interval,  ///< the same with exact ranges of inner products and norms, any depth
  convex,    ///< to second order about the middle of the ball, summed over training samples before it is bounded
};
[[nodiscard]] std::string_view to_string(CertificateMethod method);  ///< "paper", "interval", "convex"
/// Error{usage} lists the choices.
[[nodiscard]] CertificateMethod parse_certificate_method(std::string_view text);

/// Projected gradient descent on the margin, from the point itself and from random starts: what it finds bounds every
/// certificate from above.
struct AttackOptions {
  Index steps = 40;
  Index restarts = 2;  ///< random starts beside the point itself
  std::uint64_t seed = 0;
};

struct CertifyOptions {
  Norm norm = Norm::linf;
  CertificateMethod method = CertificateMethod::convex;
  std::optional<Box> box;               ///< none: all of space
  std::optional<double> radius;         ///< only whether this one is certified; none: the largest is searched
  double largest = 1e6;                 ///< where the search ends, in multiples of the point's largest entry
  double tolerance = 1e-3;              ///< a radius is given up to this part of itself
  std::optional<AttackOptions> attack;  ///< none: no attack
  bool keep_attacked = false;           ///< keep the attacked samples
  int threads = 0;
  Progress* progress = nullptr;

  /// Error{usage} names what is wrong.
  void validate() const;
};

/// One value for each sample. Radii are in the units of the samples as the kernel sees them, after scaling.
struct Certificates {
  std::vector<bool> correct;              ///< whether the prediction is the label; where not, the radius is 0
  std::vector<double> margin;             ///< smallest f(x) of those that must stay positive
  std::vector<double> radius;             ///< no x in the ball of this radius (and in the box) has another class
  std::vector<CertificateMethod> method;  ///< which gave the radius: convex and interval take the best of those below
  std::vector<double> attack;             ///< smallest distance at which another class was found; ∞: none found
  Matrix<double> attacked;                ///< those samples, as the kernel sees them; without rows unless asked for
  Index undecided = 0;                    ///< one against one: samples whose votes are level, which have no radius
  std::string remark;                     ///< why convex was not used for this model, and the like; or empty
  double seconds = 0, attack_seconds = 0;
};

/// Methods that this model has, the weakest first: all but paper where its network has biases. Error{usage}
/// where it has no certificate.
[[nodiscard]] std::vector<CertificateMethod> certificate_methods(const Model& model);

/// Certified radii of a fitted machine on samples that are not scaled yet, and their labels 0 … classes − 1 (of a
/// machine for numbers with one output: its sign, label 0 for negative and 1 for positive). Sound in floating point: a
/// bound of all rounding is subtracted before a radius is called certified (docs/theory/certificates-proof.md).
/// Error{usage} for a model without certificates (which network, which layer, what to do), Error{input} for samples of
/// another shape, outside the box, not finite, or labels that the model does not know.
[[nodiscard]] Certificates certify(const Model& model, const SampleView& samples, std::span<const Index> labels,
                                   const CertifyOptions& options);

}  // namespace widelimit
