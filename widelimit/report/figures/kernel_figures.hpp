#pragma once

#include "widelimit/analysis/spectrum.hpp"
#include "widelimit/data/dataset.hpp"
#include "widelimit/report/html.hpp"

#include <string>
#include <utility>
#include <vector>

namespace widelimit {

/// Samples in the order of their classes; in the order they have where there are none. At most `most` of them, evenly
/// spaced, since a picture shows no more.
struct ClassOrder {
  std::vector<Index> rows;
  std::vector<Band> bands;  ///< empty without classes
};
[[nodiscard]] ClassOrder order_by_class(const Dataset& data, Index most = 2000);

/// What a colour stands for: K_ij itself, or the correlation K_ij/√(K_ii K_jj), in which a few samples of large norm
/// do not outshine the others (0 where a sample has no norm).
enum class Shade { kernel, correlation };

/// A Gram matrix of `data` with itself, ordered by class.
[[nodiscard]] Illustration kernel_heat_map(const AnyMatrix& gram, const Dataset& data, const std::string& title,
                                           Shade shade = Shade::kernel);

/// Eigenvalues against their rank, both logarithmic; negative ones, which are rounding, cannot be shown and are
/// counted in the note.
[[nodiscard]] Illustration spectrum_curves(const std::vector<std::pair<std::string, Spectrum>>& spectra,
                                           const std::string& title);

}  // namespace widelimit
