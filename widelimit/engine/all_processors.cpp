#include "widelimit/engine/cpu/cpu.hpp"
#include "widelimit/engine/select.hpp"

namespace widelimit {

const Engine& all_processors() {
  static const std::unique_ptr<Engine> engine = make_cpu_engine(0);
  return *engine;
}

}  // namespace widelimit
