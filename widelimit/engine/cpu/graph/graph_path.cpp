#include "widelimit/base/error.hpp"
#include "widelimit/base/transpose.hpp"
#include "widelimit/engine/cpu/graph/graph_trace.hpp"
#include "widelimit/engine/cpu/path.hpp"
#include "widelimit/engine/overflow.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace widelimit::cpu {

namespace {

/// Maximum number of places per side of a state: three or four arrays of this size squared fit in the second-level
/// cache, and strips of this length fill the vector units for any graph size.
constexpr Index group_places = 96;

struct GraphLoaded final : CpuLoaded {
  explicit GraphLoaded(const Recipe& recipe) : program(recipe) {}

  void tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
            std::span<const MatrixView<float>> outputs) const override;
  void tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
            std::span<const MatrixView<double>> outputs) const override;
  bool mirrored_tile(const Recipe& recipe, Range rows, Range cols, std::span<const MatrixView<float>> outputs,
                     std::span<const MatrixView<float>> mirrored) const override;
  bool mirrored_tile(const Recipe& recipe, Range rows, Range cols, std::span<const MatrixView<double>> outputs,
                     std::span<const MatrixView<double>> mirrored) const override;

  /// Returns the index of the first place of graph g after `rounds` rounds.
  [[nodiscard]] Index first_place(Index rounds, Index g) const {
    return rounds == whole_graph ? g : first[usize(rounds)][usize(g)];
  }
  [[nodiscard]] Range places_of(Index rounds, Range graphs) const {
    return {first_place(rounds, graphs.begin), first_place(rounds, graphs.end)};
  }
  /// Returns the data of some graphs for step k.
  [[nodiscard]] GraphSide side(std::size_t k, Range graphs) const {
    const GraphStep& at = program.steps[k];
    const Range after = places_of(at.after, graphs);
    const Index columns = first_place(std::min(at.before, at.beneath), graphs.begin);
    const bool moves = places[k].rows() > 0;
    return {&features[k], after.begin, {moves ? &places[k] : nullptr, after.begin, after.size(), columns}};
  }
  /// Splits the graphs of some samples into groups of consecutive graphs whose places fit into one state.
  [[nodiscard]] std::vector<Range> groups(Range samples) const {
    std::vector<Range> result;
    if (samples.size() == 0) return result;
    const Range graphs{graph_of[usize(samples.begin)], graph_of[usize(samples.end - 1)] + 1};
    for (Index g = graphs.begin; g < graphs.end; ++g) {
      const bool fits =
          !result.empty() && places_of(program.rounds, {result.back().begin, g + 1}).size() <= group_places;
      if (fits) {
        result.back().end = g + 1;
      } else {
        result.push_back({g, g + 1});
      }
    }
    return result;
  }

  /// Returns those of `samples` that belong to the given graphs.
  [[nodiscard]] Range samples_of(Range graphs, Range samples) const {
    const auto all = graph_of.begin();
    const auto begin = std::lower_bound(all + samples.begin, all + samples.end, graphs.begin);
    return {begin - all, std::lower_bound(begin, all + samples.end, graphs.end) - all};
  }

  GraphProgram program;
  std::vector<std::vector<Index>> first;  ///< by round and graph: index of its first place
  GraphInput input;                       ///< of all graphs, concatenated
  std::vector<Features> features;         ///< one per step, for all places
  std::vector<SparseRows> places;         ///< one per step: relative weights of places before it in those after it
  /// Graph and final place of each sample, which is a graph or a node.
  std::vector<Index> graph_of;
  std::vector<Index> place_of;
};

void append_input(GraphInput& to, GraphInput&& from, Index place) {
  to.variance.insert(to.variance.end(), from.variance.begin(), from.variance.end());
  to.tags.insert(to.tags.end(), from.tags.begin(), from.tags.end());
  std::copy_n(from.unit.data(), from.unit.rows() * from.unit.cols(), to.unit.data() + place * from.unit.cols());
}

std::unique_ptr<Loaded> load_graphs(const Recipe& recipe, const GraphView& samples, Precision precision, int threads,
                                    const std::function<void(Index)>& after) {
  auto loaded = std::make_unique<GraphLoaded>(recipe);
  const GraphProgram& program = loaded->program;
  std::vector<TracedGraph> graphs = trace_graphs(recipe, program, samples, precision, threads, after);
  const Index n = std::ssize(graphs);

  loaded->first.assign(usize(program.rounds) + 1, std::vector<Index>{0});
  for (const TracedGraph& graph : graphs) {
    for (std::size_t r = 0; r < loaded->first.size(); ++r) {
      loaded->first[r].push_back(loaded->first[r].back() + graph.places[r]);
    }
    loaded->error = std::max(loaded->error, graph.trace.error);
  }
  GraphSamples found = graph_samples(recipe, samples, graphs);
  const Index last = program.steps.back().after;
  for (std::size_t i = 0; i < found.graph.size(); ++i) {
    loaded->place_of.push_back(loaded->first_place(last, found.graph[i]) + found.place[i]);
  }
  loaded->graph_of = std::move(found.graph);
  loaded->diagonal_values = std::move(found.diagonal);
  const Graphs& all = *samples.graphs;
  loaded->input.unit = Matrix<double>(all.tagged() ? 0 : loaded->first.front().back(), all.width);
  for (Index g = 0; g < n; ++g) {
    append_input(loaded->input, std::move(graphs[usize(g)].input), loaded->first_place(0, g));
  }
  for (std::size_t k = 0; k < recipe.steps.size(); ++k) {
    loaded->features.push_back(graph_features(recipe, k, graphs, precision));
    const GraphStep& at = program.steps[k];
    SparseRows rows;
    for (Index g = 0; g < n; ++g) {
      rows.append(graphs[usize(g)].trace.places[k], loaded->first_place(std::min(at.before, at.beneath), g));
    }
    loaded->places.push_back(std::move(rows));
  }
  return loaded;
}

/// Runs the pairs of two groups of graphs through all steps.
template <typename Out>
class GraphTile {
 public:
  GraphTile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
            std::span<const MatrixView<Out>> outputs)
      : recipe_(recipe),
        a_(dynamic_cast<const GraphLoaded&>(x1)),
        b_(dynamic_cast<const GraphLoaded&>(x2)),
        rows_(rows),
        cols_(cols),
        outputs_(outputs) {}

  /// `upper`: only the blocks on and above the diagonal of a diagonal tile.
  void fill(bool upper) {
    const std::vector<Range> left = a_.groups(rows_);
    const std::vector<Range> right = b_.groups(cols_);
    for (std::size_t p = 0; p < left.size(); ++p) {
      for (std::size_t q = upper ? p : 0; q < right.size(); ++q) run(left[p], right[q]);
    }
  }

 private:
  void run(Range left, Range right) {
    thread_local GraphRunner runner;
    const Range rows = a_.places_of(0, left);
    const Range cols = b_.places_of(0, right);
    write_input(a_.input, rows, b_.input, cols, runner.begin(recipe_, rows.size(), cols.size()));
    for (std::size_t k = 0; k < recipe_.steps.size();) {
      if (recipe_.steps[k].op == Op::emit) {
        emit(k, left, right, runner.top());
        ++k;
        continue;
      }
      k += runner.run(recipe_, k, false, [&](std::size_t step) {
        return GraphSides{a_.side(step, left), b_.side(step, right)};
      });
    }
  }

  void emit(std::size_t k, Range left, Range right, GraphState& state) {
    const Step& step = recipe_.steps[k];
    const Index last = a_.program.steps[k].before;
    const Index first_row = a_.first_place(last, left.begin);
    const Index first_col = b_.first_place(last, right.begin);
    const Range rows = a_.samples_of(left, rows_);
    const Range cols = b_.samples_of(right, cols_);
    const auto write = [&](Index slot, MatrixView<double> values) {
      for (Index i = rows.begin; i < rows.end; ++i) {
        for (Index j = cols.begin; j < cols.end; ++j) {
          const Index p = a_.place_of[usize(i)];
          const Index q = b_.place_of[usize(j)];
          const double value =
              state.turned ? values(q - first_col, p - first_row) : values(p - first_row, q - first_col);
          const auto entry = static_cast<Out>(value * a_.features[k].f64(0, p) * b_.features[k].f64(0, q));
          if (!std::isfinite(entry)) report_overflow(slot, i, j, precision_of<Out>);
          outputs_[usize(slot)](i - rows_.begin, j - cols_.begin) = entry;
        }
      }
    };
    if (step.nngp_slot >= 0) write(step.nngp_slot, state.array(0));
    for (Index m = 0; m < step.ntk_count; ++m) write(step.ntk_slot + m, state.array(2 + m));
  }

  const Recipe& recipe_;
  const GraphLoaded& a_;
  const GraphLoaded& b_;
  Range rows_;
  Range cols_;
  std::span<const MatrixView<Out>> outputs_;
};

template <typename Out>
bool square_tile(const Recipe& recipe, const GraphLoaded& x, Range rows, Range cols,
                 std::span<const MatrixView<Out>> outputs) {
  if (rows.begin != cols.begin) return false;
  GraphTile<Out>(recipe, x, rows, x, cols, outputs).fill(true);
  for (const MatrixView<Out>& output : outputs) mirror_upper(output);
  return true;
}

void GraphLoaded::tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
                       std::span<const MatrixView<float>> outputs) const {
  GraphTile<float>(recipe, *this, rows, other, cols, outputs).fill(false);
}

void GraphLoaded::tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
                       std::span<const MatrixView<double>> outputs) const {
  GraphTile<double>(recipe, *this, rows, other, cols, outputs).fill(false);
}

bool GraphLoaded::mirrored_tile(const Recipe& recipe, Range rows, Range cols,
                                std::span<const MatrixView<float>> outputs,
                                std::span<const MatrixView<float>> /*mirrored*/) const {
  return square_tile(recipe, *this, rows, cols, outputs);
}

bool GraphLoaded::mirrored_tile(const Recipe& recipe, Range rows, Range cols,
                                std::span<const MatrixView<double>> outputs,
                                std::span<const MatrixView<double>> /*mirrored*/) const {
  return square_tile(recipe, *this, rows, cols, outputs);
}

class GraphPath final : public Path {
 public:
  GraphPath(const Recipe& recipe, Precision precision) : recipe_(recipe), precision_(precision) {}

  [[nodiscard]] std::string route() const override {
    return "graphs, strips of pairs of nodes, nodes of equal colour merged, double";
  }
  [[nodiscard]] std::unique_ptr<Loaded> load(const SampleView& x, int threads,
                                             const std::function<void(Index)>& after) const override {
    if (x.graphs() == nullptr) fail(Code::input, "the network reads graphs, but the samples are vectors; pass graphs");
    return load_graphs(recipe_, *x.graphs(), precision_, threads, after);
  }
  [[nodiscard]] std::size_t loaded_bytes(const SampleView& x) const override {
    const Graphs& all = *x.graphs()->graphs;
    // Per node, with its share of the edges, counted twice: per graph, and concatenated.
    const std::size_t entries = 1 + all.neighbours.size() / std::max<std::size_t>(1, usize(all.node_count()));
    std::size_t place = 2 * sizeof(long double) + usize(recipe_.input.channels) * sizeof(double);
    for (const Step& step : recipe_.steps) {
      place += usize(feature_count(step)) * (sizeof(double) + sizeof(long double));
      if (step.op == Op::aggregate || step.op == Op::readout) {
        place += 2 * (entries * (sizeof(double) + sizeof(std::int32_t)) + sizeof(Index));
      }
    }
    return usize(x.longest()) * place + usize(recipe_.outputs) * sizeof(double);
  }
  /// A pair of graphs is enough work per task; nodes are processed by whole graphs.
  [[nodiscard]] Index tile_edge() const override { return recipe_.at_nodes() ? 512 : 32; }

 private:
  const Recipe& recipe_;
  Precision precision_;
};

}  // namespace

std::unique_ptr<Path> graph_path(const Recipe& recipe, Precision precision) {
  return std::make_unique<GraphPath>(recipe, precision);
}

}  // namespace widelimit::cpu
