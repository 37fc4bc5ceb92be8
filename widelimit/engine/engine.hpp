#pragma once

#include "widelimit/engine/algebra.hpp"
#include "widelimit/engine/kernels.hpp"

#include <string>
#include <string_view>

namespace widelimit {

/// Where work happens: kernels of recipes, and dense algebra on what they fill. Chosen by the user at run time
/// (make_engine), passed on as an argument, never replaced by another in silence.
class Engine {
 public:
  virtual ~Engine() = default;

  /// As the user writes it: "cpu", "reference", "cuda:0".
  [[nodiscard]] virtual std::string name() const = 0;
  /// One line for `doctor` and for records: threads, vector instructions, BLAS.
  [[nodiscard]] virtual std::string description() const = 0;
  /// Threads of the host that work for it.
  [[nodiscard]] virtual int threads() const = 0;
  [[nodiscard]] virtual const Kernels& kernels() const = 0;
  [[nodiscard]] virtual const Algebra& algebra() const = 0;

  /// Work of the host beside the engine's: task(0) … task(count − 1), in any order, on its threads. `after`, where
  /// given, is called on the calling thread from time to time and at the end with the number of finished tasks; it
  /// stops the work by throwing. The exception of the lowest task that throws is rethrown. Within a task, for_each is
  /// sequential.
  void for_each(Index count, const std::function<void(Index task)>& task,
                const std::function<void(Index done)>& after = {}) const;
};

/// Error{usage} unless the engine is the processor's: `work` ("certificates") has no other, and a record must not
/// name one that did not do it.
void require_cpu(const Engine& engine, std::string_view work);

}  // namespace widelimit
