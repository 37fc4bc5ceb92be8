#include "widelimit/finite/training/learning_schedule.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace widelimit {

namespace {
constexpr std::array<std::string_view, 3> schedule_names{"constant", "step", "cosine"};
}  // namespace

std::string_view to_string(ScheduleKind kind) { return schedule_names[static_cast<std::size_t>(kind)]; }
ScheduleKind parse_learning_schedule(std::string_view text) {
  return parse_choice<ScheduleKind>("schedule", schedule_names, text);
}

void LearningSchedule::validate() const {
  if (!(warmup >= 0 && warmup < 1)) {
    fail(Code::usage, "warm-up = {:g}: it must be a fraction of the steps, at least 0 and below 1", warmup);
  }
  if (!(drop > 0 && drop <= 1)) fail(Code::usage, "drop = {:g}: it must be above 0 and at most 1", drop);
  if (!(last >= 0 && last <= 1)) {
    fail(Code::usage, "the final factor of the rate = {:g}: it must lie between 0 and 1", last);
  }
  for (std::size_t k = 0; k < milestones.size(); ++k) {
    if (!(milestones[k] > 0 && milestones[k] < 1) || (k > 0 && milestones[k] <= milestones[k - 1])) {
      fail(Code::usage, "milestone {:g}: milestones must be ascending fractions of all steps, between 0 and 1",
           milestones[k]);
    }
  }
}

double LearningSchedule::share(Index step, Index total) const {
  const auto all = static_cast<double>(total);
  const auto at = static_cast<double>(step);
  const double rising = std::ceil(warmup * all);
  if (at < rising) return (at + 1) / rising;
  switch (kind) {
    case ScheduleKind::constant:
      break;
    case ScheduleKind::step: {
      const auto passed =
          std::count_if(milestones.begin(), milestones.end(), [&](double share) { return at >= share * all; });
      return std::pow(drop, static_cast<double>(passed));
    }
    case ScheduleKind::cosine:
      return last + (1 - last) * (1 + std::cos(std::numbers::pi * (at - rising) / (all - rising))) / 2;
  }
  return 1;
}

}  // namespace widelimit
