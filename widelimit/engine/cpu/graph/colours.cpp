#include "widelimit/engine/cpu/graph/colours.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace widelimit::cpu {

namespace {

/// Numbers distinct keys in the order of their first occurrence.
template <typename Key>
class Numbering {
 public:
  Index of(Key key) { return numbers_.emplace(std::move(key), std::ssize(numbers_)).first->second; }

 private:
  std::map<Key, Index> numbers_;
};

std::vector<Index> first_colours(const GraphView& graphs, Index g) {
  const Graphs& all = *graphs.graphs;
  const Index first = graphs.first_node(g);
  std::vector<Index> colours;
  Numbering<std::int64_t> tags;
  Numbering<std::vector<double>> rows;
  for (Index u = first; u < first + graphs.nodes(g); ++u) {
    if (all.tagged()) {
      colours.push_back(tags.of(all.tags[usize(u)]));
    } else {
      const auto row = all.features_of(u);
      colours.push_back(rows.of({row.begin(), row.end()}));
    }
  }
  return colours;
}

/// Colour of a node, followed by the sorted colours of its neighbours.
std::vector<Index> signature(const GraphView& graphs, Index g, Index u, const std::vector<Index>& colours) {
  std::vector<Index> result{colours[usize(u)]};
  for (const std::int32_t v : graphs.graphs->neighbours_of(graphs.first_node(g) + u)) {
    result.push_back(colours[usize(v)]);
  }
  std::sort(result.begin() + 1, result.end());
  return result;
}

}  // namespace

Colours::Colours(const GraphView& graphs, Index g, Index rounds, bool merge) : graphs_(graphs), g_(g) {
  const Index n = graphs.nodes(g);
  std::vector<Index> all(usize(n));
  std::iota(all.begin(), all.end(), Index{0});
  add_round(merge ? first_colours(graphs, g) : all);
  for (Index round = 0; round < rounds; ++round) {
    const Index before = places(round);
    const bool settled = before == n || (round > 0 && before == places(round - 1));
    if (settled) {
      add_round(colours_.back());
      continue;
    }
    std::vector<Index> next;
    Numbering<std::vector<Index>> numbers;
    for (Index u = 0; u < n; ++u) next.push_back(numbers.of(signature(graphs, g, u, colours_.back())));
    add_round(std::move(next));
  }
}

void Colours::add_round(std::vector<Index> colours) {
  std::vector<Index> nodes;
  for (Index u = 0; u < std::ssize(colours); ++u) {
    if (colours[usize(u)] == std::ssize(nodes)) nodes.push_back(graphs_.first_node(g_) + u);
  }
  colours_.push_back(std::move(colours));
  nodes_.push_back(std::move(nodes));
}

SparseRows Colours::neighbourhoods(Index round) const {
  const std::vector<Index>& colours = colours_[usize(round)];
  SparseRows result;
  for (const Index node : nodes(round + 1)) {
    std::vector<Index> sorted = signature(graphs_, g_, node - graphs_.first_node(g_), colours);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t k = 0; k < sorted.size();) {
      const std::size_t begin = k;
      while (k < sorted.size() && sorted[k] == sorted[begin]) ++k;
      result.add(sorted[begin], static_cast<double>(k - begin));
    }
    result.end_row();
  }
  return result;
}

SparseRows Colours::sizes(Index round) const {
  std::vector<Index> counts(usize(places(round)));
  for (const Index colour : colours_[usize(round)]) ++counts[usize(colour)];
  SparseRows result;
  for (std::size_t p = 0; p < counts.size(); ++p) result.add(static_cast<Index>(p), static_cast<double>(counts[p]));
  result.end_row();
  return result;
}

SparseRows Colours::refinement(Index coarse, Index fine) const {
  SparseRows result;
  for (const Index node : nodes(fine)) {
    result.add(colours_[usize(coarse)][usize(node - graphs_.first_node(g_))], 1.0);
    result.end_row();
  }
  return result;
}

}  // namespace widelimit::cpu
