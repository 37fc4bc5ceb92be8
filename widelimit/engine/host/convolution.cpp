#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/host/convolution.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; highway.h must follow it.
#include <hwy/highway.h>

#include "widelimit/engine/host/convolution.hpp"
#include "widelimit/engine/host/convolution_kernels.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace widelimit::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Register tile: `high` positions (or channels) by at most `widest` vectors; 32 registers hold 24 sums, 16 hold 12.
constexpr Index high = 6;
constexpr Index widest = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
/// Number of terms added before sums are stored: this part of a filter, and the sums of a tile of positions, fit in the
/// first-level cache.
constexpr Index depth = 64;
constexpr Index groups = 8;
constexpr Index tile = groups * high;
/// Number of positions whose signals are accumulated into the sums of a filter at a time.
constexpr Index signal_tile = 64;

/// A block of filter columns: `vectors` vectors, `width` columns.
struct Block {
  Index first;
  Index width;
  Index vectors;
};

/// Returns the block that begins at column `first`: the widest of which more than half is used.
template <typename T>
Block block_at(Index first, Index columns) {
  const auto lanes = static_cast<Index>(hn::Lanes(hn::ScalableTag<T>()));
  Index vectors = widest;
  while (vectors > 1 && first + vectors / 2 * lanes >= columns) vectors /= 2;
  return {first, vectors * lanes, vectors};
}

template <typename T>
Index padded_columns(Index columns) {
  Index first = 0;
  while (first < columns) first += block_at<T>(first, columns).width;
  return first;
}

/// R rows by V vectors of sums in registers.
template <Index R, Index V, typename T>
struct Sums {
  using D = hn::ScalableTag<T>;
  std::array<std::array<hn::Vec<D>, V>, R> values;

  HWY_INLINE void load(const T* from, Index stride) {
    const D d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    for (std::size_t r = 0; r < R; ++r) {
      for (std::size_t v = 0; v < V; ++v) {
        values[r][v] = hn::LoadU(d, from + static_cast<Index>(r) * stride + static_cast<Index>(v) * lanes);
      }
    }
  }
  HWY_INLINE void store(T* to, Index stride) const {
    const D d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    for (std::size_t r = 0; r < R; ++r) {
      for (std::size_t v = 0; v < V; ++v) {
        hn::StoreU(values[r][v], d, to + static_cast<Index>(r) * stride + static_cast<Index>(v) * lanes);
      }
    }
  }
};

/// sums(r, ·) += Σ_e Σ_t rows[e·R + r][t]·y(e·count + t, ·).
template <Index R, Index V, typename T>
HWY_NOINLINE void add_rows(Index entries, Index count, const T* const* HWY_RESTRICT rows, const T* HWY_RESTRICT y,
                           T* HWY_RESTRICT to) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Sums<R, V, T> sums;
  sums.load(to, V * lanes);
  for (Index e = 0; e < entries; ++e) {
    std::array<const T*, R> row;
    for (std::size_t r = 0; r < R; ++r) row[r] = rows[e * R + static_cast<Index>(r)];
    for (Index t = 0; t < count; ++t, y += V * lanes) {
      std::array<hn::Vec<decltype(d)>, V> right;
      for (std::size_t v = 0; v < V; ++v) right[v] = hn::LoadU(d, y + static_cast<Index>(v) * lanes);
      for (std::size_t r = 0; r < R; ++r) {
        const auto left = hn::Set(d, row[r][t]);
        for (std::size_t v = 0; v < V; ++v) sums.values[r][v] = hn::MulAdd(left, right[v], sums.values[r][v]);
      }
    }
  }
  sums.store(to, V * lanes);
}

/// sums(r, ·) += Σ_t rows[t][first + r]·y(t, ·).
template <Index R, Index V, typename T>
HWY_NOINLINE void add_columns(Index count, const T* const* HWY_RESTRICT rows, Index first, const T* HWY_RESTRICT y,
                              T* HWY_RESTRICT to) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Sums<R, V, T> sums;
  sums.load(to, V * lanes);
  for (Index t = 0; t < count; ++t, y += V * lanes) {
    const T* row = rows[t] + first;
    std::array<hn::Vec<decltype(d)>, V> right;
    for (std::size_t v = 0; v < V; ++v) right[v] = hn::LoadU(d, y + static_cast<Index>(v) * lanes);
    for (std::size_t r = 0; r < R; ++r) {
      const auto left = hn::Set(d, row[r]);
      for (std::size_t v = 0; v < V; ++v) sums.values[r][v] = hn::MulAdd(left, right[v], sums.values[r][v]);
    }
  }
  sums.store(to, V * lanes);
}

/// Processes the rows from `first` to `inner` in the largest groups that fit in registers.
template <Index V, typename T>
void add_all_columns(Index count, const T* const* rows, Index inner, const T* y, T* to) {
  const Index width = V * static_cast<Index>(hn::Lanes(hn::ScalableTag<T>()));
  Index first = 0;
  for (; first + high <= inner; first += high) add_columns<high, V>(count, rows, first, y, to + first * width);
  if (inner - first >= 4) {
    add_columns<4, V>(count, rows, first, y, to + first * width);
    first += 4;
  }
  if (inner - first >= 2) {
    add_columns<2, V>(count, rows, first, y, to + first * width);
    first += 2;
  }
  if (first < inner) add_columns<1, V>(count, rows, first, y, to + first * width);
}

/// Output positions of a tile, in the order of the connections; rows beyond the last read zeros.
template <typename T>
class Tile {
 public:
  Tile(const Connections& connections, const T* in, Index inner, const T* zeros, Index begin)
      : connections_(connections),
        in_(in),
        inner_(inner),
        zeros_(zeros),
        begin_(begin),
        count_(std::min(tile, connections.outputs() - begin)) {}

  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] Index position(Index i) const { return connections_.order[static_cast<std::size_t>(begin_ + i)]; }
  /// Collects the rows that the positions of a group read at a place; returns false if all are padding.
  bool rows(Index group, Index place, const T** to) const {
    bool any = false;
    for (Index r = 0; r < high; ++r) {
      const Index i = group * high + r;
      const Index from = i < count_ ? connections_.read(position(i), place) : -1;
      any |= from >= 0;
      to[r] = from >= 0 ? in_ + from * inner_ : zeros_;
    }
    return any;
  }

 private:
  const Connections& connections_;
  const T* in_;
  Index inner_;
  const T* zeros_;
  Index begin_;
  Index count_;
};

/// Computes the sums of one tile in one block of columns.
template <Index V, typename T>
void convolve_tile(const Tile<T>& positions, const Filter<T>& filter, const T* values, T* sums) {
  const Index width = V * static_cast<Index>(hn::Lanes(hn::ScalableTag<T>()));
  const Index inner = filter.shape().inner;
  const Index together = std::clamp<Index>(depth / inner, 1, filter.shape().places);
  const Index used = (positions.count() + high - 1) / high;
  std::array<const T*, depth * high> rows;
  for (Index place = 0; place < filter.shape().places; place += together) {
    const Index entries = std::min(together, filter.shape().places - place);
    for (Index first = 0; first < inner; first += depth) {
      const Index count = std::min(depth, inner - first);
      for (Index group = 0; group < used; ++group) {
        bool any = false;
        for (Index e = 0; e < entries; ++e) any |= positions.rows(group, place + e, rows.data() + e * high);
        if (!any) continue;
        if (first > 0) {
          for (Index r = 0; r < high; ++r) rows[static_cast<std::size_t>(r)] += first;
        }
        add_rows<high, V>(entries, count, rows.data(), values + (place * inner + first) * width,
                          sums + group * high * width);
      }
    }
  }
}

template <typename T>
void convolve_of(const Connections& connections, const Filter<T>& filter, const T* in, T* out) {
  HWY_ALIGN std::array<T, static_cast<std::size_t>(tile * 64)> sums;
  const T* values = filter.values();
  for (Index column = 0; column < filter.shape().outer;) {
    const Block block = block_at<T>(column, filter.shape().outer);
    const Index kept = std::min(block.width, filter.shape().outer - column);
    for (Index begin = 0; begin < connections.outputs(); begin += tile) {
      const Tile<T> positions(connections, in, filter.shape().inner, filter.zeros(), begin);
      for (Index i = 0; i < tile; ++i) std::copy_n(filter.start() + column, block.width, sums.data() + i * block.width);
      if (block.vectors == 4) {
        convolve_tile<4>(positions, filter, values, sums.data());
      } else if (block.vectors == 2) {
        convolve_tile<2>(positions, filter, values, sums.data());
      } else {
        convolve_tile<1>(positions, filter, values, sums.data());
      }
      for (Index i = 0; i < positions.count(); ++i) {
        std::copy_n(sums.data() + i * block.width, kept, out + positions.position(i) * filter.shape().outer + column);
      }
    }
    values += filter.shape().places * filter.shape().inner * block.width;
    column += block.width;
  }
}

/// Writes row k·inner + c of each block of columns, padded with zeros.
template <typename T>
void lay_out_filter(const MatrixView<const T>& weights, const FilterShape& shape, bool transposed, T scale, T* to) {
  for (Index column = 0; column < shape.outer;) {
    const Block block = block_at<T>(column, shape.outer);
    const Index kept = std::min(block.width, shape.outer - column);
    for (Index row = 0; row < shape.places * shape.inner; ++row, to += block.width) {
      const Index above = row / shape.inner * shape.outer + column;  // row of W_k if transposed
      for (Index j = 0; j < kept; ++j) {
        to[j] = scale * (transposed ? weights(above + j, row % shape.inner) : weights(row, column + j));
      }
      std::fill_n(to + kept, block.width - kept, T{0});
    }
    column += block.width;
  }
}

template <typename T>
void add_image_of(const Connections& connections, const FilterShape& shape, const T* in, const T* signal,
                  const T* zeros, T* sums) {
  const Index inner = shape.inner;
  HWY_ALIGN std::array<T, static_cast<std::size_t>(signal_tile * 64)> patches;
  std::array<const T*, signal_tile> rows;
  for (Index column = 0; column < shape.outer;) {
    const Block block = block_at<T>(column, shape.outer);
    const Index kept = std::min(block.width, shape.outer - column);
    for (Index begin = 0; begin < connections.outputs(); begin += signal_tile) {
      const Index count = std::min(signal_tile, connections.outputs() - begin);
      for (Index i = 0; i < count; ++i) {
        T* to = patches.data() + i * block.width;
        std::copy_n(signal + (begin + i) * shape.outer + column, kept, to);
        std::fill_n(to + kept, block.width - kept, T{0});
      }
      for (Index place = 0; place < shape.places; ++place) {
        bool any = false;
        for (Index i = 0; i < count; ++i) {
          const Index from = connections.read(begin + i, place);
          any |= from >= 0;
          rows[static_cast<std::size_t>(i)] = from >= 0 ? in + from * inner : zeros;
        }
        if (!any) continue;
        T* to = sums + place * inner * block.width;
        if (block.vectors == 4) {
          add_all_columns<4>(count, rows.data(), inner, patches.data(), to);
        } else if (block.vectors == 2) {
          add_all_columns<2>(count, rows.data(), inner, patches.data(), to);
        } else {
          add_all_columns<1>(count, rows.data(), inner, patches.data(), to);
        }
      }
    }
    sums += shape.places * inner * block.width;
    column += block.width;
  }
}

template <typename T>
void add_sums_of(const FilterShape& shape, const T* sums, MatrixView<T> to) {
  for (Index column = 0; column < shape.outer;) {
    const Block block = block_at<T>(column, shape.outer);
    const Index kept = std::min(block.width, shape.outer - column);
    for (Index row = 0; row < shape.places * shape.inner; ++row, sums += block.width) {
      for (Index j = 0; j < kept; ++j) to(row, column + j) += sums[j];
    }
    column += block.width;
  }
}

template <typename T>
ConvolutionKernels<T> kernels_of() {
  return {&padded_columns<T>, &lay_out_filter<T>, &convolve_of<T>, &add_image_of<T>, &add_sums_of<T>};
}
ConvolutionKernels<float> kernels_f32() { return kernels_of<float>(); }
ConvolutionKernels<double> kernels_f64() { return kernels_of<double>(); }

}  // namespace widelimit::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::host {

HWY_EXPORT(kernels_f32);
HWY_EXPORT(kernels_f64);

namespace {

template <std::floating_point T>
const ConvolutionKernels<T>& kernels() {
  if constexpr (std::is_same_v<T, float>) {
    static const ConvolutionKernels<float> all = HWY_DYNAMIC_DISPATCH(kernels_f32)();
    return all;
  } else {
    static const ConvolutionKernels<double> all = HWY_DYNAMIC_DISPATCH(kernels_f64)();
    return all;
  }
}

}  // namespace

template <std::floating_point T>
void Filter<T>::pack(MatrixView<const T> weights, Index places, Transpose op, T scale) {
  const bool transposed = op == Transpose::yes;
  const Index rows = weights.rows / places;
  shape_ = {.places = places, .inner = transposed ? weights.cols : rows, .outer = transposed ? rows : weights.cols};
  const Index padded = kernels<T>().padded(shape_.outer);
  values_.resize(static_cast<std::size_t>(places * shape_.inner * padded));
  start_.assign(static_cast<std::size_t>(padded), T{0});
  zeros_.assign(static_cast<std::size_t>(shape_.inner), T{0});
  kernels<T>().lay_out(weights, shape_, transposed, scale, values_.data());
}

template <std::floating_point T>
void Filter<T>::start_with(std::span<const T> values, T scale) {
  for (std::size_t o = 0; o < values.size(); ++o) start_[o] = scale * values[o];
}

template <std::floating_point T>
void convolve(const Connections& connections, const Filter<T>& filter, const T* in, T* out) {
  kernels<T>().convolve(connections, filter, in, out);
}

template <std::floating_point T>
FilterSum<T>::FilterSum(const FilterShape& shape)
    : shape_(shape),
      sums_(static_cast<std::size_t>(shape.places * shape.inner * kernels<T>().padded(shape.outer))),
      zeros_(static_cast<std::size_t>(shape.inner)) {}

template <std::floating_point T>
void FilterSum<T>::add(const Connections& connections, const T* in, const T* signal) {
  kernels<T>().add_image(connections, shape_, in, signal, zeros_.data(), sums_.data());
}

template <std::floating_point T>
void FilterSum<T>::add_to(MatrixView<T> to) const {
  kernels<T>().add_sums(shape_, sums_.data(), to);
}

template class Filter<float>;
template class Filter<double>;
template class FilterSum<float>;
template class FilterSum<double>;
template void convolve(const Connections&, const Filter<float>&, const float*, float*);
template void convolve(const Connections&, const Filter<double>&, const double*, double*);

}  // namespace widelimit::host
#endif
