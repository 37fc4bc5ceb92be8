#pragma once

#include "experiments/experiment.hpp"
#include "widelimit/data/dataset.hpp"

#include <string>
#include <vector>

namespace widelimit::experiment {

/// Training and test images of some classes, which take turns: the same number of each.
struct LaImages {
  Dataset train;
  Dataset test;

  [[nodiscard]] Index classes() const { return std::ssize(train.class_names); }
};

/// Two classes by their names: "deer/dog".
struct LaPair {
  std::string first, second;

  [[nodiscard]] std::string name() const { return first + "/" + second; }
};
/// An option such as "deer/dog,cat/deer". Error{usage} where it is something else.
[[nodiscard]] std::vector<LaPair> asked_pairs(const Setting& setting, const std::string& option = "pairs");

/// CIFAR-10 as LA reads it: (byte/255 − 0.5)/0.5, in the order of the source. Reads all of it once.
class LaSource {
 public:
  /// Error{input} says where CIFAR-10 is looked for.
  explicit LaSource(const Setting& setting);

  /// The first images of each of these classes, of all where none are named: `train` and `test` in all, which are
  /// multiples of the number of classes. Error{usage} where they are not, or where there are fewer.
  [[nodiscard]] LaImages images(const std::vector<std::string>& classes, Index train, Index test) const;
  [[nodiscard]] LaImages images(const LaPair& pair, Index train, Index test) const {
    return images(std::vector{pair.first, pair.second}, train, test);
  }

 private:
  Dataset train_;
  Dataset test_;
};

/// The same as vectors with a constant 1 at their end, for networks without biases.
[[nodiscard]] LaImages with_constant(LaImages images);

}  // namespace widelimit::experiment
