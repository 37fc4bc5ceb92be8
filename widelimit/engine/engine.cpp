#include "widelimit/engine/engine.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"

namespace widelimit {

void Engine::for_each(Index count, const std::function<void(Index)>& task,
                      const std::function<void(Index)>& after) const {
  parallel_for(count, threads(), task, after);
}

void require_cpu(const Engine& engine, std::string_view work) {
  if (engine.name() == "cpu") return;
  fail(Code::usage, "{} are computed on the processor only; choose the back end cpu instead of {}", work,
       engine.name());
}

}  // namespace widelimit
