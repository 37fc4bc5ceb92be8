#include "python/bindings/base/arrays.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/base/error.hpp"

#include <nanobind/stl/vector.h>

#include <array>
#include <optional>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

using Edges = nb::ndarray<const std::int64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using Tags = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// `first` is the number of the first graph in messages.
GraphArray make(const nb::list& parts, bool both_ends, Index first) {
  auto graphs = std::make_shared<Graphs>();
  std::vector<std::array<Index, 2>> edges;
  for (const nb::handle& part : parts) {
    const auto given = nb::cast<nb::tuple>(part);
    const auto pairs = nb::cast<Edges>(given[1]);
    edges.clear();
    for (std::size_t e = 0; e < pairs.shape(0); ++e) edges.push_back({pairs(e, 0), pairs(e, 1)});
    GraphSource source{.nodes = nb::cast<Index>(given[0]),
                       .edges = edges,
                       .list = both_ends ? EdgeList::both_ends : EdgeList::undirected};
    std::optional<Tags> tags;
    std::optional<Rows> features;
    if (!given[2].is_none()) {
      tags = nb::cast<Tags>(given[2]);
      source.tags = {tags->data(), tags->size()};
    }
    if (!given[3].is_none()) {
      features = nb::cast<Rows>(given[3]);
      const auto width = static_cast<Index>(features->shape(1));
      source.features = {features->data(), static_cast<Index>(features->shape(0)), width, width};
    }
    append_graph(*graphs, source, first + graphs->count());
  }
  return {std::move(graphs)};
}

GraphArray take(const GraphArray& x, const std::vector<Index>& chosen) {
  if (x.nodes_as_samples) fail(Code::usage, "nodes of graphs are samples only together; take graphs, then their nodes");
  return {std::make_shared<Graphs>(gather_graphs(x.graphs->view(), chosen))};
}

/// Concatenates several sets of graphs.
GraphArray join(const std::vector<GraphArray>& sets) {
  auto all = std::make_shared<Graphs>();
  for (const GraphArray& set : sets) {
    const Graphs& more = *set.graphs;
    std::vector<std::array<Index, 2>> edges;
    for (Index g = 0; g < more.count(); ++g) {
      const Index first = more.nodes[usize(g)];
      const Index n = more.nodes[usize(g) + 1] - first;
      edges.clear();
      for (Index u = 0; u < n; ++u) {
        for (const std::int32_t v : more.neighbours_of(first + u)) edges.push_back({u, v});
      }
      GraphSource source{.nodes = n, .edges = edges, .list = EdgeList::both_ends};
      if (more.tagged()) {
        source.tags = std::span(more.tags).subspan(usize(first), usize(n));
      } else {
        source.features = {more.features.data() + first * more.width, n, more.width, more.width};
      }
      append_graph(*all, source);
    }
  }
  return {std::move(all)};
}

/// Returns (nodes, edges, neighbours, tags, features, width), the arguments of `of_arrays`.
nb::tuple arrays_of(const GraphArray& x) {
  const Graphs& g = *x.graphs;
  return nb::make_tuple(as_array(std::vector<Index>(g.nodes)), as_array(std::vector<Index>(g.edges)),
                        as_array(std::vector<std::int32_t>(g.neighbours)), as_array(std::vector<std::int64_t>(g.tags)),
                        as_array(std::vector<double>(g.features)), g.width);
}

GraphArray of_arrays(const std::vector<Index>& nodes, const std::vector<Index>& edges,
                     const std::vector<std::int32_t>& neighbours, const std::vector<std::int64_t>& tags,
                     const std::vector<double>& features, Index width) {
  auto graphs = std::make_shared<Graphs>();
  graphs->nodes = nodes;
  graphs->edges = edges;
  graphs->neighbours = neighbours;
  graphs->tags = tags;
  graphs->features = features;
  graphs->width = width;
  graphs->validate();
  return {std::move(graphs)};
}

}  // namespace

void bind_graphs(nb::module_& module) {
  nb::class_<GraphArray>(module, "GraphSamples", "Graphs in the representation of the library.")
      .def("__len__",
           [](const GraphArray& x) { return x.nodes_as_samples ? x.graphs->node_count() : x.graphs->count(); })
      .def("__eq__",
           [](const GraphArray& a, const GraphArray& b) {
             return a.nodes_as_samples == b.nodes_as_samples && *a.graphs == *b.graphs;
           })
      .def_prop_ro("tagged", [](const GraphArray& x) { return x.graphs->tagged(); })
      .def_prop_ro("width", [](const GraphArray& x) { return x.graphs->width; })
      .def_prop_ro(
          "nodes",
          [](const GraphArray& x) {
            return GraphArray{x.graphs, true};
          },
          "The same graphs with each node as one sample.")
      .def("take", &take, "chosen"_a, "A copy of the graphs at these indices.")
      .def("arrays", &arrays_of, "(nodes, edges, neighbours, tags, features, width).");
  module.def("make_graphs", &make, "parts"_a, "both_ends"_a, "first"_a = 0,
             "Builds graphs from tuples (nodes, edges, tags or None, features or None).");
  module.def("join_graphs", &join, "sets"_a, "Concatenates several sets of graphs.");
  module.def("graphs_of_arrays", &of_arrays, "nodes"_a, "edges"_a, "neighbours"_a, "tags"_a, "features"_a, "width"_a,
             "Rebuilds graphs from the result of arrays().");
}

}  // namespace widelimit::python
