#pragma once

#include "widelimit/data/request.hpp"
#include "widelimit/kernel/request.hpp"
#include "widelimit/report/table.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace widelimit::app {

/// Name, shape and first statistics of every array.
[[nodiscard]] Table array_table(const KernelAnswer& answer);
/// Shapes, statistics and how they were computed, for the record.
[[nodiscard]] nlohmann::ordered_json answer_json(const KernelAnswer& answer);

/// The page of --report: heat maps ordered by class, spectra, and their figures, which are returned for the record.
nlohmann::ordered_json write_kernel_page(const std::filesystem::path& path, const std::string& title,
                                         const KernelAnswer& answer, const Dataset& train,
                                         const nlohmann::ordered_json& settings, std::uint64_t seed);

}  // namespace widelimit::app
