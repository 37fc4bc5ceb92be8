#pragma once

#include "widelimit/engine/cuda/place/place_program.hpp"

namespace widelimit::cuda {

/// Samples of the first overflowing entry in row order; −1 if there is none.
struct PlaceOverflow {
  Index row = -1;
  Index col = -1;
};

/// Device operations for networks on places, beyond memory. Launches may be asynchronous; copies of the device wait for
/// them.
class PlaceDevice {
 public:
  virtual ~PlaceDevice() = default;
  /// Maximum bytes of pair states that fit into the memory of one team of threads.
  [[nodiscard]] virtual std::int64_t team_bytes() const = 0;
  /// Runs all passes of pairs [begin, end) of a call, each pair by a team with `bytes` of private memory.
  virtual void run_teams(const PlaceCall& call, Precision arithmetic, std::int32_t begin, std::int32_t end,
                         std::int64_t bytes) = 0;
  /// Runs one pass over pairs [begin, end); `elements`: maximum number of results of the pass per pair.
  virtual void run_pass(const PlaceCall& call, const PlacePass& pass, Precision arithmetic, std::int32_t begin,
                        std::int32_t end, std::int64_t elements) = 0;
  [[nodiscard]] virtual PlaceOverflow write(const PlaceWrite& write) = 0;
};

}  // namespace widelimit::cuda
