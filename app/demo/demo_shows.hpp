#pragma once

#include "app/certify/certified.hpp"
#include "app/shell/options.hpp"

#include "widelimit/analysis/equivalence/equivalence.hpp"
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

/// What the demonstration shows of networks of finite width: their training on two digits beside that of their machine.
[[nodiscard]] Equivalence show_equivalence(const CommonOptions& options, const Engine& engine);

/// Its section of the page.
void add_equivalence_section(Page& page, const Equivalence& result);

/// What the demonstration shows of certificates: ridge on two digits, a few images it has not seen.
struct CertificateShow {
  Certified certified;
  Table table;
  std::optional<Illustration> weakest;  ///< pictures of the images that are easiest to move
  Index train = 0;
};

[[nodiscard]] CertificateShow show_certificates(const CommonOptions& options, const Engine& engine);

/// The last section of the page.
void add_certificate_section(Page& page, const CertificateShow& show);

}  // namespace widelimit::app
