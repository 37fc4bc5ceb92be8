#include "widelimit/analysis/evolution/probe_set.hpp"

#include "widelimit/finite/training/network_targets.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace widelimit {

std::vector<Index> probe_samples(std::span<const Index> classes, Index samples, Index count) {
  const Index requested = std::clamp<Index>(count, 0, samples);
  std::vector<Index> chosen;
  if (classes.empty()) {
    chosen.resize(usize(requested));
    std::iota(chosen.begin(), chosen.end(), Index{0});
    return chosen;
  }
  std::map<Index, std::vector<Index>> by_class;
  for (Index i = 0; i < std::ssize(classes); ++i) by_class[classes[usize(i)]].push_back(i);
  // Round-robin over the classes with remaining samples.
  std::map<Index, std::size_t> taken;
  for (Index left = requested; left > 0;) {
    for (const auto& [label, rows] : by_class) {
      if (left == 0 || taken[label] == rows.size()) continue;
      ++taken[label];
      --left;
    }
  }
  for (const auto& [label, rows] : by_class) {
    chosen.insert(chosen.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(taken[label]));
  }
  return chosen;
}

ProbeSet::ProbeSet(const Dataset& data, const std::vector<std::string>& class_names, const Loss& loss, Index count)
    : shape(data.shape) {
  const std::vector<Index> rows = probe_samples(data.labels, data.count(), count);
  const Matrix<double> all = training_targets(data, class_names, loss);
  x = gather(data.view(), rows);
  y = Matrix<double>(std::ssize(rows), all.cols());
  for (Index i = 0; i < y.rows(); ++i) std::copy_n(all.view().row(rows[usize(i)]), y.cols(), y.view().row(i));
  for (const Index row : rows) {
    if (!data.labels.empty()) classes.push_back(data.labels[usize(row)]);
  }
  const bool structured = !classes.empty() && classes.front() != classes.back();
  if (!structured) classes.clear();
}

}  // namespace widelimit
