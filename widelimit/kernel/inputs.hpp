#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/kernel/gram.hpp"

namespace widelimit {

/// Throws Error{input} naming the sample if shapes disagree or a value is not finite; `one` names a sample, e.g. "test
/// sample".
void check_samples(const SampleView& x, std::string_view one = "sample");
void check_same_shape(const SampleView& x1, const SampleView& x2);

/// Two sets of samples in one storage format: if one is dense and the other sparse, the dense one is copied to sparse.
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

/// Outputs of a recipe that a kind requires.
[[nodiscard]] RecipeOutputs recipe_outputs(Kind kind);

}  // namespace widelimit
