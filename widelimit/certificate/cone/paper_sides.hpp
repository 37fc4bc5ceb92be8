#pragma once

#include "widelimit/certificate/cone/cone_kernel.hpp"
#include "widelimit/certificate/cone/kernel_sides.hpp"

namespace widelimit {

/// EQ Theorem 4.2: a, N and u = a/N each in a range of its own, H between the products of the ends. Published for the
/// two-layer network; κ grows right of its lowest place and falls left of it whatever the depth.
class PaperSides final : public KernelSides {
 public:
  /// The kernel must be convex().
  explicit PaperSides(const ConeKernel& kernel) : kernel_(kernel) {}
  void low(const RangeStrip& strip, SideScratch& scratch, double* to) const override;
  void high(const RangeStrip& strip, SideScratch& scratch, double* to) const override;

 private:
  const ConeKernel& kernel_;
};

}  // namespace widelimit
