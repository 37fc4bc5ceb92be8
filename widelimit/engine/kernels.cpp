#include "widelimit/engine/kernels.hpp"

#include "widelimit/base/transpose.hpp"

namespace widelimit {

namespace {

template <typename T>
void mirror(bool on_diagonal, std::span<const MatrixView<T>> outputs, std::span<const MatrixView<T>> mirrored) {
  for (std::size_t s = 0; s < outputs.size(); ++s) {
    if (on_diagonal) {
      mirror_upper(outputs[s]);
    } else {
      transpose(MatrixView<const T>(outputs[s]), mirrored[s]);
    }
  }
}

}  // namespace

void Kernels::mirrored_tile(const Recipe& recipe, const Loaded& x, Range rows, Range cols,
                            std::span<const MatrixView<float>> outputs,
                            std::span<const MatrixView<float>> mirrored) const {
  tile(recipe, x, rows, x, cols, outputs);
  mirror(rows.begin == cols.begin, outputs, mirrored);
}

void Kernels::mirrored_tile(const Recipe& recipe, const Loaded& x, Range rows, Range cols,
                            std::span<const MatrixView<double>> outputs,
                            std::span<const MatrixView<double>> mirrored) const {
  tile(recipe, x, rows, x, cols, outputs);
  mirror(rows.begin == cols.begin, outputs, mirrored);
}

}  // namespace widelimit
