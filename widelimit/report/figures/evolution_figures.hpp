#pragma once

#include "widelimit/analysis/evolution/evolution.hpp"
#include "widelimit/report/html.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace widelimit {

/// "epoch 2"; a step with all samples is an epoch.
[[nodiscard]] std::string time_text(const Checkpoint& point);

/// A row for each checkpoint; columns without any value are left out.
[[nodiscard]] Table evolution_table(const Evolution& found);
/// Tangent training and error barriers by checkpoint; no rows where there are none.
[[nodiscard]] Table branch_table(const Evolution& found);
/// All numbers of a result, for records; kernels are left out.
[[nodiscard]] nlohmann::ordered_json evolution_json(const Evolution& found);

/// The distance matrix as a heat map, with velocity and accuracy below it over the same axis.
[[nodiscard]] Illustration evolution_timeline(const Evolution& found);
/// Class structure, alignment and local elasticity; sharpness; movement and gates, by epoch.
[[nodiscard]] std::vector<Illustration> evolution_curves(const Evolution& found);
/// Accuracy of tangent models and heights of error barriers by epoch; nothing where there are none.
[[nodiscard]] std::vector<Illustration> branch_curves(const Evolution& found);
/// The kernel at every checkpoint, divided by the mean of its diagonal, with colours that are the same for all;
/// `classes` bound the probe samples of each class. Error{usage} where kernels were not kept.
[[nodiscard]] std::vector<std::pair<std::string, Illustration>> kernel_slides(const Evolution& found,
                                                                              const std::vector<Band>& classes);

/// Where the classes of a probe set end, whose samples are in their order; none without classes.
[[nodiscard]] std::vector<Band> class_bands(std::span<const Index> classes, const std::vector<std::string>& names);

/// The whole page below its title.
void add_evolution(Page& page, const Evolution& found, const std::vector<Band>& classes);

}  // namespace widelimit
