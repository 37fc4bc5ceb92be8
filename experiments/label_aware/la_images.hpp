#pragma once

#include "experiments/experiment.hpp"
#include "widelimit/data/dataset.hpp"

#include <string>
#include <vector>

namespace widelimit::experiment {

/// Training and test images of some classes in cyclic order, equally many of each.
struct LaImages {
  Dataset train;
  Dataset test;

  [[nodiscard]] Index classes() const { return std::ssize(train.class_names); }
};

/// Names of two classes: "deer/dog".
struct LaPair {
  std::string first, second;

  [[nodiscard]] std::string name() const { return first + "/" + second; }
};
/// The pairs of classes of LA, Table 3 and Figure 1.
inline const std::vector<std::string> elasticity_pairs{"frog/ship", "frog/truck", "deer/ship",
                                                       "dog/truck", "bird/truck", "deer/truck"};
/// Parses an option such as "deer/dog,cat/deer". Throws Error{usage} if it is malformed.
[[nodiscard]] std::vector<LaPair> requested_pairs(const Setting& setting, const std::string& option = "pairs");

/// CIFAR-10 with the scaling of LA, (byte/255 − 0.5)/0.5, in the order of the source.
class LaSource {
 public:
  /// Reads the whole data set. Throws Error{input} with the searched locations if CIFAR-10 is missing.
  explicit LaSource(const Setting& setting);

  /// Returns the first images of each of these classes (default: all classes), `train` and `test` in total. Throws
  /// Error{usage} if these are not multiples of the number of classes, or if there are fewer images.
  [[nodiscard]] LaImages images(const std::vector<std::string>& classes, Index train, Index test) const;
  [[nodiscard]] LaImages images(const LaPair& pair, Index train, Index test) const {
    return images(std::vector{pair.first, pair.second}, train, test);
  }

 private:
  Dataset train_;
  Dataset test_;
};

/// Returns the images as vectors with a constant 1 appended, for networks without biases.
[[nodiscard]] LaImages with_constant(LaImages images);

}  // namespace widelimit::experiment
