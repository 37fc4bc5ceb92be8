#pragma once

#include "app/shell/options.hpp"

#include "widelimit/report/html.hpp"

#include <string>
#include <vector>

namespace widelimit::app {

/// What the demonstration shows of machines: on the tangent kernel of one network, each with the λ that its own
/// training samples choose, scored on held-out samples.
struct MachineShow {
  std::string network;
  Index train = 0;
  Index test = 0;
  Table table;
  std::vector<Illustration> paths;      ///< error by λ
  std::vector<Illustration> confusion;  ///< confusion matrices
  double best_accuracy = 0;
  nlohmann::ordered_json results;
};

[[nodiscard]] MachineShow show_machines(const CommonOptions& options, const Engine& engine);

}  // namespace widelimit::app
