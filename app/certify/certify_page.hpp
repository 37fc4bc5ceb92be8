#pragma once

#include "app/certify/certified.hpp"

#include "widelimit/data/dataset.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace widelimit::app {

/// Contents of a page of certificates.
struct CertifyPage {
  std::string title;
  const Certified& certified;
  const Table& table;
  const Dataset& data;
  const std::vector<std::string>& names;  ///< class names; empty if labels are signs
  const std::vector<Index>& labels;
  const std::vector<Index>& attacked_as;  ///< class of each attacked sample; empty without an attack
  std::optional<Box> box;
};

/// Returns up to `most` indices of correctly classified samples with the smallest radii, by increasing radius.
[[nodiscard]] std::vector<Index> least_robust(const Certificates& certificates, std::size_t most);

/// Adds the certified-accuracy curve and the histogram of radii.
void add_radius_figures(Page& page, const Certified& certified);

/// Writes the page: curve, histogram, and the least robust samples with their pictures before and after the attack.
void write_certify_page(const std::filesystem::path& path, const CertifyPage& shown,
                        const nlohmann::ordered_json& settings);

/// Returns pictures of `samples`, or std::nullopt if there are none or the samples are not dense images.
[[nodiscard]] std::optional<Illustration> least_robust_pictures(const CertifyPage& shown,
                                                                const std::vector<Index>& samples);

}  // namespace widelimit::app
