#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/graph/graph_trace.hpp"
#include "widelimit/engine/cuda/place/place_units.hpp"

#include <algorithm>

namespace widelimit::cuda {

namespace {

/// Appends tags (low halves, then high halves), or the unit vectors of the places, channel by channel.
void add_input(const cpu::GraphInput& input, UnitRecord& record) {
  record.begin_weights(0);
  record.begin_lists(0);
  for (const std::int64_t tag : input.tags) record.lists.push_back(static_cast<std::int32_t>(tag & 0xffffffff));
  for (const std::int64_t tag : input.tags) record.lists.push_back(static_cast<std::int32_t>(tag >> 32));
  for (Index c = 0; c < input.unit.cols(); ++c) {
    for (Index p = 0; p < input.unit.rows(); ++p) record.weights.push_back(input.unit(p, c));
  }
}

void add_rows(const cpu::SparseRows& rows, UnitRecord& record) {
  for (const Index start : rows.start) record.lists.push_back(static_cast<std::int32_t>(start));
  record.lists.insert(record.lists.end(), rows.columns.begin(), rows.columns.end());
  record.weights.insert(record.weights.end(), rows.weights.begin(), rows.weights.end());
}

UnitRecord graph_record(const Recipe& recipe, const cpu::TracedGraph& graph, Precision precision) {
  UnitRecord record;
  record.entries.resize(recipe.steps.size() + 1);
  record.places.push_back(1);
  for (const Index places : graph.places) record.places.push_back(static_cast<std::int32_t>(places));
  add_input(graph.input, record);
  for (std::size_t k = 0; k < recipe.steps.size(); ++k) {
    const cpu::Features features = cpu::graph_features(recipe, k, {&graph, 1}, precision);
    const Index count = std::ssize(graph.trace.before[k]);
    if (recipe.steps[k].op == Op::emit) {
      record.begin_weights(k + 1);
      record.weights.insert(record.weights.end(), features.array<double>(0), features.array<double>(0) + count);
    } else if (features.f64.rows() > 0) {
      record.add_features(k + 1, features, count);
    }
    if (graph.trace.places[k].rows() == 0) continue;
    record.begin_weights(k + 1);
    record.begin_lists(k + 1);
    add_rows(graph.trace.places[k], record);
  }
  return record;
}

}  // namespace

LoadedPlaces load_graphs(const std::shared_ptr<Device>& device, const Recipe& recipe, const LoweredPlaces& lowered,
                         const GraphView& samples, Precision precision, int threads, const AfterSamples& after) {
  const cpu::GraphProgram program(recipe);
  const std::vector<cpu::TracedGraph> graphs = cpu::trace_graphs(recipe, program, samples, precision, threads, after);
  LoadedPlaces loaded;
  loaded.samples = samples.rows;
  loaded.tagged = samples.graphs->tagged();
  std::vector<UnitRecord> records(graphs.size());
  parallel_for(std::ssize(graphs), threads,
               [&](Index g) { records[usize(g)] = graph_record(recipe, graphs[usize(g)], precision); });
  for (const cpu::TracedGraph& graph : graphs) loaded.error = std::max(loaded.error, graph.trace.error);
  loaded.units = DeviceUnits(device, lowered, std::move(records));
  cpu::GraphSamples found = cpu::graph_samples(recipe, samples, graphs);
  loaded.diagonal = std::move(found.diagonal);
  if (!samples.apart) return loaded;
  for (std::size_t i = 0; i < found.graph.size(); ++i) {
    while (std::ssize(loaded.first_sample) <= found.graph[i]) {
      loaded.first_sample.push_back(static_cast<std::int32_t>(i));
    }
    loaded.place.push_back(static_cast<std::int32_t>(found.place[i]));
  }
  loaded.first_sample.resize(graphs.size() + 1, static_cast<std::int32_t>(samples.rows));
  loaded.device_first_sample = DeviceBuffer::of<std::int32_t>(device, loaded.first_sample);
  loaded.device_place = DeviceBuffer::of<std::int32_t>(device, loaded.place);
  return loaded;
}

std::size_t loaded_graph_bytes(const Recipe& recipe, const SampleView& x) {
  const Graphs& all = *x.graphs()->graphs;
  const std::size_t entries = 1 + all.neighbours.size() / std::max<std::size_t>(1, usize(all.node_count()));
  std::size_t place = 2 * sizeof(long double) + 3 * usize(recipe.input.channels) * sizeof(double);
  for (const Step& step : recipe.steps) {
    place += 3 * usize(cpu::feature_count(step)) * sizeof(double) + sizeof(long double);
    if (step.op == Op::aggregate || step.op == Op::readout) {
      place += 3 * (entries * (sizeof(double) + sizeof(std::int32_t)) + sizeof(Index));
    }
  }
  return usize(x.longest()) * place + (recipe.steps.size() + 1) * 2 * sizeof(PlaceEntry) +
         usize(recipe.outputs) * sizeof(double);
}

}  // namespace widelimit::cuda
