#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/engine/enclosure/chain_change.hpp"
#include "widelimit/engine/host/cone/cone.hpp"

#include <cstdint>

/// Device operations for certificates, beyond memory and products. Pointers refer to device memory, matrices are
/// contiguous and row-major, all values are float64.
namespace widelimit::cuda {

/// Partial sums per sum over the support: term i is added to partial sum i mod cone_parts; a binary tree reduces them.
constexpr int cone_parts = 256;
constexpr int cone_tree_depth = 8;

/// One requested sum: ball and row of weights.
struct ConeSumView {
  Index ball = 0;
  Index weights = 0;
};

/// Device copy of the chain that defines κ.
struct ConeChainView {
  const host::ConeLayer* layers = nullptr;
  std::int32_t depth = 0;
  bool tangent = true;
  double trained = 1;
};

struct ConeRayView {
  double low = 0, high = 0, slope = 0;
};

/// Device copy of ConeProfile of engine/cones.hpp.
struct ConeProfileView {
  ConeChainView chain;
  double largest = 0, opposite = 0, lowest = 0, fall_end = 0, growth_begin = 0, lowest_value = 0;
  ConeRayView above, below;
};

/// Device copy of ConeBall of engine/cones.hpp, with the thresholds of ConeEdges (engine/host/cone/cone_extremes.hpp).
struct ConeBallView {
  Index point = 0;
  double radius = 0, error = 0, inner = 0, outer = 0, box_error = 0;
  double inner_inverse = 0, outer_inverse = 0;
  double grows = 0, falls = 0;
};

struct ConeBoundCall {
  ConeProfileView profile;
  bool exact = true;  ///< ConeRule::interval, else ConeRule::paper
  Index support = 0;
  const double* inner = nullptr;
  const double* spread = nullptr;  ///< null: all 1
  const double* middle = nullptr;  ///< null: no box
  const double* reach = nullptr;
  const double* weights = nullptr;
  const ConeBallView* balls = nullptr;
  const ConeSumView* requests = nullptr;
  Index sums = 0;
  double* to = nullptr;
};

struct ConeEntryCall {
  ConeChainView chain;
  Index rows = 0, support = 0, features = 0;
  const double* points = nullptr;  ///< rows × features
  const double* directions = nullptr;
  const double* inner = nullptr;
  const double* norms = nullptr;
  const double* lengths = nullptr;
  const std::int32_t* exponents = nullptr;
  double scale = 1;
  double* to = nullptr;
};

struct ConeSlopeCall {
  ConeChainView chain;
  double most = 1;
  Index support = 0;
  Index rows = 0;
  const double* weights = nullptr;
  const Index* which = nullptr;
  const double* norms = nullptr;
  double* inner = nullptr;
  double* values = nullptr;
  double* along = nullptr;
};

/// Residuals of all samples with respect to `balls` frames; each matrix has one row per frame.
struct ConeResidualCall {
  const double* directions = nullptr;
  Index support = 0;
  Index features = 0;
  Index balls = 1;
  const double* centre = nullptr;
  const double* unit = nullptr;
  const double* half = nullptr;
  const double* norms = nullptr;
  const LiftedSample* samples = nullptr;  ///< with offsets; null: all 0
  bool euclidean = false;
  double* inner = nullptr;  ///< balls × support
  double* reach = nullptr;
};

struct ConeRowCall {
  const double* directions = nullptr;
  Index support = 0;
  Index features = 0;
  const double* unit = nullptr;
  const double* half = nullptr;
  const double* t = nullptr;
  double last = 0;
  double* rows = nullptr;  ///< support × (features + 1)
};

// Kernels that are enclosed layer by layer.

/// Balls and samples, with the residuals of all pairs.
struct ChainPairs {
  ChainView chain;
  Index balls = 0, support = 0;
  const LiftedRange* ranges = nullptr;
  const LiftedSample* samples = nullptr;
  const double* inner = nullptr;  ///< balls × support
  const double* reach = nullptr;
};

/// Writes the enclosures of other·value of all pairs as two matrices.
struct ChainEntryCall {
  ChainPairs pairs;
  double* low = nullptr;
  double* high = nullptr;
};

struct ChainSumCall {
  Index support = 0;
  const double* low = nullptr;
  const double* high = nullptr;
  const double* weights = nullptr;
  const ConeSumView* requests = nullptr;
  Index sums = 0;
  Interval* to = nullptr;
};

struct ChainChangeCall {
  ChainPairs pairs;
  bool biased = false;
  EntryChange* to = nullptr;
};

struct ChainSlopeCall {
  ChainView chain;
  Index rows = 0, support = 0;
  const double* weights = nullptr;
  const Index* which = nullptr;
  const double* norms = nullptr;
  const double* lengths = nullptr;
  double* inner = nullptr;
  double* values = nullptr;
  double* along = nullptr;
};

/// All calls are synchronous.
class ConeDevice {
 public:
  virtual ~ConeDevice() = default;
  virtual void bound_sums(const ConeBoundCall& call) = 0;
  virtual void entries(const ConeEntryCall& call) = 0;
  virtual void slopes(const ConeSlopeCall& call) = 0;
  virtual void residuals(const ConeResidualCall& call) = 0;
  virtual void residual_rows(const ConeRowCall& call) = 0;
  virtual void chain_entries(const ChainEntryCall& call) = 0;
  virtual void chain_sums(const ChainSumCall& call) = 0;
  virtual void chain_changes(const ChainChangeCall& call) = 0;
  virtual void chain_slopes(const ChainSlopeCall& call) = 0;
};

}  // namespace widelimit::cuda
