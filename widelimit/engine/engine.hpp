#pragma once

#include "widelimit/engine/algebra.hpp"
#include "widelimit/engine/kernels.hpp"

#include <string>
#include <string_view>

namespace widelimit {

/// A compute back end: kernels of recipes, and dense linear algebra. The user selects it at run time (make_engine); it
/// is passed as an argument and never replaced by a fallback.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Name as in make_engine: "cpu", "reference", "cuda:0".
  [[nodiscard]] virtual std::string name() const = 0;
  /// One-line description for `doctor` and records: threads, vector instructions, BLAS.
  [[nodiscard]] virtual std::string description() const = 0;
  /// Number of host threads that it uses.
  [[nodiscard]] virtual int threads() const = 0;
  [[nodiscard]] virtual const Kernels& kernels() const = 0;
  [[nodiscard]] virtual const Algebra& algebra() const = 0;

  /// Runs host tasks task(0) … task(count − 1) in any order on the threads of the engine. `after`, if given, is called
  /// on the calling thread periodically and at the end with the number of finished tasks; it stops the work by
  /// throwing. The exception of the lowest task that throws is rethrown. Nested calls run sequentially.
  void for_each(Index count, const std::function<void(Index task)>& task,
                const std::function<void(Index done)>& after = {}) const;
};

/// Throws Error{usage} unless the engine is the cpu: `work` (e.g. "classical kernels") has no other implementation, and
/// a record must name the engine that computed it.
void require_cpu(const Engine& engine, std::string_view work);

}  // namespace widelimit
