#pragma once

#include "widelimit/certificate/network/margin_parts.hpp"

namespace widelimit {

/// Margins of f − f₀, a network less itself at the start, on balls around points. The difference of the two is enclosed
/// layer by layer (difference_bounds.hpp): W − W₀ is small where W is not, so that with two layers the interval does
/// not grow with the width as that of f does.
class DifferenceMargins {
 public:
  /// As NetworkMargins.
  DifferenceMargins(const Architecture& architecture, const AnyParameters& trained, const AnyParameters& start,
                    Norm norm, std::optional<Box> box, int threads);

  [[nodiscard]] Index points_at_once() const { return kept_points(architecture_, first_) / 3 + 1; }
  void look_at(Tensor<double> points, std::span<const Index> labels);
  [[nodiscard]] MarginBounds evaluate(std::span<const Ball> balls) const;

 private:
  [[nodiscard]] MarginBounds bound_part(std::span<const Ball> balls, std::span<const Index> labels) const;

  const Architecture& architecture_;
  const AnyParameters& trained_;
  const AnyParameters& start_;
  std::optional<Box> box_;
  int threads_;
  std::optional<std::size_t> first_;
  std::vector<FirstLayer> columns_;  ///< of the network, of its start, of the difference; or none
  Tensor<double> points_;
  std::span<const Index> labels_;
};

}  // namespace widelimit
