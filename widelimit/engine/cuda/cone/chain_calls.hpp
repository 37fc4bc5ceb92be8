#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/engine/enclosure/chain_change.hpp"

/// Calls of ConeDevice for kernels that are enclosed layer by layer.
namespace widelimit::cuda {

/// Partial sums of a sum over the support: term i belongs to number i modulo this, and they are added as a binary tree.
constexpr int cone_parts = 256;
constexpr int cone_tree_depth = 8;

/// A sum that is asked for.
struct ConeSumView {
  Index ball = 0;
  Index weights = 0;
};

/// Balls and samples, and what residuals were computed of them.
struct ChainPairs {
  ChainView chain;
  Index balls = 0, support = 0;
  const LiftedRange* ranges = nullptr;
  const LiftedSample* samples = nullptr;
  const double* inner = nullptr;  ///< balls × support
  const double* reach = nullptr;
};

/// other·value of every pair, as two matrices.
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
  const ConeSumView* asked = nullptr;
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

}  // namespace widelimit::cuda
