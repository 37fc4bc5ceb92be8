#pragma once

#include "app/certify/certified.hpp"
#include "app/shell/options.hpp"

#include "widelimit/analysis/equivalence/equivalence.hpp"
#include "widelimit/report/html.hpp"

#include <string>
#include <vector>

namespace widelimit::app {

/// Machines on the tangent kernel of one network, each with λ selected on its training samples, scored on held-out
/// samples.
struct MachineReport {
  std::string network;
  Index train = 0;
  Index test = 0;
  Table table;
  std::vector<Illustration> paths;      ///< error by λ
  std::vector<Illustration> confusion;  ///< confusion matrices
  double best_accuracy = 0;
  nlohmann::ordered_json results;
};

[[nodiscard]] MachineReport demo_machines(const CommonOptions& options, const Engine& engine);

/// Returns networks of finite width trained on two digits, compared with their machine.
[[nodiscard]] Equivalence demo_equivalence(const CommonOptions& options, const Engine& engine);

/// Adds the section of the comparison.
void add_equivalence_section(Page& page, const Equivalence& result);

/// Certificates of ridge on two digits, for a few held-out images.
struct CertificateReport {
  Certified certified;
  Table table;
  std::optional<Illustration> least_robust;  ///< pictures of the images with the smallest radii
  Index train = 0;
};

[[nodiscard]] CertificateReport demo_certificates(const CommonOptions& options, const Engine& engine);

/// Adds the section of the certificates.
void add_certificate_section(Page& page, const CertificateReport& report);

}  // namespace widelimit::app
