#pragma once

#include "widelimit/certificate/lower_bound.hpp"

#include <map>
#include <span>
#include <utility>

namespace widelimit {

/// One T per pair of outputs that occurs in the functionals, independent of their points.
template <typename T>
class ByOutputs {
 public:
  template <typename Make>
  ByOutputs(std::span<const Functional> functionals, const Make& make) {
    for (const Functional& functional : functionals) {
      if (!parts_.contains(outputs(functional))) parts_.emplace(outputs(functional), make(functional));
    }
  }
  [[nodiscard]] const T& of(const Functional& functional) const { return parts_.at(outputs(functional)); }

 private:
  using Outputs = std::pair<Index, Index>;
  static Outputs outputs(const Functional& functional) { return {functional.plus, functional.minus}; }

  std::map<Outputs, T> parts_;
};

}  // namespace widelimit
