#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/engine/engine_matrix.hpp"

#include <concepts>
#include <span>
#include <vector>

/// Convolutions of one channels-last image without im2col: sums stay in registers for a few positions and some vectors
/// of channels. Sequential; compiled for several vector widths.
namespace widelimit::host {

/// Sparsity pattern of a convolution: entry o·places + k is the input position at place k of the window of output o, or
/// −1.
struct Connections {
  std::span<const Index> positions;
  std::span<const Index> order;  ///< permutation of output positions that groups equal window shapes
  Index places = 0;

  [[nodiscard]] Index outputs() const { return std::ssize(order); }
  [[nodiscard]] Index read(Index output, Index place) const {
    return positions[static_cast<std::size_t>(output * places + place)];
  }
};

/// One inner × outer matrix for each place.
struct FilterShape {
  Index places = 0;
  Index inner = 0;
  Index outer = 0;
};

/// The matrices F_k of all places in the layout of the kernels: blocks of a few vectors of columns, the last one padded
/// with zeros.
template <std::floating_point T>
class Filter {
 public:
  /// Packs F_k = scale·W_k, where `weights` stacks W_0, W_1, … vertically; or F_k = scale·W_kᵀ.
  void pack(MatrixView<const T> weights, Index places, Transpose op, T scale);
  /// Sets the initial value of the sums of a convolution to scale·values, one number per outer channel, instead of 0.
  void start_with(std::span<const T> values, T scale);

  [[nodiscard]] const FilterShape& shape() const { return shape_; }
  [[nodiscard]] const T* values() const { return values_.data(); }
  [[nodiscard]] const T* start() const { return start_.data(); }
  [[nodiscard]] const T* zeros() const { return zeros_.data(); }  ///< shape().inner zeros

 private:
  FilterShape shape_;
  std::vector<T> values_;
  std::vector<T> start_;
  std::vector<T> zeros_;
};

/// out_o = start + Σ_k in_{c(o,k)}·F_k: maps an image of inner channels to one of outer channels. O(outputs · places ·
/// inner · outer).
template <std::floating_point T>
void convolve(const Connections& connections, const Filter<T>& filter, const T* in, T* out);

/// Accumulates Σ in_{c(o,k)}ᵀ d_o over positions o and images: the gradient of the matrix of each place k.
template <std::floating_point T>
class FilterSum {
 public:
  /// Initialises the sums to 0.
  explicit FilterSum(const FilterShape& shape);
  /// Adds one image and the signal d at the output of its convolution. Same cost as the convolution.
  void add(const Connections& connections, const T* in, const T* signal);
  /// to += the sums, stacked by place.
  void add_to(MatrixView<T> to) const;

 private:
  FilterShape shape_;
  std::vector<T> sums_;  ///< blocked by columns as in Filter
  std::vector<T> zeros_;
};

}  // namespace widelimit::host
