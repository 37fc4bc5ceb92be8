#include "widelimit/certificate/network/margin_parts.hpp"

#include "widelimit/base/parallel.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// Numbers of the first layers that are kept, and of the widest activation of the balls of one part.
constexpr Index kept_numbers = Index{1} << 26;
constexpr Index cached_numbers = Index{1} << 16;
constexpr Index working_numbers = Index{1} << 23;
/// Columns that make a matrix little more than a vector.
constexpr Index few_columns = 16;

/// Values of the widest stage, with the windows of convolutions.
Index widest(const std::vector<Stage>& stages) {
  Index most = 1;
  for (const Stage& stage : stages) {
    Index seen = std::max(stage.in.size(), stage.out.size());
    if (std::holds_alternative<Conv>(stage.layer.value)) {
      seen += stage.out.positions() * stage.windows->size() * stage.in.channels;
    }
    most = std::max({most, seen, widest(stage.branch) + stage.in.size(), widest(stage.shortcut) + stage.in.size()});
  }
  return most;
}

bool only_vectors_follow(const Architecture& architecture, std::size_t first) {
  return std::all_of(architecture.stages.begin() + static_cast<Index>(first) + 1, architecture.stages.end(),
                     [](const Stage& stage) {
                       return std::holds_alternative<Activation>(stage.layer.value) || stage.out.size() <= few_columns;
                     });
}

}  // namespace

Index kept_points(const Architecture& architecture, std::optional<std::size_t> first) {
  const Index kept = first ? architecture.stages[*first].out.size() : architecture.input.size();
  return std::max<Index>(1, kept_numbers / kept);
}

MarginBounds margins_by_parts(const Architecture& architecture, std::optional<std::size_t> first,
                              std::span<const Ball> balls, std::span<const Index> labels, int threads,
                              const MarginPart& part) {
  MarginBounds margins(std::ssize(balls), architecture.output.size());
  const Index numbers = first && only_vectors_follow(architecture, *first) ? cached_numbers : working_numbers;
  const Index size = std::max<Index>(1, numbers / widest(architecture.stages));
  const Index parts = (std::ssize(balls) + size - 1) / size;
  parallel_for(parts, parts > 1 ? threads : 1, [&](Index p) {
    const auto some = balls.subspan(at(p * size), at(std::min(size, std::ssize(balls) - p * size)));
    std::vector<Index> told;
    for (const Ball& ball : some) told.push_back(labels[at(ball.point)]);
    margins.put(p * size, part(some, told));
  });
  return margins;
}

}  // namespace widelimit
