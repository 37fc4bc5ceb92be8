#include "widelimit/data/formats/images/cifar.hpp"
#include "only_errors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return widelimit::only_errors(data, size,
                                [](widelimit::Bytes bytes) { (void)widelimit::parse_cifar(bytes, "fuzz"); });
}
