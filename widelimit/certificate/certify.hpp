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

/// Method for the lower bound of a machine on a ball. [docs/theory/certificates.md#methods]
enum class CertificateMethod : std::uint8_t {
  paper,     ///< EQ Theorem 4.2 as published
  interval,  ///< as `paper`, with exact ranges of inner products and norms, at any depth
  convex,    ///< second-order expansion about the centre of the ball, summed over samples before bounding
};
[[nodiscard]] std::string_view to_string(CertificateMethod method);  ///< "paper", "interval", "convex"
/// Throws Error{usage} for an unknown name; lists the choices.
[[nodiscard]] CertificateMethod parse_certificate_method(std::string_view text);

/// Projected gradient descent on the margin from the point and from random starts: gives an upper bound of the
/// certified radius.
struct AttackOptions {
  Index steps = 40;
  Index restarts = 2;  ///< random starts in addition to the point itself
  std::uint64_t seed = 0;
};

/// Units of radii and boxes for a model that scales its samples feature by feature.
enum class CertificateUnits : std::uint8_t {
  input,   ///< original samples: a ball of radius ε changes every feature by at most ε
  scaled,  ///< scaled features: a ball of radius ε changes feature j by at most ε·|scale_j|
};
[[nodiscard]] std::string_view to_string(CertificateUnits units);  ///< "input", "scaled"
/// Throws Error{usage} for an unknown name; lists the choices.
[[nodiscard]] CertificateUnits parse_certificate_units(std::string_view text);

struct CertifyOptions {
  Norm norm = Norm::linf;
  CertificateMethod method = CertificateMethod::convex;
  /// Units of radius and box. Default: input, or scaled if each sample is divided by its own norm.
  std::optional<CertificateUnits> units;
  /// ℓ∞: half-widths of the ball of radius 1, one per feature, in units of the original samples; 0 for a feature that
  /// does not change. Empty: determined by `units`.
  std::vector<double> widths;
  std::optional<Box> box;               ///< none: unbounded
  std::optional<double> radius;         ///< decide this radius only; none: search the largest radius
  double largest = 1e6;                 ///< upper limit of the search, in multiples of the point's largest entry
  double tolerance = 1e-3;              ///< relative resolution of the radii
  std::optional<AttackOptions> attack;  ///< none: no attack
  bool keep_attacked = false;           ///< keep the attacked samples
  Progress* progress = nullptr;

  /// Throws Error{usage} for an invalid value.
  void validate() const;
  [[nodiscard]] BallShape shape() const { return {norm, box, widths}; }
};

/// Results, one value per sample. A ball of radius ε around a sample contains all x with |x_j − sample_j| ≤ ε·widths_j
/// for every feature j (ℓ∞), in units of the original samples, which also apply to attacked samples.
struct Certificates {
  std::vector<bool> correct;              ///< whether the prediction equals the label; if not, the radius is 0
  std::vector<double> margin;             ///< smallest functional f(x) that must stay positive
  std::vector<double> radius;             ///< no x in the ball of this radius (and in the box) has another class
  std::vector<CertificateMethod> method;  ///< the method that gave the radius; a method includes the weaker ones
  std::vector<double> attack;             ///< smallest distance to a sample found in another class; ∞: none found
  Matrix<double> attacked;                ///< these samples; empty unless requested
  /// Half-widths of the ball of radius 1, one per feature; empty: 1, in units of the scaled samples if scaling is not
  /// feature by feature.
  std::vector<double> widths;
  CertificateUnits units = CertificateUnits::input;  ///< of the radii
  Index undecided = 0;                               ///< one-vs-one: samples with tied votes, which have no radius
  std::string remark;                                ///< e.g. why convex was not used for this model; or empty
  double seconds = 0, attack_seconds = 0;
};

/// Returns the methods that support this model, the weakest first: all, without `paper` if its network has biases or if
/// the balls of these options have unequal widths after scaling. Throws Error{usage} if there is none.
[[nodiscard]] std::vector<CertificateMethod> certificate_methods(const Model& model,
                                                                 const CertifyOptions& options = {});

/// Throws Error{usage} unless the engine supports certificates: the processor and NVIDIA devices.
void require_certificates(const Engine& engine);

/// Computes certified radii of a fitted machine on unscaled samples with labels 0 … classes − 1 (for a regression
/// machine with one output: the sign, label 0 for negative and 1 for positive). Sound in floating point: a bound of all
/// rounding is subtracted before a radius is certified (docs/theory/certificates-proof.md). Throws Error{usage} for a
/// model without certificates (names the network, the layer and the alternatives), for an engine without certificates,
/// and on a device for networks with biases or frozen layers; Error{input} for samples of another shape, outside the
/// box or not finite, and for unknown labels.
[[nodiscard]] Certificates certify(const Model& model, const SampleView& samples, std::span<const Index> labels,
                                   const CertifyOptions& options, const Engine& engine = all_processors());

}  // namespace widelimit
