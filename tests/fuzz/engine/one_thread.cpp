#include "widelimit/base/error.hpp"
#include "widelimit/engine/select.hpp"

/// The engine of readers alone: one thread, and neither kernels nor algebra, which nothing that reads a file needs.
namespace widelimit {

namespace {

class OneThread final : public Engine {
 public:
  [[nodiscard]] std::string name() const override { return "one thread"; }
  [[nodiscard]] std::string description() const override { return "one thread"; }
  [[nodiscard]] int threads() const override { return 1; }
  [[nodiscard]] const Kernels& kernels() const override { fail(Code::usage, "a reader asked for kernels"); }
  [[nodiscard]] const Algebra& algebra() const override { fail(Code::usage, "a reader asked for algebra"); }
};

}  // namespace

const Engine& all_processors() {
  static const OneThread engine;
  return engine;
}

}  // namespace widelimit
