#include "widelimit/data/labels/label_noise.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"

#include <cmath>

namespace widelimit {

namespace {

/// Random streams, disjoint from those of weights and batches, which share the user's seed.
constexpr std::uint64_t flip_stream = (std::uint64_t{1} << 50) + 1;
constexpr std::uint64_t flipped_class_stream = (std::uint64_t{1} << 50) + 2;
constexpr std::uint64_t noisy_class_stream = (std::uint64_t{1} << 50) + 3;
/// Tolerance for rounding in row sums.
constexpr double row_tolerance = 1e-9;

Matrix<double> kept_labels(Index classes, double share) {
  if (!(share >= 0 && share <= 1)) fail(Code::usage, "{:g} is not a fraction of wrong labels; choose 0 to 1", share);
  if (classes < 2) fail(Code::usage, "labels of {} classes cannot be wrong; two are needed", classes);
  Matrix<double> transition(classes, classes);
  for (Index c = 0; c < classes; ++c) transition(c, c) = 1 - share;
  return transition;
}

void require_transition(MatrixView<const double> transition) {
  if (transition.rows != transition.cols || transition.rows < 2) {
    fail(Code::usage, "the transition matrix is {} x {}; give a square matrix for two or more classes", transition.rows,
         transition.cols);
  }
  for (Index c = 0; c < transition.rows; ++c) {
    double sum = 0;
    for (Index d = 0; d < transition.cols; ++d) {
      if (!(transition(c, d) >= 0)) {
        fail(Code::usage, "entry ({}, {}) of the transition matrix is {:g}; it must be a probability", c, d,
             transition(c, d));
      }
      sum += transition(c, d);
    }
    if (!(std::fabs(sum - 1) <= row_tolerance)) {
      fail(Code::usage, "row {} of the transition matrix sums to {:g}; it must sum to 1", c, sum);
    }
  }
}

void require_class(Index label, Index classes, std::size_t sample) {
  if (label >= 0 && label < classes) return;
  fail(Code::input, "label {} of sample {} is not one of {} classes", label, sample, classes);
}

}  // namespace

std::vector<Index> flip_labels(std::span<const Index> labels, Index classes, double share, std::uint64_t seed) {
  if (!(share >= 0 && share <= 1)) fail(Code::usage, "{:g} is not a fraction of labels to flip; choose 0 to 1", share);
  if (classes < 2) fail(Code::usage, "labels of {} classes cannot be flipped; two are needed", classes);
  const Random chance(seed, flip_stream);
  const Random other(seed, flipped_class_stream);
  std::vector<Index> flipped(labels.begin(), labels.end());
  for (std::size_t i = 0; i < flipped.size(); ++i) {
    Index& label = flipped[i];
    require_class(label, classes, i);
    if (chance.uniform(i) >= share) continue;
    const auto step = static_cast<Index>(other.below(static_cast<std::uint64_t>(classes - 1), i));
    label = (label + 1 + step) % classes;
  }
  return flipped;
}

Matrix<double> symmetric_noise(Index classes, double share) {
  Matrix<double> transition = kept_labels(classes, share);
  for (Index c = 0; c < classes; ++c) {
    for (Index d = 0; d < classes; ++d) {
      if (d != c) transition(c, d) = share / static_cast<double>(classes - 1);
    }
  }
  return transition;
}

Matrix<double> pair_noise(Index classes, double share) {
  Matrix<double> transition = kept_labels(classes, share);
  for (Index c = 0; c < classes; ++c) transition(c, (c + 1) % classes) += share;
  return transition;
}

std::vector<Index> noisy_labels(std::span<const Index> labels, MatrixView<const double> transition,
                                std::uint64_t seed) {
  require_transition(transition);
  const Random random(seed, noisy_class_stream);
  std::vector<Index> noisy(labels.begin(), labels.end());
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    require_class(labels[i], transition.rows, i);
    const double* row = transition.row(labels[i]);
    double left = random.uniform(i);
    Index drawn = labels[i];  // fallback if rounding leaves a remainder
    for (Index d = 0; d < transition.cols; ++d) {
      left -= row[d];
      if (left >= 0) continue;
      drawn = d;
      break;
    }
    noisy[i] = drawn;
  }
  return noisy;
}

Matrix<double> observed_transition(std::span<const Index> labels, std::span<const Index> noisy, Index classes) {
  if (labels.size() != noisy.size()) {
    fail(Code::usage, "{} labels and {} noisy labels; the numbers must be equal", labels.size(), noisy.size());
  }
  Matrix<double> shares(classes, classes);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    require_class(labels[i], classes, i);
    require_class(noisy[i], classes, i);
    shares(labels[i], noisy[i]) += 1;
  }
  for (Index c = 0; c < classes; ++c) {
    double all = 0;
    for (Index d = 0; d < classes; ++d) all += shares(c, d);
    for (Index d = 0; all > 0 && d < classes; ++d) shares(c, d) /= all;
  }
  return shares;
}

}  // namespace widelimit
