#include "widelimit/certificate/functionals.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>

namespace widelimit {

namespace {

Functional positive(Index point, Index output, bool sign) {
  return sign ? Functional{.point = point, .plus = output} : Functional{.point = point, .minus = output};
}

/// Index of the output for classes first < second, positive for `first`.
Index pair_output(Index classes, Index first, Index second) {
  return first * (2 * classes - first - 1) / 2 + second - first - 1;
}

/// A class that wins all its duels has more votes than any other, regardless of the other duels. Otherwise the signs of
/// all duels must be kept, and the class must lead by a whole vote: ties are broken by sums, which the signs of duels
/// do not bound, unless the scheme prefers the first class.
void duels(Scheme scheme, Index classes, const double* g, Index point, Index label, PointFunctionals& result) {
  std::vector<Index> votes(usize(classes), 0);
  for (Index a = 0; a < classes; ++a) {
    for (Index b = a + 1; b < classes; ++b) ++votes[usize(g[pair_output(classes, a, b)] > 0 ? a : b)];
  }
  const bool only_own_outputs = votes[usize(label)] == classes - 1 || !result.correct;
  for (Index a = 0; a < classes; ++a) {
    const bool yields = scheme == Scheme::one_vs_one_first && a > label;
    if (a != label && votes[usize(a)] >= votes[usize(label)] + (yields ? 1 : 0)) result.decided = false;
    for (Index b = a + 1; b < classes; ++b) {
      if (only_own_outputs && a != label && b != label) continue;
      const Index output = pair_output(classes, a, b);
      const bool first = only_own_outputs ? a == label : g[output] > 0;
      result.functionals.push_back(positive(point, output, first));
    }
  }
}

}  // namespace

PointFunctionals functionals_of(Scheme scheme, Index classes, MatrixView<const double> decisions, Index point,
                                Index label) {
  PointFunctionals result;
  const double* g = decisions.row(point);
  if (scheme == Scheme::sign || scheme == Scheme::values) {
    result.functionals.push_back(positive(point, 0, label == 1));
    result.correct = label == 1 ? g[0] > 0 : (scheme == Scheme::sign ? !(g[0] > 0) : g[0] < 0);
  } else {
    result.correct = classes_of(scheme, classes, decisions.block(point, 0, 1, decisions.cols)).front() == label;
    if (is_pairwise(scheme)) {
      duels(scheme, classes, g, point, label, result);
    } else {
      for (Index k = 0; k < classes; ++k) {
        if (k != label) result.functionals.push_back({.point = point, .plus = label, .minus = k});
      }
    }
  }
  for (const Functional& f : result.functionals) {
    result.values.push_back((f.plus >= 0 ? g[f.plus] : 0) - (f.minus >= 0 ? g[f.minus] : 0));
  }
  result.margin = *std::min_element(result.values.begin(), result.values.end());
  return result;
}

void check_labels(Scheme scheme, Index classes, Index outputs, std::span<const Index> labels, Index samples) {
  if (scheme == Scheme::values && outputs != 1) {
    fail(Code::usage,
         "this machine predicts {} numbers per sample; a certificate needs classes, or a single output and its sign",
         outputs);
  }
  if (std::ssize(labels) != samples) {
    fail(Code::input, "there are {} labels for {} samples; a certificate needs the class of each", labels.size(),
         samples);
  }
  const Index known = scheme == Scheme::values ? 2 : classes;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= known) {
      fail(Code::input, "label {} of sample {} is not one of the model's {} classes, 0 to {}", labels[i], i, known,
           known - 1);
    }
  }
}

}  // namespace widelimit
