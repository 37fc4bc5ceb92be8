#pragma once

#include "widelimit/base/error.hpp"
#include "widelimit/data/file/file.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace widelimit {

/// Runs `parse` on fuzzer input. Error is expected; any other exception or a crash is a finding.
template <typename Parse>
int only_errors(const std::uint8_t* data, std::size_t size, Parse parse) {
  try {
    parse(std::as_bytes(std::span(data, size)));
  } catch (const Error&) {
    return 0;
  }
  return 0;
}

}  // namespace widelimit
