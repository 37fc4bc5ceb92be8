#pragma once

#include "widelimit/base/types.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Returns the elements of `all` with the indices `which`.
template <typename T>
std::vector<T> chosen(std::span<const T> all, std::span<const Index> which) {
  std::vector<T> result;
  result.reserve(which.size());
  for (const Index i : which) result.push_back(all[static_cast<std::size_t>(i)]);
  return result;
}

}  // namespace widelimit
