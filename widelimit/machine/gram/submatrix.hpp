#pragma once

#include "widelimit/base/samples.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Rows and columns of a matrix, in its precision.  O(rows·cols).
[[nodiscard]] AnyMatrix submatrix(const AnyView& k, std::span<const Index> rows, std::span<const Index> cols);

/// Entries of a list.
template <typename T>
std::vector<T> chosen(std::span<const T> all, std::span<const Index> which) {
  std::vector<T> result;
  result.reserve(which.size());
  for (const Index i : which) result.push_back(all[static_cast<std::size_t>(i)]);
  return result;
}

}  // namespace widelimit
