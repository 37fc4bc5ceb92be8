#include "widelimit/machine/multiclass.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/machine/binary_problems.hpp"
#include "widelimit/machine/gram/chosen.hpp"
#include "widelimit/machine/gram/indefinite.hpp"
#include "widelimit/machine/gram/semidefinite.hpp"
#include "widelimit/machine/svm/svm_path.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace widelimit {

namespace {

/// Largest number of samples for which a second Gram matrix, sorted by class, is worth its memory.
constexpr Index most_sorted = 16'384;

/// Replaces sample indices by their positions after sorting by class, and returns the permutation.
std::vector<Index> sort_by_class(std::vector<std::vector<Index>>& members) {
  std::vector<Index> order;
  for (std::vector<Index>& samples : members) {
    const Index begin = std::ssize(order);
    order.insert(order.end(), samples.begin(), samples.end());
    std::iota(samples.begin(), samples.end(), begin);
  }
  return order;
}

/// Solves all problems, one output each; order[i] is the sample of row i of the Gram matrix. If the matrix is not in
/// host memory, e.g. on a device, several problems share one host copy if it fits into memory.
SparseMachines solve_all(const GramMatrix& gram, std::span<const Index> order,
                         const std::vector<BinaryProblem>& problems, std::span<const double> lambdas,
                         const SvmOptions& options, SvmLoss loss) {
  const auto begin = Clock::now();
  const GramMatrix k = problems.size() > 1 ? gram.in_host_memory().value_or(gram) : gram;
  const Index outputs = std::ssize(problems);
  SparseMachines machines(std::ssize(order), problems.size(), lambdas.size());
  std::vector<std::vector<Summary>> parts(lambdas.size(), std::vector<Summary>(problems.size()));
  SharedProgress shared(options.progress, outputs, "binary problems");
  const auto solve = [&](Index p) {
    const BinaryProblem& problem = problems[usize(p)];
    const SvmPath path = solve_svm_path(k, problem, lambdas, loss, options, shared.get());
    std::vector<Index> samples;
    samples.reserve(problem.samples.size());
    for (const Index row : problem.samples) samples.push_back(order[usize(row)]);
    machines.set(usize(p), problem.samples.empty() ? order : samples, path);
    std::vector<Summary> summaries = svm_summaries(path, lambdas, loss);
    for (std::size_t l = 0; l < lambdas.size(); ++l) parts[l][usize(p)] = std::move(summaries[l]);
  };
  gram.engine().for_each(outputs, solve, [&](Index done) { shared.at(done); });
  const double taken = seconds_since(begin);
  std::string suggestion;
  for (std::size_t l = 0; l < lambdas.size(); ++l) {
    Summary& summary = machines.summary(l);
    summary = combined(parts[l]);
    summary.seconds = taken / static_cast<double>(lambdas.size());
    if (summary.ending != Ending::not_positive_definite) continue;
    if (suggestion.empty()) suggestion = diagonal_shift_advice(k, options.progress);
    summary.message = suggestion;
    machines.clear(l);
  }
  return machines;
}

void check_input(const GramMatrix& k, std::span<const Index> labels, std::span<const double> lambdas,
                 const SvmOptions& options, SvmLoss loss) {
  options.validate();
  check_lambdas(lambdas);
  check_box_input(k, std::ssize(labels));
  check_weights(options.weights, std::ssize(labels));
  if (loss != SvmLoss::hard) check_bounds(lambdas, options.weights);
}

/// Returns failed machines if K is not positive semi-definite. Principal submatrices of a semi-definite matrix are
/// semi-definite, so one test covers all problems and all λ.
std::optional<SparseMachines> refused(const GramMatrix& k, Index outputs, std::size_t lambdas,
                                      const SvmOptions& options) {
  const auto begin = Clock::now();
  if (!options.check_definite || is_semidefinite(k, options.progress)) return std::nullopt;
  SparseMachines machines(k.samples(), usize(outputs), lambdas);
  const auto fits = indefinite_fits(k, 0, 0, lambdas, seconds_since(begin), options.progress);
  for (std::size_t l = 0; l < lambdas; ++l) machines.summary(l) = fits[l].summary;
  return machines;
}

/// Counts one vote per pair (0, 1), (0, 2), … (1, 2), …: for the first class if the decision is positive.
void count_votes(const double* g, std::span<Index> votes) {
  std::fill(votes.begin(), votes.end(), Index{0});
  const std::size_t classes = votes.size();
  for (std::size_t c = 0; c < classes; ++c) {
    Index won = 0;
    for (std::size_t d = c + 1; d < classes; ++d, ++g) {
      const Index first = *g > 0 ? 1 : 0;
      won += first;
      votes[d] += 1 - first;
    }
    votes[c] += won;
  }
}

/// Sum of the decisions in favour of class `of`: added if it is the first of the pair, subtracted if it is the second.
double sum_of_decisions(const double* g, Index of, Index classes) {
  double sum = 0;
  for (Index c = 0; c < classes; ++c) {
    for (Index d = c + 1; d < classes; ++d, ++g) {
      if (c == of) sum += *g;
      if (d == of) sum -= *g;
    }
  }
  return sum;
}

}  // namespace

SparseMachines one_vs_one_machines(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                   std::span<const double> lambdas, const SvmOptions& options, SvmLoss loss) {
  check_input(k, labels, lambdas, options, loss);
  auto members = members_of(labels, classes);
  if (auto none = refused(k, output_count(Scheme::one_vs_one, classes), lambdas.size(), options)) {
    return std::move(*none);
  }
  std::vector<Index> order(labels.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::vector<double> weights(options.weights.begin(), options.weights.end());
  if (classes == 2 || std::ssize(labels) > most_sorted) {
    return solve_all(k, order, pair_problems(members, weights), lambdas, options, loss);
  }
  // If samples are sorted by class, the columns of a pair are two contiguous pieces of a row; otherwise a pair of ten
  // classes reads five times as much as needed.
  order = sort_by_class(members);
  if (!weights.empty()) weights = chosen(options.weights, order);
  return solve_all(k.part(order), order, pair_problems(members, weights), lambdas, options, loss);
}

std::vector<Fit> one_vs_one_path(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                 std::span<const double> lambdas, const SvmOptions& options, SvmLoss loss) {
  return one_vs_one_machines(k, labels, classes, lambdas, options, loss).fits(k.engine());
}

std::vector<Fit> one_vs_rest_path(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                  std::span<const double> lambdas, const SvmOptions& options, SvmLoss loss) {
  check_input(k, labels, lambdas, options, loss);
  (void)members_of(labels, classes);
  if (const auto none = refused(k, classes, lambdas.size(), options)) return none->fits(k.engine());
  std::vector<Index> order(labels.size());
  std::iota(order.begin(), order.end(), Index{0});
  return solve_all(k, order, rest_problems(labels, classes, options.weights), lambdas, options, loss).fits(k.engine());
}

Fit fit_one_vs_one(const GramMatrix& k, std::span<const Index> labels, Index classes, const SvmOptions& options,
                   SvmLoss loss) {
  return std::move(one_vs_one_path(k, labels, classes, {&options.lambda, 1}, options, loss).front());
}

Fit fit_one_vs_rest(const GramMatrix& k, std::span<const Index> labels, Index classes, const SvmOptions& options,
                    SvmLoss loss) {
  return std::move(one_vs_rest_path(k, labels, classes, {&options.lambda, 1}, options, loss).front());
}

std::vector<Index> vote(const MatrixView<const double>& decisions, Index classes, Scheme scheme) {
  if (decisions.cols != classes * (classes - 1) / 2) {
    fail(Code::input, "{} classes have {} pairs, not {}", classes, classes * (classes - 1) / 2, decisions.cols);
  }
  const bool by_sums = scheme != Scheme::one_vs_one_first;
  std::vector<Index> chosen;
  std::vector<Index> votes(usize(classes));
  for (Index i = 0; i < decisions.rows; ++i) {
    count_votes(decisions.row(i), votes);
    const auto first = std::max_element(votes.begin(), votes.end());
    Index best = first - votes.begin();
    if (by_sums && std::find(first + 1, votes.end(), *first) != votes.end()) {
      double most = sum_of_decisions(decisions.row(i), best, classes);
      for (Index c = best + 1; c < classes; ++c) {
        if (votes[usize(c)] != *first) continue;
        const double sum = sum_of_decisions(decisions.row(i), c, classes);
        if (sum > most) {
          best = c;
          most = sum;
        }
      }
    }
    chosen.push_back(best);
  }
  return chosen;
}

std::vector<Index> largest_output(const MatrixView<const double>& decisions) {
  if (decisions.cols == 0) fail(Code::input, "decisions have no columns");
  std::vector<Index> chosen;
  for (Index i = 0; i < decisions.rows; ++i) {
    const double* g = decisions.row(i);
    chosen.push_back(std::max_element(g, g + decisions.cols) - g);
  }
  return chosen;
}

}  // namespace widelimit
