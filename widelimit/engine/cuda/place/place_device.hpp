#pragma once

#include "widelimit/engine/cuda/place/place_program.hpp"

namespace widelimit::cuda {

/// Samples of an entry that left the range of its matrix, the first by rows; −1 where there is none.
struct PlaceOverflow {
  Index row = -1;
  Index col = -1;
};

/// What networks on places ask of a device beside its memory. Launches may return before they are done; copies of the
/// device wait for them.
class PlaceDevice {
 public:
  virtual ~PlaceDevice() = default;
  /// The most bytes that the states of a pair may take to stay in the memory of one team of threads.
  [[nodiscard]] virtual std::int64_t team_bytes() const = 0;
  /// Pairs [begin, end) of a call, each by a team with `bytes` of its own, through all passes.
  virtual void run_teams(const PlaceCall& call, Precision arithmetic, std::int32_t begin, std::int32_t end,
                         std::int64_t bytes) = 0;
  /// The same, all pairs through one pass after the other; `elements`: the most that the pass leaves of one pair.
  virtual void run_pass(const PlaceCall& call, const PlacePass& pass, Precision arithmetic, std::int32_t begin,
                        std::int32_t end, std::int64_t elements) = 0;
  [[nodiscard]] virtual PlaceOverflow write(const PlaceWrite& write) = 0;
};

}  // namespace widelimit::cuda
