#pragma once

#include "widelimit/certificate/certify.hpp"
#include "widelimit/report/html.hpp"

#include <string>
#include <vector>

namespace widelimit {

/// Named radii of samples: 0 if misclassified, ∞ if the attack found nothing.
struct RadiusSeries {
  std::string name;
  std::vector<double> radii;
};

/// Returns the certified radii, 0 if misclassified.
[[nodiscard]] RadiusSeries certified_radii(const std::string& name, const Certificates& certificates);
/// Returns the distances at which the attack found another class, 0 if misclassified.
[[nodiscard]] RadiusSeries attacked_radii(const Certificates& certificates);

/// Plots the fraction of samples with radius at least r: for certificates this is the certified accuracy, for attacks
/// the accuracy under attack; the robust accuracy lies between them. The axis is logarithmic if medians differ by more
/// than a factor of 20. Throws Error{usage} if there are no samples or no radius is positive.
[[nodiscard]] Illustration certified_accuracy(const std::vector<RadiusSeries>& series);

/// Plots the fraction of samples by radius, on a logarithmic axis, among those with a positive and finite radius; the
/// caption counts the others.
[[nodiscard]] Illustration radius_histogram(const std::vector<RadiusSeries>& series);

}  // namespace widelimit
