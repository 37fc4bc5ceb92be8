#include "widelimit/data/labels/flip_labels.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"

namespace widelimit {

namespace {

/// Random streams, disjoint from those of weights and batches, which share the user's seed.
constexpr std::uint64_t flip_stream = (std::uint64_t{1} << 50) + 1;
constexpr std::uint64_t flipped_class_stream = (std::uint64_t{1} << 50) + 2;

}  // namespace

std::vector<Index> flip_labels(std::span<const Index> labels, Index classes, double share, std::uint64_t seed) {
  if (!(share >= 0 && share <= 1)) fail(Code::usage, "{:g} is not a fraction of labels to flip; choose 0 to 1", share);
  if (classes < 2) fail(Code::usage, "labels of {} classes cannot be flipped; two are needed", classes);
  const Random chance(seed, flip_stream);
  const Random other(seed, flipped_class_stream);
  std::vector<Index> flipped(labels.begin(), labels.end());
  for (std::size_t i = 0; i < flipped.size(); ++i) {
    Index& label = flipped[i];
    if (label < 0 || label >= classes) {
      fail(Code::input, "label {} of sample {} is not one of {} classes", label, i, classes);
    }
    if (chance.uniform(i) >= share) continue;
    const auto step = static_cast<Index>(other.below(static_cast<std::uint64_t>(classes - 1), i));
    label = (label + 1 + step) % classes;
  }
  return flipped;
}

}  // namespace widelimit
