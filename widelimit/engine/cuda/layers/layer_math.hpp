#pragma once

#include "widelimit/engine/enclosure/both.hpp"
#include "widelimit/engine/layers.hpp"
#include "widelimit/engine/scalar_math.hpp"

#include <cmath>
#include <cstdint>

/// Scalar building blocks of layer passes, compiled for the device and, in tests, for the host.
namespace widelimit::cuda {

/// Returns Random(seed, stream).uniform(index).                                         [widelimit/base/random.cpp]
WIDELIMIT_BOTH inline double uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  std::uint32_t c0 = static_cast<std::uint32_t>(index);
  std::uint32_t c1 = static_cast<std::uint32_t>(index >> 32);
  std::uint32_t c2 = static_cast<std::uint32_t>(stream);
  std::uint32_t c3 = static_cast<std::uint32_t>(stream >> 32);
  std::uint32_t key_0 = static_cast<std::uint32_t>(seed);
  std::uint32_t key_1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product_0 = std::uint64_t{0xD2511F53} * c0;
    const std::uint64_t product_1 = std::uint64_t{0xCD9E8D57} * c2;
    c0 = static_cast<std::uint32_t>(product_1 >> 32) ^ c1 ^ key_0;
    c1 = static_cast<std::uint32_t>(product_1);
    c2 = static_cast<std::uint32_t>(product_0 >> 32) ^ c3 ^ key_1;
    c3 = static_cast<std::uint32_t>(product_0);
    key_0 += 0x9E3779B9;
    key_1 += 0xBB67AE85;
  }
  const std::uint64_t bits = (static_cast<std::uint64_t>(c0) << 32) | c1;
  return (static_cast<double>(bits >> 11) + 0.5) * (1.0 / 9007199254740992.0);
}

/// Returns the position that the output (i, j) of a grid reads at window place (r, c), or −1 for padding.
WIDELIMIT_BOTH inline int read_at(int output, int place, int n, int stride, int before, bool circular) {
  const int at = output * stride + place - before;
  if (circular) return ((at % n) + n) % n;
  return at >= 0 && at < n ? at : -1;
}
WIDELIMIT_BOTH inline int window_input(const WindowGrid& g, int output, int place) {
  const int row = read_at(output / g.width, place / g.cols, g.in_height, g.row_stride, g.rows_before, g.circular);
  const int col = read_at(output % g.width, place % g.cols, g.in_width, g.col_stride, g.cols_before, g.circular);
  return row < 0 || col < 0 ? -1 : row * g.in_width + col;
}

/// Returns the output that reads a position at a window place, or −1. It is unique, since strides stay within the grid.
WIDELIMIT_BOTH inline int reader_at(int position, int place, int n, int count, int stride, int before, bool circular) {
  int at = position + before - place;
  if (circular) at = ((at % n) + n) % n;
  return at >= 0 && at % stride == 0 && at / stride < count ? at / stride : -1;
}
WIDELIMIT_BOTH inline int window_reader(const WindowGrid& g, int position, int place) {
  const int row =
      reader_at(position / g.in_width, place / g.cols, g.in_height, g.height, g.row_stride, g.rows_before, g.circular);
  const int col =
      reader_at(position % g.in_width, place % g.cols, g.in_width, g.width, g.col_stride, g.cols_before, g.circular);
  return row < 0 || col < 0 ? -1 : row * g.width + col;
}

}  // namespace widelimit::cuda
