#include "widelimit/engine/overflow.hpp"

#include "widelimit/base/error.hpp"

namespace widelimit {

void report_overflow(Index slot, Index row, Index col, Precision precision) {
  fail(Code::numerical, "the kernel of samples {} and {} (output {}) exceeds the range of {}: {}", row, col, slot,
       to_string(precision),
       precision == Precision::f32 ? "use precision f64, or scale each sample to unit norm"
                                   : "scale each sample to unit norm or use smaller w_std");
}

}  // namespace widelimit
