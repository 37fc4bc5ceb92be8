#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/engine/engine_matrix.hpp"

#include <concepts>
#include <span>
#include <vector>

/// Convolutions of one image, channels last, without a copy of what the windows see: sums stay in registers for a few
/// positions and some vectors of channels. Sequential; written for several vector widths.
namespace widelimit::host {

/// What every output position reads: entry o·places + k is the input position at place k of its window, −1 for none.
struct Connections {
  std::span<const Index> positions;
  std::span<const Index> order;  ///< of all output positions; those that read at the same places stand together
  Index places = 0;

  [[nodiscard]] Index outputs() const { return std::ssize(order); }
  [[nodiscard]] Index read(Index output, Index place) const {
    return positions[static_cast<std::size_t>(output * places + place)];
  }
};

/// A matrix of inner × outer channels for each place.
struct FilterShape {
  Index places = 0;
  Index inner = 0;
  Index outer = 0;
};

/// The matrices F_k of all places, laid out as the kernels read them: a block of some vectors of columns after the
/// other, the last filled up with zeros.
template <std::floating_point T>
class Filter {
 public:
  /// F_k = scale·W_k, where `weights` has W_0, W_1, … below each other; or scale·W_kᵀ.
  void pack(MatrixView<const T> weights, Index places, Transpose op, T scale);
  /// What the sums of a convolution begin with: scale·values, a number for each outer channel, in place of 0.
  void start_with(std::span<const T> values, T scale);

  [[nodiscard]] const FilterShape& shape() const { return shape_; }
  [[nodiscard]] const T* values() const { return values_.data(); }
  [[nodiscard]] const T* start() const { return start_.data(); }
  [[nodiscard]] const T* zeros() const { return zeros_.data(); }  ///< inner of them

 private:
  FilterShape shape_;
  std::vector<T> values_;
  std::vector<T> start_;
  std::vector<T> zeros_;
};

/// out_o = start + Σ_k in_{c(o,k)}·F_k: an image of inner channels becomes one of outer channels.
/// O(outputs · places · inner · outer).
template <std::floating_point T>
void convolve(const Connections& connections, const Filter<T>& filter, const T* in, T* out);

/// Σ in_{c(o,k)}ᵀ d_o over positions o and images: what the gradient of the matrix of place k is made of.
template <std::floating_point T>
class FilterSum {
 public:
  /// Zero.
  explicit FilterSum(const FilterShape& shape);
  /// One image and the signal d at what its convolution yields.  As costly as the convolution.
  void add(const Connections& connections, const T* in, const T* signal);
  /// to += the sum, with the places below each other.
  void add_to(MatrixView<T> to) const;

 private:
  FilterShape shape_;
  std::vector<T> sums_;  ///< in blocks of columns, as in a Filter
  std::vector<T> zeros_;
};

}  // namespace widelimit::host
