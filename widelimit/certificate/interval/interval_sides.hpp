#pragma once

#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/certificate/cone/kernel_sides.hpp"
#include "widelimit/engine/cpu/cone/cone_sides.hpp"

namespace widelimit {

/// Exact ranges of H over [a]×[N] ∩ {|a| ≤ N}, which convexity of κ gives: H is its perspective, hence convex.
class IntervalSides final : public KernelSides {
 public:
  /// The kernel must be convex().
  explicit IntervalSides(const ConeKernel& kernel) : kernel_(kernel) {}
  void low(const RangeStrip& strip, SideScratch& scratch, double* to) const override;
  void high(const RangeStrip& strip, SideScratch& scratch, double* to) const override;
  void bound(const RangeStrip& strip, SideScratch& scratch, double* to) const override;

 private:
  [[nodiscard]] cpu::ConeEdges edges(const NormRange& norm) const;
  void high_on_the_left(const RangeStrip& strip, SideScratch& scratch, Index turned, double* to) const;

  const ConeKernel& kernel_;
};

}  // namespace widelimit
