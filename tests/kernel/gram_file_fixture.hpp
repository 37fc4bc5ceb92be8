#pragma once

#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/file/gram_file.hpp"
#include "widelimit/kernel/file/write_gram.hpp"
#include "widelimit/report/file.hpp"

#include "tests/base/normal_rows.hpp"
#include "tests/base/thrown.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace widelimit::test {

inline const auto cpu = make_engine("cpu");

/// Expects the stored matrix to equal `expected` bitwise.
inline void expect_written(const std::filesystem::path& path, const std::string& name, const AnyMatrix& expected) {
  SCOPED_TRACE(name);
  const GramFile stored(path, name);
  const AnyMatrix found = stored.read(0, 0, stored.rows(), stored.cols());
  ASSERT_EQ(found.index(), expected.index());
  std::visit(
      [&](const auto& left) {
        const auto& right = std::get<std::decay_t<decltype(left)>>(expected);
        ASSERT_EQ(left.rows(), right.rows());
        ASSERT_EQ(left.cols(), right.cols());
        EXPECT_TRUE(std::equal(left.data(), left.data() + left.rows() * left.cols(), right.data()));
      },
      found);
}

/// Cancels the computation after `after` units.
class StopAfter final : public Progress {
 public:
  explicit StopAfter(std::int64_t after) : after_(after) {}
  bool update(std::int64_t done, std::int64_t, std::string_view unit) override {
    return unit != "pairs" || done < after_;
  }

 private:
  std::int64_t after_;
};

}  // namespace widelimit::test
