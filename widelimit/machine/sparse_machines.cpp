#include "widelimit/machine/sparse_machines.hpp"

#include <algorithm>

namespace widelimit {

SparseMachines::SparseMachines(Index samples, std::size_t outputs, std::size_t lambdas)
    : samples_(samples), outputs_(outputs), summaries_(lambdas) {}

void SparseMachines::set(std::size_t output, std::span<const Index> samples, std::span<const BoxSolution> solutions) {
  Output& own = outputs_[output];
  own.coefficients.clear();
  own.stages.clear();
  for (std::size_t l = 0; l < solutions.size(); ++l) {
    const BoxSolution& solution = solutions[l];
    if (l > 0 && solution.bias == solutions[l - 1].bias && solution.a == solutions[l - 1].a) continue;
    const std::size_t begin = own.coefficients.size();
    for (std::size_t i = 0; i < solution.a.size(); ++i) {
      if (solution.a[i] != 0) own.coefficients.push_back({samples[i], solution.a[i]});
    }
    own.stages.push_back({l, begin, own.coefficients.size(), solution.bias});
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
