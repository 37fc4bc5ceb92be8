#include "widelimit/kernel/traverse.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <mutex>

namespace widelimit {

struct Panel::Samples {
  const Recipe& recipe;
  SampleView view;
  Precision precision;
  const Engine& engine;

  std::once_flag load_once = {};
  std::unique_ptr<Loaded> loaded = {};
  std::once_flag diagonal_once = {};
  Matrix<double> diagonal = {};
};

Panel::Panel(const GramTask& task, const SampleView& samples, Range range, const Engine& engine)
    : range_(range),
      samples_(new Samples{.recipe = *task.recipe,
                           .view = samples.part(range.begin, range.size()),
                           .precision = task.precision,
                           .engine = engine}) {}

const Loaded& Panel::loaded(const std::function<void(Index)>& after) const {
  Samples& of = *samples_;
  std::call_once(of.load_once, [&] {
    of.loaded = of.engine.kernels().load(of.recipe, of.view, of.precision, [&](Index done) {
      if (after) after(done);
    });
  });
  return *of.loaded;
}

MatrixView<const double> Panel::diagonal(const std::function<void(Index)>& after) const {
  Samples& of = *samples_;
  const Loaded& samples = loaded(after);
  std::call_once(of.diagonal_once, [&] {
    of.diagonal = Matrix<double>(of.recipe.outputs, of.view.count());
    of.engine.kernels().diagonal(of.recipe, samples, of.diagonal.view(), [&](Index done) {
      if (after) after(done);
    });
  });
  return of.diagonal.view();
}

namespace {

/// Checks that a graph network ends as its samples require: graphs need a sum over nodes, node samples must not have
/// one.
void check_ending(const Recipe& recipe, const SampleView& x) {
  const GraphView* graphs = x.graphs();
  if (graphs == nullptr || recipe.at_nodes() == graphs->apart) return;
  if (graphs->apart) {
    fail(Code::input, "the network pools over nodes, but a kernel of nodes was requested; remove the global pooling");
  }
  fail(Code::input,
       "the network ends with values at each node; add global_sum_pool or global_avg_pool before its last dense layer, "
       "or request the kernel of nodes");
}

}  // namespace

void require_recipe(const Recipe& recipe, Precision precision, const Engine& engine) {
  const std::string obstacle = engine.kernels().obstacle(recipe, precision);
  if (!obstacle.empty()) fail(Code::usage, "{} cannot compute this kernel: {}", engine.name(), obstacle);
}

Traversal::Traversal(const GramTask& task, const PanelPlan& plan, const Engine& engine)
    : task_(task), plan_(plan), engine_(engine) {
  check_ending(*task.recipe, task.x1);
  check_ending(*task.recipe, task.columns());
  require_recipe(*task.recipe, task.precision, engine);
  if (task.symmetric() && plan.rows >= task.x1.count()) whole_ = panel(task.x1, 0, task.x1.count());
}

Panel Traversal::panel(const SampleView& samples, Index begin, Index size) const {
  return {task_, samples, {begin, std::min(samples.count(), begin + size)}, engine_};
}

void Traversal::each_panel(const std::function<void(const Panel&)>& visit) const {
  if (whole_) return visit(*whole_);
  for (Index row = 0; row < task_.x1.count(); row += plan_.rows) visit(panel(task_.x1, row, plan_.rows));
}

void Traversal::each_pair(const Visit& visit) const {
  const auto checked = [&](const Panel& rows, const Panel& cols) {
    try {
      visit(rows, cols);
    } catch (const Error& error) {
      const Index row = rows.range().begin;
      const Index col = cols.range().begin;
      if (error.code() != Code::numerical || (row == 0 && col == 0)) throw;
      fail(Code::numerical, "{} (rows counted from sample {}, columns from sample {})", error.what(), row, col);
    }
  };
  each_panel([&](const Panel& rows) {
    if (task_.symmetric()) checked(rows, rows);
    const Index n2 = task_.columns().count();
    for (Index col = task_.symmetric() ? rows.range().end : 0; col < n2; col += plan_.cols) {
      checked(rows, panel(task_.columns(), col, plan_.cols));
    }
  });
}

PanelPlan one_panel(const GramTask& task) {
  return {.rows = std::max<Index>(1, task.x1.count()), .cols = std::max<Index>(1, task.columns().count()), .bytes = 0};
}

}  // namespace widelimit
