#pragma once

#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <cstddef>

namespace widelimit {

struct NetworkGramOptions {
  Kind kind = Kind::ntk;  ///< ntk or nngp, not both
  Precision precision = Precision::f32;
  /// Bytes for loaded samples and tiles in flight. If not all samples fit at once, they are reloaded in panels for each
  /// product.
  std::size_t memory = std::size_t{2} << 30;
  Progress* progress = nullptr;  ///< for the computation of diagonal and columns; products take their own

  void validate() const;
};

/// Gram matrix of a network on samples, recomputed block by block for each product and never stored; each block above
/// the diagonal contributes to both triangles. Entries equal those of `gram` in that precision, sums are float64.
/// Samples, engine and progress must outlive it.  O(n²/2·steps + n² columns) per product.
[[nodiscard]] GramMatrix network_gram(const Network& network, const SampleView& x, const NetworkGramOptions& options,
                                      const Engine& engine);

}  // namespace widelimit
