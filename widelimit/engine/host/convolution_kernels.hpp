#pragma once

#include "widelimit/engine/host/convolution.hpp"

namespace widelimit::host {

/// Functions for one instruction set; convolution.cpp is compiled once for each.
template <typename T>
struct ConvolutionKernels {
  Index (*padded)(Index columns);  ///< number of columns after padding
  void (*lay_out)(const MatrixView<const T>& weights, const FilterShape& shape, bool transposed, T scale, T* to);
  void (*convolve)(const Connections& connections, const Filter<T>& filter, const T* in, T* out);
  void (*add_image)(const Connections& connections, const FilterShape& shape, const T* in, const T* signal,
                    const T* zeros, T* sums);
  void (*add_sums)(const FilterShape& shape, const T* sums, MatrixView<T> to);
};

}  // namespace widelimit::host
