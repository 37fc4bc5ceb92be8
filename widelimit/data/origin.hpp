#pragma once

#include "widelimit/data/labels/split.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// A part of a data set that was split.
enum class Part : std::uint8_t { all, train, test };
[[nodiscard]] std::string_view to_string(Part part);
/// Error{usage} lists the choices.
[[nodiscard]] Part parse_part(std::string_view text);

/// What a model remembers of its data: enough to read other files the same way, and to take the parts of its split
/// again from the same source. Samples went through classes → shuffle → split → limit.
struct DataOrigin {
  TableLayout layout;                    ///< of a table
  std::optional<bool> degree_tags = {};  ///< of graphs: whether the tag of a node is its degree
  Index samples = 0;                     ///< of the source; 0 where nothing is known of it
  std::uint64_t checksum = 0;            ///< of the source's values
  std::optional<std::string> label;      ///< column or array that was asked for
  std::vector<std::string> classes;      ///< that were kept; empty: all
  std::optional<std::uint64_t> shuffle;  ///< seed
  std::optional<Split> split;            ///< nothing where no sample was held out
  std::optional<Index> limit;            ///< of samples trained on

  [[nodiscard]] bool known() const { return samples > 0 || !layout.columns.empty(); }
  bool operator==(const DataOrigin&) const = default;
};

/// Checksum of the values of samples, in their order.
[[nodiscard]] std::uint64_t sample_checksum(const Dataset& data);

[[nodiscard]] nlohmann::ordered_json origin_json(const DataOrigin& origin);
/// Error{input} for what is no such record, or contradicts itself.
[[nodiscard]] DataOrigin parse_origin(const nlohmann::ordered_json& json);

}  // namespace widelimit
