#pragma once

#include "widelimit/base/error.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Parses "4GiB", "1.5G", "500MB" or "65536". Units of one letter or with an i are powers of 1024, units with only a B
/// are powers of 1000. Throws Error{usage} for any other text.
[[nodiscard]] std::size_t parse_bytes(std::string_view text);
/// Formats a size as "3.5 GiB".
[[nodiscard]] std::string bytes_text(double bytes);

/// Returns the memory that this process can still allocate without swapping: the minimum of what the system, its
/// control group and its address space limit (ulimit -v) leave; std::nullopt if none is known.
[[nodiscard]] std::optional<std::size_t> available_memory();
/// Returns half of the available memory, the usual limit of work that is done in pieces; 1 GiB if it is not known.
[[nodiscard]] std::size_t half_of_memory();

/// Returns whether the system can map `bytes` of address space now, by a trial mapping.
[[nodiscard]] bool address_space_has(std::size_t bytes);

/// Returns the peak memory use of this process; std::nullopt if the system does not report it.
[[nodiscard]] std::optional<std::size_t> peak_memory();

/// Throws Error{resource} if `bytes` for `what` exceed `limit` or, without a limit, the available memory. `advice` says
/// how to reduce the need; `remedies` are the corresponding actions of the caller.
void require_memory(double bytes, std::optional<std::size_t> limit, std::string_view what, std::string_view advice,
                    std::vector<Remedy> remedies = {Remedy::fewer_samples, Remedy::single_precision,
                                                    Remedy::more_memory});

}  // namespace widelimit
