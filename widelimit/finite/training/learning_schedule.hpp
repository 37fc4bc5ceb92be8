#pragma once

#include "widelimit/base/types.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace widelimit {

enum class ScheduleKind : std::uint8_t {
  constant,
  step,    ///< multiplied by `drop` at each milestone
  cosine,  ///< from 1 to `last` along half a cosine (Loshchilov and Hutter, ICLR 2017)
};
/// Returns "constant", "step" or "cosine".
[[nodiscard]] std::string_view to_string(ScheduleKind kind);
/// Throws Error{usage} for an unknown name; lists the choices.
[[nodiscard]] ScheduleKind parse_learning_schedule(std::string_view text);

/// Learning rate schedule as a factor of the base rate. Positions are fractions of all steps, so that a schedule does
/// not depend on their number.
struct LearningSchedule {
  ScheduleKind kind = ScheduleKind::constant;
  double warmup = 0;  ///< fraction of the steps with linear warmup; the schedule applies after them
  std::vector<double> milestones = {0.5, 0.75};  ///< step: fractions of all steps, ascending
  double drop = 0.1;                             ///< step: factor at each milestone
  double last = 0;                               ///< cosine: final factor

  /// Throws Error{usage} for an invalid value.
  void validate() const;
  /// Returns whether every step uses the base rate.
  [[nodiscard]] bool constant() const { return kind == ScheduleKind::constant && warmup == 0; }
  /// Returns the factor of the rate in step `step` of `total`, in (0, 1] except for `last` = 0. With W = ⌈warmup·total⌉
  /// it is (step + 1)/W before step W; from there on cosine is last + (1 − last)·(1 + cos(π(step − W)/(total − W)))/2.
  [[nodiscard]] double share(Index step, Index total) const;
  bool operator==(const LearningSchedule&) const = default;
};

}  // namespace widelimit
