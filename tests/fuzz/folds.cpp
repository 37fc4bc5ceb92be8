#include "widelimit/data/labels/folds.hpp"
#include "only_errors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return widelimit::only_errors(data, size, [](widelimit::Bytes bytes) {
    const std::vector<widelimit::SplitRows> folds = widelimit::parse_folds(bytes, "folds");
    (void)widelimit::check_folds(
        folds, 20, std::vector<widelimit::Index>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1});
  });
}
