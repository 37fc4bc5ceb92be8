#include "widelimit/kernel/file/fingerprint.hpp"

#include "widelimit/base/checksum.hpp"

#include <fmt/format.h>

namespace widelimit {

namespace {

std::string value_text(const Fingerprint& fingerprint, const std::string& key) {
  if (!fingerprint.is_object() || !fingerprint.contains(key)) return "none";
  const auto& value = fingerprint.at(key);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

std::string describe_samples(const SampleView& x) {
  return std::visit(
      [&](const auto& rows) {
        std::uint64_t sum = sizeof(*rows.data);
        for (Index i = 0; i < rows.rows; ++i) {
          sum = checksum(std::as_bytes(std::span(rows.row(i), static_cast<std::size_t>(rows.cols))), sum);
        }
        return fmt::format("{} samples of {}, checksum {:016x}", rows.rows, to_string(x.shape), sum);
      },
      x.values);
}

std::string difference(const Fingerprint& there, const Fingerprint& here) {
  std::string text;
  const auto compare = [&](const std::string& key) {
    const std::string old_value = value_text(there, key);
    const std::string new_value = value_text(here, key);
    if (old_value == new_value) return;
    text += fmt::format("{}{}: {} there, {} here", text.empty() ? "" : "; ", key, old_value, new_value);
  };
  for (const auto& item : here.items()) compare(item.key());
  if (!there.is_object()) return text;
  for (const auto& item : there.items()) {
    if (!here.contains(item.key())) compare(item.key());
  }
  return text;
}

}  // namespace widelimit
