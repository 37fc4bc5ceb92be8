#pragma once

#include "widelimit/base/error.hpp"
#include "widelimit/data/file/file.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace widelimit {

/// Runs `parse` on what libFuzzer made. Error is an answer; any other exception, or a fault, is a finding.
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
