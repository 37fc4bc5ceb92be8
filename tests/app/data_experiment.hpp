#pragma once

#include "tests/app/program.hpp"
#include "tests/paths.hpp"

#include "widelimit/data/file/location.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace widelimit::test {

/// Fixture of an experiment on data that may be absent.
class DataExperiment : public testing::Test {
 protected:
  /// Skips the test unless `files`, paths relative to a data folder, exist in the same data folder.
  void need(const std::vector<std::string>& files, const char* what) {
    const auto found = find_data_file(files);
    if (!found) GTEST_SKIP() << "no " << what << " in $WIDELIMIT_DATA or the cache";
    data_ = std::filesystem::absolute(*found);
    for (const auto& part : std::filesystem::path(files.front())) {
      if (!part.empty()) data_ = data_.parent_path();
    }
  }

  /// Passes the data folder explicitly, as runs start in a temporary folder.
  [[nodiscard]] Finished run(const std::vector<std::string>& words) const {
    std::vector<std::string> all{"env", "WIDELIMIT_DATA=" + data_.string(), program_path()};
    all.insert(all.end(), words.begin(), words.end());
    return folder.run(all);
  }

  Folder folder;

 private:
  std::filesystem::path data_;
};

}  // namespace widelimit::test
