#include "widelimit/certificate/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

CertificateStatistics statistics(const Certificates& certificates) {
  CertificateStatistics result{.samples = std::ssize(certificates.radius)};
  std::vector<double> radii;
  double distances = 0;
  double ratios = 0;
  for (std::size_t i = 0; i < certificates.radius.size(); ++i) {
    if (!certificates.correct[i]) continue;
    radii.push_back(certificates.radius[i]);
    const double distance = certificates.attack.empty() ? 0 : certificates.attack[i];
    if (!(distance > 0) || !std::isfinite(distance)) continue;
    ++result.broken;
    distances += distance;
    ratios += certificates.radius[i] / distance;
  }
  if (result.broken > 0) {
    result.attack_mean = distances / static_cast<double>(result.broken);
    result.ratio = ratios / static_cast<double>(result.broken);
  }
  result.correct = std::ssize(radii);
  if (radii.empty()) return result;
  std::sort(radii.begin(), radii.end());
  const auto count = static_cast<double>(radii.size());
  for (const double radius : radii) result.mean += radius / count;
  for (const double radius : radii) result.deviation += (radius - result.mean) * (radius - result.mean) / count;
  result.deviation = std::sqrt(result.deviation);
  result.median = (radii[(radii.size() - 1) / 2] + radii[radii.size() / 2]) / 2;
  result.least = radii.front();
  return result;
}

double certified_share(const Certificates& certificates, double radius) {
  Index certified = 0;
  for (std::size_t i = 0; i < certificates.radius.size(); ++i) {
    certified += certificates.correct[i] && certificates.radius[i] >= radius ? 1 : 0;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(certificates.radius.size(), 1));
  return static_cast<double>(certified) / count;
}

std::vector<double> round_radii(const Certificates& certificates, int most) {
  double largest = 0;
  for (const double radius : certificates.radius) largest = std::max(largest, radius);
  std::vector<double> result;
  if (!(largest > 0)) return result;
  for (auto power = static_cast<int>(std::floor(std::log10(largest))); std::ssize(result) < most; --power) {
    for (const double digit : {5.0, 2.0, 1.0}) {
      // Division, not multiplication, so that 0.1 is the double nearest to 0.1.
      const double value = power < 0 ? digit / std::pow(10.0, -power) : digit * std::pow(10.0, power);
      if (value < largest && std::ssize(result) < most) result.push_back(value);
    }
  }
  std::reverse(result.begin(), result.end());
  return result;
}

}  // namespace widelimit
