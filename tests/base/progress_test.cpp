#include "widelimit/base/progress.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

namespace widelimit::test {
namespace {

class Listener final : public Progress {
 public:
  explicit Listener(bool go_on) : go_on_(go_on) {}
  bool update(std::int64_t done, std::int64_t total, std::string_view) override {
    EXPECT_EQ(done, 0);
    EXPECT_EQ(total, 0);
    ++updates;
    return go_on_;
  }

  int updates = 0;

 private:
  bool go_on_;
};

TEST(StopIfAsked, AsksOnceAndThrowsOnlyWhereTheListenerSaysStop) {
  EXPECT_NO_THROW(stop_if_requested(nullptr));
  Listener progress(true);
  EXPECT_NO_THROW(stop_if_requested(&progress));
  EXPECT_EQ(progress.updates, 1);
  Listener leaving(false);
  try {
    stop_if_requested(&leaving);
    FAIL() << "went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::interrupted);
  }
  EXPECT_EQ(leaving.updates, 1);
}

}  // namespace
}  // namespace widelimit::test
