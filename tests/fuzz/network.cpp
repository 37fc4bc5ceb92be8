#include "widelimit/network/network.hpp"

#include "only_errors.hpp"

#include <nlohmann/json.hpp>

/// Text, presets and JSON are parsed by the same function. Every accepted network must survive writing and reading.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return widelimit::only_errors(data, size, [](widelimit::Bytes bytes) {
    const widelimit::Network network = widelimit::Network::parse(widelimit::as_text(bytes));
    if (!(widelimit::Network::parse(network.to_text()) == network)) __builtin_trap();
    if (!(widelimit::Network::from_json(network.to_json()) == network)) __builtin_trap();
  });
}
