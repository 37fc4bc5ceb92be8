#pragma once

#include "widelimit/data/request.hpp"
#include "widelimit/kernel/entries.hpp"
#include "widelimit/kernel/request.hpp"
#include "widelimit/report/table.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace widelimit::app {

/// What is reported of an array in a file.
struct ArrayFacts {
  std::string name;
  std::vector<Index> dims;
  Entries entries;
};
[[nodiscard]] std::vector<ArrayFacts> array_facts(const KernelAnswer& answer);

/// Name, shape and first statistics of every array.
[[nodiscard]] Table array_table(const std::vector<ArrayFacts>& arrays);
[[nodiscard]] nlohmann::ordered_json arrays_json(const std::vector<ArrayFacts>& arrays);
/// 0 seconds count as a nanosecond.
[[nodiscard]] double pairs_per_second(double pairs, double seconds);
/// Shapes, statistics and how they were computed, for the record.
[[nodiscard]] nlohmann::ordered_json answer_json(const KernelAnswer& answer);

/// The page of --report: heat maps ordered by class, spectra, and their figures, which are returned for the record.
nlohmann::ordered_json write_kernel_page(const std::filesystem::path& path, const std::string& title,
                                         const KernelAnswer& answer, const Dataset& train,
                                         const nlohmann::ordered_json& settings, std::uint64_t seed);

}  // namespace widelimit::app
