#pragma once

#include "widelimit/data/dataset.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace widelimit {

/// Which samples a split holds out.
enum class SplitOrder : std::uint8_t {
  stratified,  ///< drawn at random, the same share of every class
  file,        ///< the last ones
};
[[nodiscard]] std::string_view to_string(SplitOrder order);
/// Error{usage} lists the choices.
[[nodiscard]] SplitOrder parse_split_order(std::string_view text);

/// How samples are divided into a training and a test part.
struct Split {
  double fraction = 0.8;  ///< of the samples to train on
  SplitOrder order = SplitOrder::stratified;
  std::uint64_t seed = 0;

  /// Error{usage} unless 0 < fraction < 1.
  void validate() const;
  bool operator==(const Split&) const = default;
};

struct SplitRows {
  std::vector<Index> train;
  std::vector<Index> test;
};

/// round(fraction·n) samples to train on, the others to test. `file` keeps the order of the samples; `stratified` puts
/// them in an order drawn by the seed, and takes fraction·n_c of the n_c samples of each class, rounded so that the sum
/// is right and so that a class of at least two samples has one on either side; samples without classes are drawn
/// together. A class of a single sample is trained on. Error{input} where one part would be empty.
[[nodiscard]] SplitRows split_rows(const Dataset& data, const Split& split);

}  // namespace widelimit
