#pragma once

#include "widelimit/analysis/equivalence/equivalence.hpp"
#include "widelimit/report/html.hpp"

#include <string>
#include <vector>

namespace widelimit {

/// Plots the outputs of the watched samples by step: the machine, and the narrowest and widest network.
[[nodiscard]] Illustration equivalence_outputs(const Equivalence& result);
/// Plots the largest |f − g| by step, one line per width.
[[nodiscard]] Illustration equivalence_differences(const Equivalence& result);
/// Plots the sum of losses by step: the widest network and its machine.
[[nodiscard]] Illustration equivalence_losses(const Equivalence& result);
/// Plots the largest |f − g| of every run by width, log-log, with the fitted line and one of slope −½.
[[nodiscard]] Illustration difference_by_width(const Equivalence& result);
/// Returns all four. Throws Error{usage} if no network completed training.
[[nodiscard]] std::vector<Illustration> equivalence_figures(const Equivalence& result);

/// Formats a slope: "−0.49 [−0.56, −0.42]", or why there is none.
[[nodiscard]] std::string slope_text(const std::optional<LineFit>& slope);
/// Returns sentences on the slope: over all widths; if these do not lie on one line, that it is not settled, with the
/// slopes between neighbouring widths; and the slopes of the two parts, if available.
[[nodiscard]] std::vector<std::string> slope_sentences(const Equivalence& result);
/// Returns one row per width: means over the seeds.
[[nodiscard]] Table equivalence_table(const Equivalence& result);

}  // namespace widelimit
