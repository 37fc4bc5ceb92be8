#pragma once

#include "widelimit/analysis/margins.hpp"
#include "widelimit/report/drawing/figures.hpp"

#include <string>

namespace widelimit {

/// Returns the outline of a histogram, as fractions of `samples`.
[[nodiscard]] Series histogram_outline(const std::string& name, const Histogram& histogram, std::size_t samples);

}  // namespace widelimit
