#pragma once

#include "widelimit/data/dataset.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace widelimit {

/// Which samples a split holds out.
enum class SplitOrder : std::uint8_t {
  stratified,  ///< random, with equal fractions of every class
  file,        ///< the last samples
};
[[nodiscard]] std::string_view to_string(SplitOrder order);
/// Throws Error{usage} with the choices if `text` is none of them.
[[nodiscard]] SplitOrder parse_split_order(std::string_view text);

/// Division of samples into a training and a test part.
struct Split {
  double fraction = 0.8;  ///< of the training part
  SplitOrder order = SplitOrder::stratified;
  std::uint64_t seed = 0;

  /// Throws Error{usage} unless 0 < fraction < 1.
  void validate() const;
  bool operator==(const Split&) const = default;
};

struct SplitRows {
  std::vector<Index> train;
  std::vector<Index> test;
};

/// Returns round(fraction·n) training rows; the others are test rows. `file` keeps the order of the samples.
/// `stratified` permutes them by the seed and takes fraction·n_c of the n_c samples of each class, rounded so that the
/// sum is exact and a class of at least two samples has one in each part; samples without classes are drawn as one
/// class. A class with a single sample is in the training part. Throws Error{input} if a part would be empty.
[[nodiscard]] SplitRows split_rows(const Dataset& data, const Split& split);

}  // namespace widelimit
