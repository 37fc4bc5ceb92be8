#pragma once

#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <cstddef>

namespace widelimit {

struct NetworkGramOptions {
  Kind kind = Kind::ntk;  ///< one of the two
  Precision precision = Precision::f32;
  /// Bytes for loaded samples and tiles under way. Where not all samples fit at once, they are loaded in panels anew
  /// for each product.
  std::size_t memory = std::size_t{2} << 30;
  Progress* progress = nullptr;  ///< while diagonal and columns are computed; products take their own

  void validate() const;
};

/// The Gram matrix of a network on samples, computed block by block for each product and never stored: each block above
/// the diagonal serves both halves. Entries are those of `gram` in that precision, sums are float64. Samples,
/// engine and progress must outlive it.  O(n²/2·steps + n² columns) for each product.
[[nodiscard]] GramMatrix network_gram(const Network& network, const SampleView& x, const NetworkGramOptions& options,
                                      const Engine& engine);

}  // namespace widelimit
