#include "experiments/kernels/graph_folds.hpp"

#include "experiments/kernels/svm_folds.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/data/catalogue/catalogue.hpp"
#include "widelimit/data/labels/folds.hpp"

#include <fmt/format.h>

#include <atomic>
#include <utility>

namespace widelimit::experiment {

GraphFolds::GraphFolds(const std::string& name, const Setting& setting) {
  const ReadLimits limits{.memory = setting.memory, .progress = setting.progress};
  const std::string spec = fmt::format("graphs:{}", name);
  data = load_data(spec, {.limits = limits});
  const std::vector<SplitRows> splits = load_graphs(spec, limits).folds;
  const auto all = usize(data.count());
  std::vector<int> tested(all);
  bool apart = splits.size() >= 3;
  for (const SplitRows& split : splits) {
    folds.push_back(split.test);
    apart = apart && split.train.size() + split.test.size() == all;
    for (const Index row : split.test) apart = apart && ++tested[usize(row)] == 1;
  }
  if (!apart) {
    fail(Code::input,
         "the folds of {} in graphs/{}/10fold_idx.tar.gz are invalid: there must be at least three disjoint test sets, "
         "each with all other graphs for training",
         spec, name);
  }
  (void)check_folds(splits, data.count(), data.labels);
}

std::vector<Index> GraphFolds::without(Index f, Index g) const {
  std::vector<bool> out(usize(data.count()));
  for (const Index fold : {f, g}) {
    for (const Index row : folds[usize(fold)]) out[usize(row)] = true;
  }
  std::vector<Index> rows;
  for (Index row = 0; row < data.count(); ++row) {
    if (!out[usize(row)]) rows.push_back(row);
  }
  return rows;
}

FoldAccuracies fold_accuracies(const Setting& setting, const GraphFolds& set, const Matrix<double>& k,
                               std::span<const double> costs, bool nested) {
  const GramMatrix gram(AnyView(k.view()), setting.engine);
  const Index folds = set.count();
  const Index cs = std::ssize(costs);
  std::vector<double> lambdas;
  for (const double c : costs) lambdas.push_back(1 / c);
  FoldAccuracies result{.tests = Matrix<double>(cs, folds), .inner = {}};
  Matrix<double> pairs(cs * folds, folds);     // (c, f), g: accuracy on g of machines trained without f and g
  std::vector<std::pair<Index, Index>> tasks;  // pairs of folds; equal for a single fold
  for (Index f = 0; f < folds; ++f) {
    for (Index g = f; g < (nested ? folds : f + 1); ++g) tasks.emplace_back(f, g);
  }
  const std::vector<Scheme> rule{Scheme::one_vs_one_first};
  std::atomic<Index> unsolved{0};
  SharedProgress shared(setting.progress, std::ssize(tasks), "training sets");
  const FoldMachines machines{lambdas, rule, graph_tolerance, shared.get()};
  const auto evaluate = [&](Index task) {
    const auto [f, g] = tasks[usize(task)];
    const std::vector<Index>& first = set.folds[usize(f)];
    const std::vector<Index>& second = set.folds[usize(g)];
    SplitRows split{set.without(f, g), first};
    if (f != g) split.test.insert(split.test.end(), second.begin(), second.end());
    const FoldPredictions predictions = svm_predictions(gram, set.data.labels, split, machines, setting.engine);
    unsolved += predictions.unsolved;
    for (Index c = 0; c < cs; ++c) {
      const std::span<const Index> predicted(predictions.classes[usize(c)].front());
      const double on_first = accuracy(predicted.first(first.size()), first, set.data.labels);
      if (f == g) {
        result.tests(c, f) = on_first;
      } else {
        pairs(c * folds + g, f) = on_first;
        pairs(c * folds + f, g) = accuracy(predicted.subspan(first.size()), second, set.data.labels);
      }
    }
  };
  setting.engine.for_each(std::ssize(tasks), evaluate, [&](Index done) { shared.at(done); });
  result.unsolved = unsolved;
  if (!nested) return result;
  result.inner = Matrix<double>(cs, folds);
  for (Index c = 0; c < cs; ++c) {
    for (Index f = 0; f < folds; ++f) {
      for (Index g = 0; g < folds; ++g) {
        if (g != f) result.inner(c, f) += pairs(c * folds + f, g) / static_cast<double>(folds - 1);
      }
    }
  }
  return result;
}

}  // namespace widelimit::experiment
