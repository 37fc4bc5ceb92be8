#include "widelimit/engine/engine.hpp"

#include "widelimit/base/error.hpp"

namespace widelimit {

void require_cpu(const Engine& engine, std::string_view work) {
  if (engine.name() == "cpu") return;
  fail(Code::usage, "{} are computed on the processor only; choose the back end cpu instead of {}", work,
       engine.name());
}

}  // namespace widelimit
