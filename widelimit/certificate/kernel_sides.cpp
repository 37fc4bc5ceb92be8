#include "widelimit/certificate/kernel_sides.hpp"

namespace widelimit {

void SideScratch::resize(std::size_t size) {
  for (std::vector<double>* array : {&low, &high, &u, &factor, &value, &other, &side}) array->resize(size);
  turned.resize(size);
}

}  // namespace widelimit
