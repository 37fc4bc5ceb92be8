#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/engine/enclosure/chain_change.hpp"

/// Arguments of ConeDevice calls for kernels enclosed layer by layer.
namespace widelimit::cuda {

/// Partial sums per sum over the support: term i is added to partial sum i mod cone_parts; a binary tree reduces them.
constexpr int cone_parts = 256;
constexpr int cone_tree_depth = 8;

/// One requested sum: ball and row of weights.
struct ConeSumView {
  Index ball = 0;
  Index weights = 0;
};

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
