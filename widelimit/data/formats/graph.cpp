#include "widelimit/data/formats/graph.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/data/formats/archive.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>

namespace widelimit {

namespace {

/// Tokenizer for whitespace-separated integers that tracks the line.
class Integers {
 public:
  Integers(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  [[nodiscard]] bool at_end() {
    skip();
    return at_ == text_.size();
  }
  /// Returns whether no further number is on the current line.
  [[nodiscard]] bool at_end_of_line() {
    for (; at_ < text_.size() && blank(text_[at_]); ++at_) {
      if (text_[at_] == '\n') return true;
    }
    return at_ == text_.size();
  }
  Index next(std::string_view what) {
    skip();
    Index value = 0;
    const auto result = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    const auto end = static_cast<std::size_t>(result.ptr - text_.data());
    const bool whole = end == text_.size() || blank(text_[end]);
    if (result.ec != std::errc{} || !whole) fail(Code::input, "{}: expected {}", place(), what);
    at_ = end;
    return value;
  }
  /// Reads a count of items that take at least two bytes each; rejects counts that the text cannot hold.
  Index count(std::string_view what) {
    const Index value = next(what);
    if (value < 0 || value > std::ssize(text_.substr(at_)) / 2 + 1) {
      fail(Code::input, "{}: {} is {}, more than the text can hold", place(), what, value);
    }
    return value;
  }
  [[nodiscard]] std::int64_t place_in_text() const { return static_cast<std::int64_t>(at_); }
  [[nodiscard]] std::string place() const { return fmt::format("{}, line {}", source_, line_); }

 private:
  static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
  void skip() {
    for (; at_ < text_.size() && blank(text_[at_]); ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

std::vector<Index> parse_neighbours(Integers& input, std::size_t g, Index node, Index n) {
  std::vector<Index> all(static_cast<std::size_t>(input.count("the number of neighbours")));
  for (Index& j : all) {
    j = input.next("a neighbour");
    if (j < 0 || j >= n) {
      fail(Code::input, "{}: graph {}, node {}: neighbour {} is not one of its {} nodes", input.place(), g, node, j, n);
    }
    if (j == node) fail(Code::input, "{}: graph {}, node {} is its own neighbour", input.place(), g, node);
  }
  std::sort(all.begin(), all.end());
  if (std::adjacent_find(all.begin(), all.end()) != all.end()) {
    fail(Code::input, "{}: graph {}, node {} lists a neighbour twice", input.place(), g, node);
  }
  return all;
}

void require_symmetric(const Graph& graph, std::size_t number, const std::string& source) {
  for (Index i = 0; i < graph.n; ++i) {
    for (const Index j : graph.neighbours[static_cast<std::size_t>(i)]) {
      const auto& back = graph.neighbours[static_cast<std::size_t>(j)];
      if (!std::binary_search(back.begin(), back.end(), i)) {
        fail(Code::input, "{}: in graph {} the edge {}-{} is listed at one of its ends only", source, number, i, j);
      }
    }
  }
}

/// Maps numbers to their ranks; names() returns the sorted numbers as text.
class Ranks {
 public:
  void add(Index number) { ranks_.emplace(number, 0); }
  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (auto& entry : ranks_) {
      entry.second = std::ssize(all);
      all.push_back(std::to_string(entry.first));
    }
    return all;
  }
  [[nodiscard]] Index of(Index number) const { return ranks_.at(number); }

 private:
  std::map<Index, Index> ranks_;
};

std::vector<Index> parse_indices(std::string_view text, Index count, const std::string& source) {
  std::vector<Index> indices;
  std::vector<bool> seen(static_cast<std::size_t>(count), false);
  for (Integers input(text, source); !input.at_end();) {
    const Index index = input.next("the index of a graph");
    if (index < 0 || index >= count || seen[static_cast<std::size_t>(index)]) {
      fail(Code::input, "{}: index {} is repeated or is not one of {} graphs", input.place(), index, count);
    }
    seen[static_cast<std::size_t>(index)] = true;
    indices.push_back(index);
  }
  return indices;
}

}  // namespace

GraphSet parse_graphs(std::string_view text, const std::string& source, const ReadLimits& limits, bool labelled) {
  Integers input(text, source);
  ProgressTicker ticker(limits.progress, std::ssize(text), "B");
  // Memory of the text, and of graphs, nodes and neighbours beside their numbers.
  double bytes = static_cast<double>(text.size());
  double asked = 0;
  const auto take = [&](Index things, std::size_t each) {
    bytes += static_cast<double>(things) * static_cast<double>(each);
    if (bytes < 1.1 * asked) return;  // checks again only after growth by 10 %
    limits.require(bytes, source);
    asked = bytes;
  };
  GraphSet set;
  set.name = source;
  Ranks classes;
  Ranks tags;
  const Index count = input.count("the number of graphs");
  take(count, sizeof(Graph) + sizeof(Index));
  set.graphs.resize(static_cast<std::size_t>(count));
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    Graph& graph = set.graphs[g];
    graph.n = input.count("the number of nodes");
    take(graph.n, sizeof(std::vector<Index>) + sizeof(Index));
    graph.tags.reserve(static_cast<std::size_t>(graph.n));
    graph.neighbours.reserve(static_cast<std::size_t>(graph.n));
    // Without this check the tag of the first node would be read as the label, and errors would name other lines.
    const bool has_label = !input.at_end_of_line();
    if (labelled && !has_label) {
      fail(Code::input, {Remedy::ignore_labels},
           "{}: the label of graph {} is missing after its number of nodes; add it, or read the graphs without labels",
           input.place(), g);
    }
    const Index label = has_label ? input.next("the label of a graph") : 0;
    if (labelled) {
      set.labels.push_back(label);
      classes.add(label);
    }
    for (Index i = 0; i < graph.n; ++i) {
      graph.tags.push_back(input.next("the tag of a node"));
      tags.add(graph.tags.back());
      graph.neighbours.push_back(parse_neighbours(input, g, i, graph.n));
      take(std::ssize(graph.neighbours.back()), sizeof(Index));
      ticker.at(input.place_in_text());
    }
    require_symmetric(graph, g, source);
  }
  if (!input.at_end()) fail(Code::input, "{}: text after the last graph", input.place());
  if (set.graphs.empty()) fail(Code::input, "{}: no graphs", source);
  set.class_names = classes.names();
  set.tag_names = tags.names();
  for (Index& label : set.labels) label = classes.of(label);
  for (Graph& graph : set.graphs) {
    for (Index& tag : graph.tags) tag = tags.of(tag);
  }
  return set;
}

bool degrees_as_tags(const GraphSet& set) { return set.tag_names.size() < 2; }

Graphs sample_graphs(const GraphSet& set, bool degrees) {
  Graphs result;
  std::vector<std::array<Index, 2>> edges;
  std::vector<std::int64_t> tags;
  for (const Graph& graph : set.graphs) {
    edges.clear();
    tags.clear();
    for (Index i = 0; i < graph.n; ++i) {
      for (const Index j : graph.neighbours[usize(i)]) edges.push_back({i, j});
      if (!degrees) tags.push_back(std::stoll(set.tag_names[usize(graph.tags[usize(i)])]));
    }
    try {
      append_graph(result, {.nodes = graph.n, .edges = edges, .list = EdgeList::both_ends, .tags = tags});
    } catch (const Error& error) {
      fail(error.code(), "{}: {}", set.name, error.what());
    }
  }
  return result;
}

std::vector<SplitRows> read_graph_folds(const std::filesystem::path& archive, Index count, const ReadLimits& limits) {
  std::map<Index, std::map<std::string, std::vector<Index>>> parts;
  for (Archive members(archive, limits); members.next();) {
    const std::string name = std::filesystem::path(members.member()).stem().string();
    const auto dash = name.find("_idx-");
    if (dash == std::string::npos) continue;
    const std::string source = archive.string() + "/" + members.member();
    const std::string number = name.substr(dash + 5);
    const Index fold = Integers(number, source).next("the number of a fold in the file's name");
    const Blob text = members.read();
    parts[fold][name.substr(0, dash)] = parse_indices(as_text(text), count, source);
  }
  std::vector<SplitRows> folds;
  for (auto& [number, part] : parts) {
    if (!part.contains("train") || !part.contains("test")) {
      fail(Code::input, "{}: fold {} lacks its train or test part", archive.string(), number);
    }
    folds.push_back({std::move(part["train"]), std::move(part["test"])});
  }
  return folds;
}

GraphSet read_graphs(const std::filesystem::path& graphs, const std::filesystem::path& folds, const ReadLimits& limits,
                     bool labelled) {
  const Blob bytes = read_unpacked(graphs, limits);
  GraphSet set = parse_graphs(as_text(bytes), graphs.string(), limits, labelled);
  if (!folds.empty()) set.folds = read_graph_folds(folds, std::ssize(set.graphs), limits);
  return set;
}

}  // namespace widelimit
