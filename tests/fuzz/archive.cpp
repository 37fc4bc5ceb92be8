#include "only_errors.hpp"
#include "widelimit/data/formats/byte_stream.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return widelimit::only_errors(data, size, [](widelimit::Bytes bytes) {
    (void)widelimit::unpack(bytes, "fuzz", {.memory = std::size_t{1} << 28});
  });
}
