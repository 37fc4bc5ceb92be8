#include "widelimit/kernel/own_pairs.hpp"

#include "widelimit/engine/overflow.hpp"

#include <cmath>

namespace widelimit {

template <std::floating_point T>
void set_own_pairs(MatrixView<const double> diagonal, Range square, std::span<const MatrixView<T>> blocks) {
  for (std::size_t s = 0; s < blocks.size(); ++s) {
    const auto output = static_cast<Index>(s);
    for (Index i = 0; i < square.size(); ++i) {
      const Index sample = square.begin + i;
      const auto value = static_cast<T>(diagonal(output, sample));
      if (!std::isfinite(value)) report_overflow(output, sample, sample, precision_of<T>);
      blocks[s](i, i) = value;
    }
  }
}

template void set_own_pairs(MatrixView<const double>, Range, std::span<const MatrixView<float>>);
template void set_own_pairs(MatrixView<const double>, Range, std::span<const MatrixView<double>>);

}  // namespace widelimit
