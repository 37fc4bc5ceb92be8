#pragma once

#include "widelimit/base/types.hpp"

#include <cstddef>

namespace widelimit {

/// What a Gram needs while it is computed tile by tile into a file.
struct PanelNeeds {
  Index rows = 0;
  Index cols = 0;
  bool symmetric = false;        ///< one set against itself: cols = rows
  Index edge = 1;                ///< of tiles; panels end at its multiples
  std::size_t sample_bytes = 0;  ///< of a loaded sample
  std::size_t fixed_bytes = 0;   ///< whatever the panels: the samples themselves, tiles in flight
  std::size_t budget = 0;
  Index most = 0;  ///< samples loaded at once, where that is bounded for another reason; 0: no bound
};

/// Samples are loaded in panels: rows that stay while columns pass by.
struct PanelPlan {
  Index rows = 0;  ///< samples of a row panel
  Index cols = 0;  ///< samples of a column panel
  std::size_t bytes = 0;
};

/// With S samples in memory at once, of which `rows` stay, all of them are loaded n + n²/(2·rows) times in total; so
/// rows get most of S, and columns an eighth. Everything at once where that fits. Error{resource} says how much memory
/// the least plan takes.
[[nodiscard]] PanelPlan plan_panels(const PanelNeeds& needs);

}  // namespace widelimit
