#include "only_errors.hpp"
#include "widelimit/data/catalogue/catalogue.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return widelimit::only_errors(data, size,
                                [](widelimit::Bytes bytes) { (void)widelimit::parse_spec(widelimit::as_text(bytes)); });
}
