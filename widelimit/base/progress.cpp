#include "widelimit/base/progress.hpp"

#include "widelimit/base/error.hpp"

namespace widelimit {

void stop_if_asked(Progress* progress) {
  if (progress != nullptr && !progress->update(0, 0, "")) fail(Code::interrupted, "stopped between two pieces of work");
}

}  // namespace widelimit
