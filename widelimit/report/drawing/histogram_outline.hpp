#pragma once

#include "widelimit/analysis/margins.hpp"
#include "widelimit/report/drawing/figures.hpp"

#include <string>

namespace widelimit {

/// The outline of a histogram's bars, as shares of all that was counted.
[[nodiscard]] Series histogram_outline(const std::string& name, const Histogram& histogram, std::size_t samples);

}  // namespace widelimit
