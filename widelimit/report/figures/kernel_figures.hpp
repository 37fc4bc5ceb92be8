#pragma once

#include "widelimit/analysis/spectrum.hpp"
#include "widelimit/data/dataset.hpp"
#include "widelimit/report/html.hpp"

#include <string>
#include <utility>
#include <vector>

namespace widelimit {

/// Samples sorted by class, or in their own order if there are no classes; at most `most`, evenly spaced, since a
/// picture cannot resolve more.
struct ClassOrder {
  std::vector<Index> rows;
  std::vector<Band> bands;  ///< empty without classes
};
[[nodiscard]] ClassOrder order_by_class(const Dataset& data, Index most = 2000);

/// Quantity shown as colour: K_ij itself, or the correlation K_ij/√(K_ii K_jj), whose range is not dominated by samples
/// of large norm (0 if a sample has norm 0).
enum class Shade { kernel, correlation };

/// Draws the Gram matrix of `data` with itself, sorted by class.
[[nodiscard]] Illustration kernel_heat_map(const AnyMatrix& gram, const Dataset& data, const std::string& title,
                                           Shade shade = Shade::kernel);

/// Plots eigenvalues by rank, log-log; negative ones, which are due to rounding, are omitted and counted in the note.
[[nodiscard]] Illustration spectrum_curves(const std::vector<std::pair<std::string, Spectrum>>& spectra,
                                           const std::string& title);

}  // namespace widelimit
