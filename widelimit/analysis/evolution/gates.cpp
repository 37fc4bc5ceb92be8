#include "widelimit/analysis/evolution/gates.hpp"

#include "widelimit/network/activation_jet.hpp"

namespace widelimit {

namespace {

template <std::floating_point T>
void add_gates(const std::vector<Stage>& stages, const Trace<T>& trace, std::vector<bool>& gates) {
  for (std::size_t k = 0; k < stages.size(); ++k) {
    const auto* activation = std::get_if<Activation>(&stages[k].layer.value);
    if (activation != nullptr && smoothness(*activation) == Smoothness::kinked) {
      for (const T value : trace.values[k].values()) gates.push_back(value > 0);
    }
    if (!std::holds_alternative<Residual>(stages[k].layer.value)) continue;
    const std::vector<Trace<T>>& arms = trace.arms[k];
    add_gates(stages[k].branch, arms[0], gates);
    if (!stages[k].shortcut.empty()) add_gates(stages[k].shortcut, arms[1], gates);
  }
}

template <std::floating_point T>
std::vector<bool> gates_of(const Architecture& architecture, const Trace<T>& trace) {
  std::vector<bool> gates;
  add_gates(architecture.stages, trace, gates);
  return gates;
}

}  // namespace

std::vector<bool> open_gates(const Architecture& architecture, const Trace<float>& trace) {
  return gates_of(architecture, trace);
}
std::vector<bool> open_gates(const Architecture& architecture, const Trace<double>& trace) {
  return gates_of(architecture, trace);
}

std::optional<double> share_changed(const std::vector<bool>& before, const std::vector<bool>& after) {
  if (before.empty() || before.size() != after.size()) return std::nullopt;
  std::size_t changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) changed += before[i] != after[i] ? 1 : 0;
  return static_cast<double>(changed) / static_cast<double>(before.size());
}

}  // namespace widelimit
