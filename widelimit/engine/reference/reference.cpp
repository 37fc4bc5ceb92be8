#include "widelimit/engine/reference/reference.hpp"

#include "widelimit/engine/overflow.hpp"
#include "widelimit/engine/reference/activation.hpp"
#include "widelimit/engine/reference/graph_pair.hpp"
#include "widelimit/engine/reference/pair.hpp"
#include "widelimit/engine/reference/reference_algebra.hpp"
#include "widelimit/engine/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

using reference::Real;
using reference::State;
using reference::Trace;

struct ReferenceLoaded final : Loaded {
  std::vector<std::vector<Real>> samples;
  std::vector<reference::Traces> traces;
  Graphs graphs;  ///< if samples are graphs or their nodes, with their own traces
  std::vector<reference::GraphTraces> graph_traces;
  std::vector<Index> first_sample;  ///< of each graph: index of the graph, or of its node 0 if samples are nodes
  Matrix<double> diagonal;

  [[nodiscard]] Index count() const override { return diagonal.cols(); }
  double error = 0.0;
  [[nodiscard]] double quadrature_error() const override { return error; }
};

/// Calls put(slot, value) for each output that an emit step writes.
template <typename Put>
void each_output(const Step& step, const State& state, const Put& put) {
  if (step.nngp_slot >= 0) put(step.nngp_slot, state.sigma[0]);
  for (Index m = 0; m < step.ntk_count; ++m) put(step.ntk_slot + m, state.theta[static_cast<std::size_t>(m)][0]);
}

/// Largest error of each dual over the positions of one sample, whose variances before step k are variance(k). Empty if
/// all duals have closed forms.
template <typename VarianceAt>
DualErrors dual_errors(const Recipe& recipe, const VarianceAt& variance) {
  DualErrors errors;
  for (std::size_t k = 0; k < recipe.steps.size() && !recipe.functions.empty(); ++k) {
    if (recipe.steps[k].op != Op::dual) continue;
    DualError worst;
    for (const Real q : variance(k)) worst.add(reference::dual_error(recipe, recipe.steps[k].dual, q));
    errors.push_back(worst);
  }
  return errors;
}

/// All values of sample i.
template <typename T>
std::vector<Real> numbers_of(const MatrixView<const T>& rows, Index i) {
  return {rows.row(i), rows.row(i) + rows.cols};
}
std::vector<Real> numbers_of(const SparseView& rows, Index i) {
  std::vector<Real> numbers(usize(rows.cols));
  expand(rows.row(i), rows.cols, numbers.data());
  return numbers;
}
std::vector<Real> numbers_of(const GraphView& /*graphs*/, Index /*i*/) { return {}; }  // values belong to nodes

class ReferenceKernels final : public Kernels {
 public:
  [[nodiscard]] std::string obstacle(const Recipe&, Precision) const override { return {}; }
  [[nodiscard]] std::string route(const Recipe&, Precision) const override {
    return "formulas evaluated pair by pair, long double";
  }

  [[nodiscard]] std::unique_ptr<Loaded> load(const Recipe& recipe, const SampleView& x, Precision,
                                             const std::function<void(Index)>& after) const override {
    auto loaded = std::make_unique<ReferenceLoaded>();
    loaded->diagonal = Matrix<double>(recipe.outputs, x.count());
    if (const GraphView* graphs = x.graphs()) {
      load_graphs(recipe, *graphs, after, *loaded);
      return loaded;
    }
    for (Index i = 0; i < x.count(); ++i) {
      loaded->samples.push_back(std::visit([i](const auto& rows) { return numbers_of(rows, i); }, x.values));
      loaded->traces.push_back(
          reference::run_self(recipe, loaded->samples.back().data(), [&](const Step& step, const State& state) {
            each_output(step, state, [&](Index slot, Real value) {
              loaded->diagonal(slot, i) = checked<double>(value, slot, i, i);
            });
          }));
      const auto variance = [&](std::size_t k) -> const std::vector<Real>& {
        return loaded->traces.back()[k].variance;
      };
      loaded->error = std::max(loaded->error, quadrature_error(recipe, dual_errors(recipe, variance)));
      after(i + 1);
    }
    return loaded;
  }

  [[nodiscard]] std::size_t loaded_bytes(const Recipe& recipe, Precision, const SampleView& /*x*/) const override {
    Index numbers = recipe.input.size() + recipe.outputs;
    Index lists = 1;
    for (const Step& step : recipe.steps) {
      const Index positions = step.before.positions();
      const bool two = step.op == Op::dual || step.op == Op::join;
      numbers += (two ? 2 : 1) * positions + (step.op == Op::attend ? positions * positions : 0);
      lists += 2;
    }
    return static_cast<std::size_t>(numbers) * sizeof(Real) + static_cast<std::size_t>(lists) * 2 * sizeof(Trace);
  }

  void fill(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols, bool symmetric,
            std::span<const EngineMatrix> outputs, const std::function<void(Index)>& after) const override {
    if (outputs.front().precision() == Precision::f32) {
      fill_host<float>(recipe, x1, rows, x2, cols, symmetric, outputs, after);
    } else {
      fill_host<double>(recipe, x1, rows, x2, cols, symmetric, outputs, after);
    }
  }
  void tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
            std::span<const MatrixView<float>> outputs) const override {
    fill_tile(recipe, x1, rows, x2, cols, outputs);
  }
  void tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
            std::span<const MatrixView<double>> outputs) const override {
    fill_tile(recipe, x1, rows, x2, cols, outputs);
  }

  void diagonal(const Recipe& recipe, const Loaded& x, MatrixView<double> outputs,
                const std::function<void(Index)>& /*after*/) const override {
    const auto& loaded = dynamic_cast<const ReferenceLoaded&>(x);
    for (Index slot = 0; slot < recipe.outputs; ++slot) {
      for (Index i = 0; i < x.count(); ++i) outputs(slot, i) = loaded.diagonal(slot, i);
    }
  }

  [[nodiscard]] Index tile_edge(const Recipe&) const override { return 16; }

 private:
  /// Computes in long double and rounds to T, the precision of the Gram matrix.
  template <typename T>
  void fill_host(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols, bool symmetric,
                 std::span<const EngineMatrix> outputs, const std::function<void(Index)>& after) const {
    std::vector<Matrix<T>> host;
    std::vector<MatrixView<T>> views;
    for (std::size_t s = 0; s < outputs.size(); ++s) host.emplace_back(rows.size(), cols.size(), Content::unset);
    for (Matrix<T>& matrix : host) views.push_back(matrix.view());
    fill_by_tiles<T>(*this, 1, recipe, x1, rows, x2, cols, symmetric, views, after);
    const reference::ReferenceAlgebra algebra;
    for (std::size_t s = 0; s < outputs.size(); ++s) {
      EngineMatrix to = outputs[s];
      algebra.copy(algebra.hold(MatrixView<const T>(views[s])), to);
    }
  }

  static void load_graphs(const Recipe& recipe, const GraphView& graphs, const std::function<void(Index)>& after,
                          ReferenceLoaded& loaded) {
    const GraphView whole = graphs.whole();
    loaded.graphs = copy_graphs(whole);
    const GraphView own = loaded.graphs.view();
    for (Index g = 0; g < whole.rows; ++g) {
      const Index first = graphs.apart ? whole.first_node(g) - graphs.begin : g;
      loaded.first_sample.push_back(first);
      loaded.graph_traces.push_back(
          reference::run_graph_self(recipe, own, g, [&](Index slot, Index u, Index v, Real value) {
            const Index i = first + u;
            if (u == v && i >= 0 && i < graphs.rows) loaded.diagonal(slot, i) = checked<double>(value, slot, i, i);
          }));
      const auto variance = [&](std::size_t k) -> const std::vector<Real>& { return loaded.graph_traces.back()[k]; };
      loaded.error = std::max(loaded.error, quadrature_error(recipe, dual_errors(recipe, variance)));
      after(graphs.apart ? std::clamp<Index>(first + own.nodes(g), 0, graphs.rows) : g + 1);
    }
  }

  template <typename T>
  static void fill_graphs(const Recipe& recipe, const ReferenceLoaded& a, Range rows, const ReferenceLoaded& b,
                          Range cols, std::span<const MatrixView<T>> outputs) {
    for (std::size_t g = 0; g < a.graph_traces.size(); ++g) {
      for (std::size_t h = 0; h < b.graph_traces.size(); ++h) {
        const Index row = a.first_sample[g];
        const Index col = b.first_sample[h];
        const auto overlaps = [&](const Graphs& graphs, std::size_t k, Index first, Range range) {
          const Index size = recipe.at_nodes() ? graphs.view().nodes(static_cast<Index>(k)) : 1;
          return first < range.end && first + size > range.begin;
        };
        if (!overlaps(a.graphs, g, row, rows) || !overlaps(b.graphs, h, col, cols)) continue;
        reference::run_graph_pair(recipe, {a.graphs, static_cast<Index>(g), a.graph_traces[g]},
                                  {b.graphs, static_cast<Index>(h), b.graph_traces[h]},
                                  [&](Index slot, Index u, Index v, Real value) {
                                    const Index i = row + u - rows.begin;
                                    const Index j = col + v - cols.begin;
                                    if (i < 0 || i >= rows.size() || j < 0 || j >= cols.size()) return;
                                    outputs[usize(slot)](i, j) = checked<T>(value, slot, row + u, col + v);
                                  });
      }
    }
  }

  template <typename T>
  static T checked(Real value, Index slot, Index row, Index col) {
    if (!(std::abs(value) <= static_cast<Real>(std::numeric_limits<T>::max()))) {
      report_overflow(slot, row, col, precision_of<T>);
    }
    return static_cast<T>(value);
  }

  template <typename T>
  static void fill_tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
                        std::span<const MatrixView<T>> outputs) {
    const auto& a = dynamic_cast<const ReferenceLoaded&>(x1);
    const auto& b = dynamic_cast<const ReferenceLoaded&>(x2);
    if (!a.graph_traces.empty()) return fill_graphs(recipe, a, rows, b, cols, outputs);
    for (Index i = rows.begin; i < rows.end; ++i) {
      for (Index j = cols.begin; j < cols.end; ++j) {
        const auto row = static_cast<std::size_t>(i);
        const auto col = static_cast<std::size_t>(j);
        reference::run_pair(recipe, a.samples[row].data(), a.traces[row], b.samples[col].data(), b.traces[col],
                            [&](const Step& step, const State& state) {
                              each_output(step, state, [&](Index slot, Real value) {
                                outputs[static_cast<std::size_t>(slot)](i - rows.begin, j - cols.begin) =
                                    checked<T>(value, slot, i, j);
                              });
                            });
      }
    }
  }
};

class Reference final : public Engine {
 public:
  [[nodiscard]] std::string name() const override { return "reference"; }
  [[nodiscard]] std::string description() const override { return "sequential, long double"; }
  [[nodiscard]] int threads() const override { return 1; }
  [[nodiscard]] const Kernels& kernels() const override { return kernels_; }
  [[nodiscard]] const Algebra& algebra() const override { return algebra_; }

 private:
  ReferenceKernels kernels_;
  reference::ReferenceAlgebra algebra_;
};

}  // namespace

std::unique_ptr<Engine> make_reference_engine() { return std::make_unique<Reference>(); }

}  // namespace widelimit
