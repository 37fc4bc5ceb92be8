#pragma once

#include "tests/app/program.hpp"
#include "tests/paths.hpp"

#include <gtest/gtest.h>

#include <string>

namespace widelimit::test {

/// Skips the test if the script exits with status 77: no Chromium on this machine.
inline void expect_page_opens(const Folder& folder, const std::string& page, int figures) {
  const Finished opened = folder.run({"python3", open_page_script(), page, "--figures", std::to_string(figures)});
  if (opened.status == 77) GTEST_SKIP() << opened.out;
  EXPECT_EQ(opened.status, 0) << opened.out << opened.err;
}

}  // namespace widelimit::test
