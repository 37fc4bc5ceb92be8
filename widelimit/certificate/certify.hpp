#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/certificate/ball.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/machine/model.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Lower bound of a machine on a ball. [docs/theory/certificates.md#methods]
enum class CertificateMethod : std::uint8_t {
  paper,     ///< EQ Theorem 4.2 as published
  interval,  ///< the same with exact ranges of inner products and norms, any depth
  convex,    ///< second-order expansion about the centre of the ball, summed over samples before it is bounded
};
[[nodiscard]] std::string_view to_string(CertificateMethod method);  ///< "paper", "interval", "convex"
/// Error{usage} lists the choices.
[[nodiscard]] CertificateMethod parse_certificate_method(std::string_view text);

/// Projected gradient descent on the margin, from the point itself and from random starts: an upper bound of every
/// certificate.
struct AttackOptions {
  Index steps = 40;
  Index restarts = 2;  ///< random starts besides the point itself
  std::uint64_t seed = 0;
};

/// What radii and boxes are measured in, where a model scales its samples feature by feature.
enum class CertificateUnits : std::uint8_t {
  input,   ///< those of the samples as they are given: a ball of radius ε moves every feature by ε at most
  scaled,  ///< those of the scaled features: it moves feature j by ε·|scale_j| at most
};
[[nodiscard]] std::string_view to_string(CertificateUnits units);  ///< "input", "scaled"
/// Error{usage} lists the choices.
[[nodiscard]] CertificateUnits parse_certificate_units(std::string_view text);

struct CertifyOptions {
  Norm norm = Norm::linf;
  CertificateMethod method = CertificateMethod::convex;
  /// Of radius and box. Default: input, but scaled where each sample is divided by its own norm.
  std::optional<CertificateUnits> units;
  /// ℓ∞: the half-widths of the ball of radius 1, one for each feature, in units of the samples as they are given; 0
  /// for a feature that never changes. Empty: by `units`.
  std::vector<double> widths;
  std::optional<Box> box;               ///< none: unbounded
  std::optional<double> radius;         ///< decide this radius only; none: search the largest
  double largest = 1e6;                 ///< upper limit of the search, in multiples of the point's largest entry
  double tolerance = 1e-3;              ///< relative resolution of the radii
  std::optional<AttackOptions> attack;  ///< none: no attack
  bool keep_attacked = false;           ///< keep the attacked samples
  Progress* progress = nullptr;

  /// Error{usage} names what is wrong.
  void validate() const;
  [[nodiscard]] BallShape shape() const { return {norm, box, widths}; }
};

/// One value for each sample. A ball of radius ε about a sample holds all x with |x_j − sample_j| ≤ ε·widths_j for
/// every feature j (ℓ∞), in units of the samples as they are given; attacked samples are in these units, too.
struct Certificates {
  std::vector<bool> correct;              ///< whether the prediction is the label; where not, the radius is 0
  std::vector<double> margin;             ///< smallest functional f(x) that must stay positive
  std::vector<double> radius;             ///< no x in the ball of this radius (and in the box) has another class
  std::vector<CertificateMethod> method;  ///< the method that gave the radius; a method includes the weaker ones
  std::vector<double> attack;             ///< smallest distance at which another class was found; ∞: none found
  Matrix<double> attacked;                ///< those samples; empty unless requested
  /// Of the ball of radius 1, one for each feature; empty: 1, of samples after scaling where that is no map of
  /// features.
  std::vector<double> widths;
  CertificateUnits units = CertificateUnits::input;  ///< that radii are in
  Index undecided = 0;                               ///< one-vs-one: samples with equal votes, which have no radius
  std::string remark;                                ///< for example why convex was not used for this model; or empty
  double seconds = 0, attack_seconds = 0;
};

/// Methods that support this model, the weakest first: all but paper where its network has biases. Error{usage}
/// where there is none.
[[nodiscard]] std::vector<CertificateMethod> certificate_methods(const Model& model);

/// Error{usage} unless an engine has certificates: the processor, and NVIDIA devices.
void require_certificates(const Engine& engine);

/// Certified radii of a fitted machine on unscaled samples with labels 0 … classes − 1 (for a regression machine with
/// one output: the sign, label 0 for negative and 1 for positive). Sound in floating point: a
/// bound of all rounding is subtracted before a radius is called certified (docs/theory/certificates-proof.md).
/// Error{usage} for a model without certificates (which network, which layer, what to do), for an engine that has none,
/// and on a device for networks with biases or frozen layers, Error{input} for samples of another shape, outside the
/// box, not finite, or labels that the model does not know.
[[nodiscard]] Certificates certify(const Model& model, const SampleView& samples, std::span<const Index> labels,
                                   const CertifyOptions& options, const Engine& engine = all_processors());

}  // namespace widelimit
