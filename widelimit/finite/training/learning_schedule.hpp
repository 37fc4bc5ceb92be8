#pragma once

#include "widelimit/base/types.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace widelimit {

enum class ScheduleKind : std::uint8_t {
  constant,
  step,    ///< times `drop` at each of the milestones
  cosine,  ///< from 1 to `last` along half a cosine (Loshchilov and Hutter, ICLR 2017)
};
/// "constant", "step", "cosine".
[[nodiscard]] std::string_view to_string(ScheduleKind kind);
/// Error{usage} lists the choices.
[[nodiscard]] ScheduleKind parse_learning_schedule(std::string_view text);

/// The learning rate along a training, as a share of the rate that was asked for. Places are shares of all steps, so
/// that a schedule means the same for any number of them.
struct LearningSchedule {
  ScheduleKind kind = ScheduleKind::constant;
  double warmup = 0;  ///< share of the steps in which the rate rises linearly; the rest of the schedule follows them
  std::vector<double> milestones = {0.5, 0.75};  ///< step: shares of all steps, rising
  double drop = 0.1;                             ///< step
  double last = 0;                               ///< cosine: the share of the rate that is left at the end

  /// Error{usage} names what is wrong.
  void validate() const;
  /// Whether every step has the rate that was asked for.
  [[nodiscard]] bool constant() const { return kind == ScheduleKind::constant && warmup == 0; }
  /// What step `step` of `total` multiplies the rate by, in (0, 1] but for `last` = 0. With W = ⌈warmup·total⌉ it is
  /// (step + 1)/W before step W; cosine is last + (1 − last)·(1 + cos(π(step − W)/(total − W)))/2 from there on.
  [[nodiscard]] double share(Index step, Index total) const;
  bool operator==(const LearningSchedule&) const = default;
};

}  // namespace widelimit
