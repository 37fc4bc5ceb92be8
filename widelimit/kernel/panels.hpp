#pragma once

#include "widelimit/base/types.hpp"

#include <cstddef>

namespace widelimit {

/// Memory requirements of a Gram matrix that is computed tile by tile.
struct PanelNeeds {
  Index rows = 0;
  Index cols = 0;
  bool symmetric = false;        ///< x1 with itself: cols = rows
  Index edge = 1;                ///< edge of a tile; panel boundaries are multiples of it
  std::size_t sample_bytes = 0;  ///< per loaded sample
  std::size_t fixed_bytes = 0;   ///< independent of the panels: the samples themselves, tiles in flight
  std::size_t budget = 0;
  Index most = 0;  ///< upper bound of the samples loaded at once; 0: none
};

/// Sizes of the panels of samples that are loaded at a time: the row panel stays in memory while column panels are
/// loaded.
struct PanelPlan {
  Index rows = 0;  ///< samples of a row panel
  Index cols = 0;  ///< samples of a column panel
  std::size_t bytes = 0;
};

/// With S samples in memory, of which `rows` form the row panel, n + n²/(2·rows) samples are loaded in total; hence the
/// row panel gets most of S and the column panel an eighth of it. Uses a single panel if everything fits. Throws
/// Error{resource} with the memory that the smallest plan needs.
[[nodiscard]] PanelPlan plan_panels(const PanelNeeds& needs);

}  // namespace widelimit
