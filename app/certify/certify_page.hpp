#pragma once

#include "app/certify/certified.hpp"

#include "widelimit/data/dataset.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace widelimit::app {

/// What a page of certificates shows.
struct CertifyPage {
  std::string title;
  const Certified& certified;
  const Table& table;
  const Dataset& data;
  const std::vector<std::string>& names;  ///< of classes; empty where labels are signs
  const std::vector<Index>& labels;
  const std::vector<Index>& attacked_as;  ///< class of each attacked sample; empty where there is none
  std::optional<Box> box;
};

/// Indices of the correctly classified samples with the smallest radii, in increasing order of radius.
[[nodiscard]] std::vector<Index> weakest(const Certificates& certificates, std::size_t most);

/// The certified-accuracy curve and the histogram of radii.
void add_radius_figures(Page& page, const Certified& certified);

/// Curve, histogram, and the weakest samples with their pictures, before and after the attack.
void write_certify_page(const std::filesystem::path& path, const CertifyPage& shown,
                        const nlohmann::ordered_json& settings);

/// The pictures of those samples; nothing where samples are no pictures or there are none.
[[nodiscard]] std::optional<Illustration> weakest_pictures(const CertifyPage& shown, const std::vector<Index>& samples);

}  // namespace widelimit::app
