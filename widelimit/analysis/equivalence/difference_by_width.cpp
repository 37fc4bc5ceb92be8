#include "widelimit/analysis/equivalence/difference_by_width.hpp"

#include "widelimit/analysis/equivalence/straightness.hpp"

#include <cmath>

namespace widelimit {

namespace {

using Distance = double EquivalenceRun::*;

/// log width and log distance of every network with a positive distance.
struct LogPoints {
  std::vector<double> width, distance;

  LogPoints(const std::vector<EquivalenceRun>& runs, Distance which) {
    for (const EquivalenceRun& run : runs) {
      if (!run.trouble.empty() || !(run.*which > 0)) continue;
      width.push_back(std::log(static_cast<double>(run.width)));
      distance.push_back(std::log(run.*which));
    }
  }
};

std::optional<LineFit> slope_of(const std::vector<EquivalenceRun>& runs, Distance which) {
  const LogPoints points(runs, which);
  return fit_line(points.width, points.distance);
}

std::vector<double> means_of(const std::vector<EquivalenceRun>& runs, const std::vector<Index>& widths,
                             Distance which) {
  std::vector<double> means;
  for (const Index width : widths) {
    double sum = 0;
    Index count = 0;
    for (const EquivalenceRun& run : runs) {
      if (run.width != width || !run.trouble.empty()) continue;
      sum += run.*which;
      ++count;
    }
    means.push_back(count == 0 ? 0.0 : sum / static_cast<double>(count));
  }
  return means;
}

}  // namespace

void summarise_by_width(Equivalence& result, const std::vector<Index>& widths, bool parts) {
  result.difference = means_of(result.runs, widths, &EquivalenceRun::difference);
  result.slope = slope_of(result.runs, &EquivalenceRun::difference);
  result.final_slope = slope_of(result.runs, &EquivalenceRun::final_difference);
  const LogPoints points(result.runs, &EquivalenceRun::difference);
  result.straightness = lack_of_fit(points.width, points.distance);
  for (const LocalSlope& local : local_slopes(points.width, points.distance)) {
    result.local_slopes.push_back(
        {std::lround(std::exp(local.from)), std::lround(std::exp(local.to)), local.slope, local.error});
  }
  if (!parts) return;
  result.kernel_part = means_of(result.runs, widths, &EquivalenceRun::kernel_part);
  result.movement_part = means_of(result.runs, widths, &EquivalenceRun::movement_part);
  result.kernel_slope = slope_of(result.runs, &EquivalenceRun::kernel_part);
  result.movement_slope = slope_of(result.runs, &EquivalenceRun::movement_part);
}

}  // namespace widelimit
