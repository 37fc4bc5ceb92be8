#pragma once

#include "widelimit/analysis/evolution/evolution.hpp"
#include "widelimit/report/html.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace widelimit {

/// Formats the time, e.g. "epoch 2"; a full-batch step is an epoch.
[[nodiscard]] std::string time_text(const Checkpoint& point);

/// Returns one row per checkpoint; columns without any value are omitted.
[[nodiscard]] Table evolution_table(const Evolution& found);
/// Returns tangent training and error barriers by checkpoint; no rows if there are none.
[[nodiscard]] Table branch_table(const Evolution& found);
/// Returns all numbers of a result for records, without kernels.
[[nodiscard]] nlohmann::ordered_json evolution_json(const Evolution& found);

/// Plots the distance matrix as a heat map, with velocity and accuracy below it over the same axis.
[[nodiscard]] Illustration evolution_timeline(const Evolution& found);
/// Plots class structure, alignment and local elasticity; sharpness; movement and gates, by epoch.
[[nodiscard]] std::vector<Illustration> evolution_curves(const Evolution& found);
/// Plots the accuracy of tangent models and the heights of error barriers by epoch; empty if there are none.
[[nodiscard]] std::vector<Illustration> branch_curves(const Evolution& found);
/// Draws the kernel at every checkpoint, divided by the mean of its diagonal, with a common colour range; `classes` are
/// the class boundaries of the probe samples. Throws Error{usage} if the kernels were not kept.
[[nodiscard]] std::vector<std::pair<std::string, Illustration>> kernel_slides(const Evolution& found,
                                                                              const std::vector<Band>& classes);

/// Returns the class boundaries of a probe set whose samples are sorted by class; empty without classes.
[[nodiscard]] std::vector<Band> class_bands(std::span<const Index> classes, const std::vector<std::string>& names);

/// Adds the whole content of the page below its title.
void add_evolution(Page& page, const Evolution& found, const std::vector<Band>& classes);

}  // namespace widelimit
