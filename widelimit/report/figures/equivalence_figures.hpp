#pragma once

#include "widelimit/analysis/equivalence/equivalence.hpp"
#include "widelimit/report/html.hpp"

#include <string>
#include <vector>

namespace widelimit {

/// Outputs of the watched samples by step: the machine, and the narrowest and widest network.
[[nodiscard]] Illustration equivalence_outputs(const Equivalence& result);
/// Largest |f − g| by step, a line for each width.
[[nodiscard]] Illustration equivalence_differences(const Equivalence& result);
/// Sum of losses by step: the widest network and its machine.
[[nodiscard]] Illustration equivalence_losses(const Equivalence& result);
/// Largest |f − g| of every run by width, both axes logarithmic, with the fitted line and one of slope −½.
[[nodiscard]] Illustration difference_by_width(const Equivalence& result);
/// All four. Error{usage} where no network came to the end.
[[nodiscard]] std::vector<Illustration> equivalence_figures(const Equivalence& result);

/// "−0.49 [−0.56, −0.42]", or why there is no slope.
[[nodiscard]] std::string slope_text(const std::optional<LineFit>& slope);
/// The slope in sentences: that of all widths; where these do not lie on one line, that it is not settled, with the
/// slopes between neighbouring widths; those of the two parts where they are given.
[[nodiscard]] std::vector<std::string> slope_sentences(const Equivalence& result);
/// A row for each width: means over the seeds.
[[nodiscard]] Table equivalence_table(const Equivalence& result);

}  // namespace widelimit
