#pragma once

#include "app/certify/certified.hpp"
#include "app/shell/options.hpp"

#include "widelimit/report/html.hpp"

namespace widelimit::app {

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
