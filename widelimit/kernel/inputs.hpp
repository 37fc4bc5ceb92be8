#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/kernel/gram.hpp"

namespace widelimit {

/// Shapes agree and every value is a finite number: what a kernel can be asked of. Error{input} names the sample.
void check_samples(const SampleView& x);
void check_same_shape(const SampleView& x1, const SampleView& x2);

/// Two sets of samples that are to be compared: both dense, or both sparse, a copy of one where they differ.
class SameKind {
 public:
  SameKind(const SampleView& x1, const SampleView& x2);
  SameKind(const SameKind&) = delete;
  SameKind& operator=(const SameKind&) = delete;

  [[nodiscard]] const SampleView& x1() const { return x1_; }
  [[nodiscard]] const SampleView& x2() const { return x2_; }

 private:
  SampleView x1_;
  SampleView x2_;
  SparseMatrix copy_;
};

/// What a recipe must write for a kind.
[[nodiscard]] RecipeOutputs recipe_outputs(Kind kind);

}  // namespace widelimit
