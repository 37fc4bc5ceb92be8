#pragma once

#include "widelimit/certificate/certify.hpp"
#include "widelimit/report/html.hpp"

#include <string>
#include <vector>

namespace widelimit {

/// Radii of the same samples under one name: 0 where a sample is misclassified, ∞ where an attack found nothing.
struct RadiusSeries {
  std::string name;
  std::vector<double> radii;
};

/// The certified radii, 0 where misclassified.
[[nodiscard]] RadiusSeries certified_radii(const std::string& name, const Certificates& certificates);
/// The distances at which an attack found another class, 0 where misclassified.
[[nodiscard]] RadiusSeries attacked_radii(const Certificates& certificates);

/// Fraction of samples whose radius is at least r, by r: of certificates the certified accuracy, of attacks what is
/// left of it; the truth lies between. The axis is logarithmic where medians differ by more than a factor of 20.
/// Error{usage} where there are no samples, or where no radius is positive.
[[nodiscard]] Illustration certified_accuracy(const std::vector<RadiusSeries>& series);

/// Fraction of the correctly classified samples by radius, on a logarithmic axis; those of radius 0 are counted in the
/// caption.
[[nodiscard]] Illustration radius_histogram(const std::vector<RadiusSeries>& series);

}  // namespace widelimit
