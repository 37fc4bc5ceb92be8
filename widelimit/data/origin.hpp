#pragma once

#include "widelimit/data/labels/split.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Part of a data set that was split.
enum class Part : std::uint8_t { all, train, test };
[[nodiscard]] std::string_view to_string(Part part);
/// Throws Error{usage} with the choices if `text` is none of them.
[[nodiscard]] Part parse_part(std::string_view text);

/// Provenance of a model's training data: enough to read other files the same way, and to recreate the parts of the
/// split from the same source. Samples were processed in the order classes → shuffle → split → limit.
struct DataOrigin {
  TableLayout layout;                    ///< of a table
  std::optional<bool> degree_tags = {};  ///< of graphs: whether node degrees serve as node tags
  Index samples = 0;                     ///< of the source; 0 if unknown
  std::uint64_t checksum = 0;            ///< of the source's values
  std::optional<std::string> label;      ///< requested label column or array
  std::vector<std::string> classes;      ///< selected classes; empty: all
  std::optional<std::uint64_t> shuffle;  ///< seed
  std::optional<Split> split;            ///< absent if no sample was held out
  std::optional<Index> limit;            ///< maximum number of training samples

  [[nodiscard]] bool known() const { return samples > 0 || !layout.columns.empty(); }
  bool operator==(const DataOrigin&) const = default;
};

/// Returns a checksum of the values of the samples, in order.
[[nodiscard]] std::uint64_t sample_checksum(const Dataset& data);

[[nodiscard]] nlohmann::ordered_json origin_json(const DataOrigin& origin);
/// Throws Error{input} if `json` is not such a record or is inconsistent.
[[nodiscard]] DataOrigin parse_origin(const nlohmann::ordered_json& json);

/// Returns origin_json as text. Files store it as text since its nesting exceeds the depth that older versions parse.
[[nodiscard]] std::string origin_text(const DataOrigin& origin);
/// Throws Error{input} if `text` is not such a record.
[[nodiscard]] DataOrigin parse_origin_text(const std::string& text);

}  // namespace widelimit
