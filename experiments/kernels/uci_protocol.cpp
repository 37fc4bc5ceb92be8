#include "experiments/kernels/uci_protocol.hpp"

#include "experiments/kernels/svm_folds.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/data/preparation/preprocess.hpp"
#include "widelimit/kernel/classical/classical.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>

namespace widelimit::experiment::uci {

namespace {

/// Arora et al. use up to five layers, i.e. 0 to 4 hidden layers.
constexpr Index most_hidden = 4;

/// Rules for ties: that of LIBSVM, then ours.
constexpr std::array<Scheme, 2> tie_rules{Scheme::one_vs_one_first, Scheme::one_vs_one};
using AccuracyByRule = std::array<double, tie_rules.size()>;

/// One kernel of a set.
struct Candidate {
  std::string name;
  std::size_t first_family;                   ///< in kernel_families()
  std::vector<std::size_t> further_families;  ///< others that contain it
  std::optional<Index> sweep_index;           ///< its index in the sweep …
  ClassicalKernel classical = {};             ///< … or the classical kernel
  double c_scale = 1;                         ///< our C is the published C times this
};

enum Family : std::size_t { ntk, nngp, linear, rbf, laplace, polynomial };

/// Returns the candidates; in case of ties the first is selected.
std::vector<Candidate> candidates_for(Index features) {
  const auto d = static_cast<double>(features);
  std::vector<Candidate> all;
  for (Index hidden = 0; hidden <= most_hidden; ++hidden) {
    for (Index frozen = 0; frozen <= hidden; ++frozen) {
      // With all layers but the readout frozen, the NTK is the NNGP kernel.
      std::vector<std::size_t> further_families;
      if (frozen == hidden) further_families.push_back(nngp);
      if (hidden == 0) further_families.push_back(linear);
      all.push_back({fmt::format("{} hidden, {} frozen", hidden, frozen),
                     ntk,
                     further_families,
                     hidden * (most_hidden + 1) + frozen,
                     {},
                     d});
    }
  }
  for (const double gamma : {0.01, 0.1, 1.0, 10.0}) {
    for (const auto& [family, name] :
         {std::pair(rbf, ClassicalKernel::Name::rbf), std::pair(laplace, ClassicalKernel::Name::laplace)}) {
      all.push_back({fmt::format("gamma = {:g}/d", gamma), family, {}, {}, {.name = name, .gamma = gamma / d}});
    }
  }
  for (const Index degree : {2, 3, 4}) {
    all.push_back({fmt::format("degree {}", degree),
                   polynomial,
                   {},
                   {},
                   {.name = ClassicalKernel::Name::polynomial, .gamma = 1 / d, .offset = 1, .degree = degree}});
  }
  return all;
}

/// Computes the accuracies on the test rows of a fold for each C, by both rules.
class FoldAccuracies {
 public:
  FoldAccuracies(const Setting& setting, const Dataset& data, Progress* progress)
      : setting_(setting), data_(data), progress_(progress) {}

  std::vector<AccuracyByRule> evaluate(const GramMatrix& k, const SplitRows& fold, const std::vector<double>& lambdas) {
    const FoldMachines machines{.lambdas = lambdas, .rules = tie_rules, .progress = progress_};
    const FoldPredictions predictions = svm_predictions(k, data_.labels, fold, machines, setting_.engine);
    unsolved_ += predictions.unsolved;
    std::vector<AccuracyByRule> result;
    for (const auto& by_rule : predictions.classes) {
      result.push_back({});
      for (std::size_t rule = 0; rule < tie_rules.size(); ++rule) {
        result.back()[rule] = accuracy(by_rule[rule], fold.test, data_.labels);
      }
    }
    return result;
  }
  [[nodiscard]] Index unsolved() const { return unsolved_; }

 private:
  const Setting& setting_;
  const Dataset& data_;
  Progress* progress_;
  std::atomic<Index> unsolved_{0};
};

/// A Gram matrix of a set, owned or part of the sweep.
class SetKernel {
 public:
  SetKernel(AnyMatrix own, const Engine& engine)
      : own_(std::make_shared<const AnyMatrix>(std::move(own))), gram_(view_of(*own_), engine) {}
  SetKernel(const AnyView& of_sweep, const Engine& engine) : gram_(of_sweep, engine) {}
  [[nodiscard]] const GramMatrix& gram() const { return gram_; }

 private:
  std::shared_ptr<const AnyMatrix> own_;
  GramMatrix gram_;
};

/// The Gram matrices of a set: those of networks from one pass, the others on demand.
class SetKernels {
 public:
  SetKernels(const Setting& setting, const Dataset& data, Progress* progress)
      : setting_(setting),
        data_(data),
        sweep_(sweep(Network::parse(fmt::format("fc:{}(w_std=1, b_std=0)", most_hidden)), data.view(),
                     {Kind::ntk, setting.precision, progress}, setting.engine)) {}

  [[nodiscard]] SetKernel kernel_of(const Candidate& one) const {
    if (!one.sweep_index) {
      return {classical_gram(one.classical, data_.view(), std::nullopt, setting_.precision, setting_.engine),
              setting_.engine};
    }
    const Index n = sweep_.count;
    const AnyView k = std::visit(
        [&](const auto& stack) { return AnyView(stack.view().block(*one.sweep_index * n, 0, n, n)); }, sweep_.values);
    return {k, setting_.engine};
  }

 private:
  const Setting& setting_;
  const Dataset& data_;
  Sweep sweep_;
};

std::vector<double> lambdas_of(const Candidate& one) {
  std::vector<double> lambdas;
  for (const double c : published_costs()) lambdas.push_back(1 / (one.c_scale * c));
  return lambdas;
}

/// Reorders the set: first the training samples of the selection, sorted by class, then its test samples. The Gram
/// matrices of the selection are then blocks and need no copy.
UciSet reordered(const UciSet& set) {
  SplitRows rows = set.selection;
  const auto label = [&](Index i) { return set.data.labels[usize(i)]; };
  std::stable_sort(rows.train.begin(), rows.train.end(), [&](Index i, Index j) { return label(i) < label(j); });
  std::vector<Index> order;
  std::vector<Index> place(usize(set.data.count()), -1);
  const auto append = [&](Index i) {
    if (place[usize(i)] >= 0) return;
    place[usize(i)] = std::ssize(order);
    order.push_back(i);
  };
  std::for_each(rows.train.begin(), rows.train.end(), append);
  std::for_each(rows.test.begin(), rows.test.end(), append);
  for (Index i = 0; i < set.data.count(); ++i) append(i);
  const auto moved = [&](SplitRows split) {
    for (std::vector<Index>* part : {&split.train, &split.test}) {
      for (Index& i : *part) i = place[usize(i)];
    }
    return split;
  };
  UciSet result{.name = set.name, .data = take_rows(set.data, order), .selection = moved(rows)};
  for (const SplitRows& test : set.tests) result.tests.push_back(moved(test));
  return result;
}

/// A kernel and a C.
struct Choice {
  std::size_t candidate = 0;
  std::size_t c = 0;
  bool operator==(const Choice&) const = default;
};

bool is_in_family(const Candidate& one, std::size_t family) {
  return one.first_family == family ||
         std::find(one.further_families.begin(), one.further_families.end(), family) != one.further_families.end();
}

/// Returns the first kernel and C of the best validation accuracy.
Choice best_of(const std::vector<Candidate>& candidates, const std::vector<std::vector<AccuracyByRule>>& validation,
               std::size_t family, std::size_t rule) {
  Choice best;
  double most = -1;
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    for (std::size_t c = 0; c < validation[k].size() && is_in_family(candidates[k], family); ++c) {
      if (validation[k][c][rule] <= most) continue;
      most = validation[k][c][rule];
      best = {k, c};
    }
  }
  return best;
}

}  // namespace

const std::vector<KernelFamily>& kernel_families() {
  static const std::vector<KernelFamily> families{
      {"NTK", "0 to 4 hidden ReLU layers, the first 0 to all of them frozen"},
      {"NNGP", "0 to 4 hidden ReLU layers"},
      {"linear", "⟨x,x'⟩"},
      {"RBF", "γ = 0.01, 0.1, 1, 10 divided by the number of features"},
      {"Laplace", "γ = 0.01, 0.1, 1, 10 divided by the number of features, ℓ1 distance"},
      {"polynomial", "(⟨x,x'⟩/d + 1)^q, q = 2, 3, 4"}};
  return families;
}

const std::vector<double>& published_costs() {
  static const std::vector<double> costs{1e-2, 1e-1, 1, 1e1, 1e2, 1e3, 1e4};
  return costs;
}

SetResult evaluate_set(const Setting& setting, const UciSet& given, Progress* progress, std::size_t families) {
  const auto start = Clock::now();
  const UciSet set = reordered(given);
  const Dataset& data = set.data;
  SetResult result{.name = set.name,
                   .samples = data.count(),
                   .features = data.shape.size(),
                   .classes = std::ssize(data.class_names)};
  const SetKernels kernels(setting, data, progress);
  FoldAccuracies accuracies(setting, data, progress);
  std::vector<Candidate> candidates = candidates_for(result.features);
  std::erase_if(candidates, [&](const Candidate& one) { return one.first_family >= families; });
  std::vector<std::vector<AccuracyByRule>> validation(candidates.size());
  const auto on_progress = [&](Index) { stop_if_requested(progress); };
  const auto validate = [&](Index k) {
    const Candidate& one = candidates[usize(k)];
    validation[usize(k)] = accuracies.evaluate(kernels.kernel_of(one).gram(), set.selection, lambdas_of(one));
  };
  setting.engine.for_each(std::ssize(candidates), validate, on_progress);
  for (const std::vector<AccuracyByRule>& of_kernel : validation) {
    for (const AccuracyByRule& accuracy : of_kernel) result.validation.push_back(accuracy[0]);
  }

  struct Test {
    Choice choice;
    std::vector<std::pair<std::size_t, std::size_t>> who;  ///< family and rule
    std::vector<AccuracyByRule> folds;
  };
  std::vector<Test> tests;
  for (std::size_t family = 0; family < families; ++family) {
    for (std::size_t rule = 0; rule < tie_rules.size(); ++rule) {
      const Choice best = best_of(candidates, validation, family, rule);
      auto test = std::find_if(tests.begin(), tests.end(), [&](const Test& known) { return known.choice == best; });
      if (test == tests.end()) test = tests.insert(test, {best, {}, std::vector<AccuracyByRule>(set.tests.size())});
      test->who.emplace_back(family, rule);
    }
  }
  const Index folds = std::ssize(set.tests);
  for (Test& test : tests) {
    const Candidate& one = candidates[test.choice.candidate];
    const std::vector<double> lambda{lambdas_of(one)[test.choice.c]};
    const SetKernel kernel = kernels.kernel_of(one);
    const auto fit = [&](Index fold) {
      test.folds[usize(fold)] = accuracies.evaluate(kernel.gram(), set.tests[usize(fold)], lambda).front();
    };
    setting.engine.for_each(folds, fit, on_progress);
  }
  result.families.resize(families);
  for (const Test& test : tests) {
    for (const auto& [family, rule] : test.who) {
      FamilyResult& one = result.families[family];
      double mean = 0;
      for (const AccuracyByRule& fold : test.folds) mean += fold[rule] / static_cast<double>(folds);
      (rule == 0 ? one.accuracy : one.by_sums) = mean;
      if (rule > 0) continue;
      one.kernel = candidates[test.choice.candidate].name;
      one.c = published_costs()[test.choice.c];
    }
  }
  result.unsolved = accuracies.unsolved();
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace widelimit::experiment::uci
