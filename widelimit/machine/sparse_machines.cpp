#include "widelimit/machine/sparse_machines.hpp"

#include <algorithm>

namespace widelimit {

SparseMachines::SparseMachines(Index samples, std::size_t outputs, std::size_t lambdas)
    : samples_(samples), outputs_(outputs), summaries_(lambdas) {}

void SparseMachines::set(std::size_t output, std::span<const Index> samples, const SvmPath& path) {
  Output& own = outputs_[output];
  std::vector<Stage> of_solution;
  of_solution.reserve(path.solutions.size());
  std::size_t count = 0;
  for (const BoxSolution& solution : path.solutions) {
    count += solution.a.size() - usize(std::count(solution.a.begin(), solution.a.end(), 0.0));
  }
  own.coefficients.reserve(count);
  for (const BoxSolution& solution : path.solutions) {
    const std::size_t begin = own.coefficients.size();
    for (std::size_t i = 0; i < solution.a.size(); ++i) {
      if (solution.a[i] != 0) own.coefficients.push_back({samples[i], solution.a[i]});
    }
    of_solution.push_back({0, begin, own.coefficients.size(), solution.bias});
  }
  own.stages.clear();
  for (std::size_t l = 0; l < path.of_lambda.size(); ++l) {
    if (l > 0 && path.of_lambda[l] == path.of_lambda[l - 1]) continue;
    own.stages.push_back(of_solution[path.of_lambda[l]]);
    own.stages.back().from = l;
  }
}

void SparseMachines::clear(std::size_t lambda) {
  for (Output& output : outputs_) {
    std::vector<Stage> stages;
    for (std::size_t l = 0; l < lambdas(); ++l) {
      Stage stage = output.at(l);
      if (l != lambda && l != lambda + 1 && stage.from != l) continue;
      if (l == lambda) stage = {};
      stage.from = l;
      stages.push_back(stage);
    }
    output.stages = std::move(stages);
  }
}

const SparseMachines::Stage& SparseMachines::Output::at(std::size_t lambda) const {
  const auto after =
      std::find_if(stages.begin(), stages.end(), [&](const Stage& stage) { return stage.from > lambda; });
  return *(after - 1);
}

std::vector<Fit> SparseMachines::fits(const Engine& engine) const {
  std::vector<Fit> fits(lambdas());
  engine.for_each(std::ssize(fits), [&](Index lambda) {
    Fit& fit = fits[usize(lambda)];
    fit.alpha = Matrix<double>(samples_, std::ssize(outputs_));
    fit.summary = summaries_[usize(lambda)];
    for (std::size_t p = 0; p < outputs_.size(); ++p) {
      const Stage& stage = outputs_[p].at(usize(lambda));
      fit.bias.push_back(stage.bias);
      for (const host::Weighted& one : coefficients(p, stage)) fit.alpha(one.sample, static_cast<Index>(p)) = one.by;
    }
  });
  return fits;
}

}  // namespace widelimit
