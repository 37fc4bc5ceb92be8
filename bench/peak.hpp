#pragma once

namespace widelimit::bench {

/// Vector multiply-adds a second that one core of this machine sustains on registers alone, float32, with the widest
/// vectors the library uses here, given in vectors of 16 numbers.
[[nodiscard]] double multiply_adds_per_second();

}  // namespace widelimit::bench
