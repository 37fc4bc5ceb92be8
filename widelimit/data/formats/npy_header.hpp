#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/data/file/file.hpp"

#include <bit>
#include <string>
#include <vector>

namespace widelimit {

/// What an NPY file says of the numbers that follow.
struct NpyHeader {
  std::endian order = std::endian::little;
  char kind = 'f';  ///< b i u f S U, as NumPy spells types
  Index size = 8;   ///< bytes of one element
  bool fortran = false;
  std::vector<Index> dims;
  std::size_t body = 0;  ///< where the numbers start
};

/// Error{input} for anything but a well-formed header of versions 1 to 3.
[[nodiscard]] NpyHeader parse_npy_header(Bytes bytes, const std::string& source);

}  // namespace widelimit
