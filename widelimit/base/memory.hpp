#pragma once

#include "widelimit/base/error.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Bytes of "4GiB", "1.5G", "500MB", "65536". One letter and the forms with i count in powers of 1024, those with B
/// alone in powers of 1000. Error{usage} says what was expected.
[[nodiscard]] std::size_t parse_bytes(std::string_view text);
/// "3.5 GiB".
[[nodiscard]] std::string bytes_text(double bytes);

/// Memory this process could still take without swapping, by the system's account, the limits of its control group and
/// its own limit of address space (ulimit -v); nothing where none is known.
[[nodiscard]] std::optional<std::size_t> available_memory();

/// Whether the system would grant so much address space now. Takes it and gives it back.
[[nodiscard]] bool address_space_has(std::size_t bytes);

/// Peak memory use of this process so far; empty where the system does not report it.
[[nodiscard]] std::optional<std::size_t> peak_memory();

/// Error{resource} where `bytes` for `what` exceed `limit`, or, without one, the memory available. `advice` says how
/// to need less, and `remedies` what of it a caller can ask for.
void require_memory(double bytes, std::optional<std::size_t> limit, std::string_view what, std::string_view advice,
                    std::vector<Remedy> remedies = {Remedy::fewer_samples, Remedy::single_precision,
                                                    Remedy::more_memory});

}  // namespace widelimit
