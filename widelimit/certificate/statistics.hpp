#pragma once

#include "widelimit/certificate/certify.hpp"

#include <optional>

namespace widelimit {

/// Statistics of the certificates of many samples. Radii are those of correctly classified samples; the others are
/// counted separately.
struct CertificateStatistics {
  Index samples = 0;
  Index correct = 0;
  double mean = 0, deviation = 0, median = 0, least = 0;  ///< of the radii, 0 if there are none; deviation divides by n
  Index broken = 0;                                       ///< correctly classified samples with a successful attack
  std::optional<double> attack_mean;                      ///< mean distance of successful attacks
  std::optional<double> ratio;                            ///< mean of radius/distance over the broken samples

  [[nodiscard]] double accuracy() const {
    return samples == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(samples);
  }
};
/// O(n log n).
[[nodiscard]] CertificateStatistics statistics(const Certificates& certificates);

/// Certified accuracy: the fraction of all samples that are classified correctly with a certified `radius`.
[[nodiscard]] double certified_share(const Certificates& certificates, double radius);

/// Returns up to `most` values of the form 1, 2, 5, 10, … times a power of ten, the largest ones below the largest
/// radius, ascending: the default radii of a table of certified accuracy.
[[nodiscard]] std::vector<double> round_radii(const Certificates& certificates, int most);

}  // namespace widelimit
