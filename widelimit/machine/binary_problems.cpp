#include "widelimit/machine/binary_problems.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>

namespace widelimit {

namespace {

BinaryProblem pair_problem(const std::vector<Index>& first, const std::vector<Index>& second,
                           std::span<const double> weights) {
  BinaryProblem problem;
  problem.samples.resize(first.size() + second.size());
  std::merge(first.begin(), first.end(), second.begin(), second.end(), problem.samples.begin());
  problem.labels.reserve(problem.samples.size());
  if (!weights.empty()) problem.weights.reserve(problem.samples.size());
  for (const Index i : problem.samples) {
    problem.labels.push_back(std::binary_search(first.begin(), first.end(), i) ? 1 : -1);
    if (!weights.empty()) problem.weights.push_back(weights[usize(i)]);
  }
  return problem;
}

}  // namespace

std::vector<std::vector<Index>> members_of(std::span<const Index> labels, Index classes) {
  if (classes < 2) fail(Code::input, "a classifier needs two classes or more, not {}", classes);
  std::vector<std::vector<Index>> members(usize(classes));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes) {
      fail(Code::input, "label {} is {}; with {} classes labels are 0 to {}", i, labels[i], classes, classes - 1);
    }
    members[usize(labels[i])].push_back(static_cast<Index>(i));
  }
  for (Index c = 0; c < classes; ++c) {
    if (members[usize(c)].empty()) fail(Code::input, "one of {} classes has no samples; leave it out", classes);
  }
  return members;
}

std::vector<BinaryProblem> pair_problems(const std::vector<std::vector<Index>>& members,
                                         std::span<const double> weights) {
  std::vector<BinaryProblem> problems;
  for (std::size_t c = 0; c < members.size(); ++c) {
    for (std::size_t d = c + 1; d < members.size(); ++d) {
      problems.push_back(pair_problem(members[c], members[d], weights));
    }
  }
  if (members.size() == 2) problems[0].samples.clear();
  return problems;
}

std::vector<BinaryProblem> rest_problems(std::span<const Index> labels, Index classes,
                                         std::span<const double> weights) {
  std::vector<BinaryProblem> problems(usize(classes));
  for (Index c = 0; c < classes; ++c) {
    problems[usize(c)].weights.assign(weights.begin(), weights.end());
    for (const Index label : labels) problems[usize(c)].labels.push_back(label == c ? 1 : -1);
  }
  return problems;
}

std::vector<BinaryProblem> binary_problems(std::span<const Index> labels, Index classes, Scheme scheme,
                                           std::span<const double> weights) {
  auto members = members_of(labels, classes);
  if (scheme == Scheme::one_vs_rest) return rest_problems(labels, classes, weights);
  if (is_pairwise(scheme)) return pair_problems(members, weights);
  if (scheme != Scheme::sign || classes != 2) {
    fail(Code::usage, "{} of {} classes has no binary problems", to_string(scheme), classes);
  }
  auto problems = rest_problems(labels, classes, weights);
  problems.erase(problems.begin());  // the second class is positive
  return problems;
}

}  // namespace widelimit
