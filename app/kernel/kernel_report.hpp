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

/// Shape and statistics of an array in a file.
struct ArrayFacts {
  std::string name;
  std::vector<Index> dims;
  Entries entries;
};
[[nodiscard]] std::vector<ArrayFacts> array_facts(const KernelResult& result);

/// Returns name, shape and statistics of every array.
[[nodiscard]] Table array_table(const std::vector<ArrayFacts>& arrays);
[[nodiscard]] nlohmann::ordered_json arrays_json(const std::vector<ArrayFacts>& arrays);
/// Treats durations below a nanosecond as a nanosecond.
[[nodiscard]] double pairs_per_second(double pairs, double seconds);
/// Returns shapes, statistics and method for the record.
[[nodiscard]] nlohmann::ordered_json kernel_json(const KernelResult& result);

/// Writes the page of --report with heat maps ordered by class and spectra. Returns the numbers for the record.
nlohmann::ordered_json write_kernel_page(const std::filesystem::path& path, const std::string& title,
                                         const KernelResult& result, const Dataset& train,
                                         const nlohmann::ordered_json& settings, std::uint64_t seed);

}  // namespace widelimit::app
