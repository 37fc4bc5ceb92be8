#pragma once

#include "tests/app/program.hpp"

#include "widelimit/data/file/location.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace widelimit::test {

/// An experiment on data that need not be there.
class DataExperiment : public testing::Test {
 protected:
  /// Names below the data folder, all in the same folder of it.
  void need(const std::vector<std::string>& files, const char* what) {
    const auto found = find_data_file(files);
    if (!found) GTEST_SKIP() << "no " << what << " in $WIDELIMIT_DATA or the cache";
    data_ = std::filesystem::absolute(*found);
    for (const auto& part : std::filesystem::path(files.front())) {
      if (!part.empty()) data_ = data_.parent_path();
    }
  }

  /// Runs start in a folder of their own, so the data folder is passed to them.
  [[nodiscard]] Finished run(const std::vector<std::string>& words) const {
    std::vector<std::string> all{"env", "WIDELIMIT_DATA=" + data_.string(), WIDELIMIT_PROGRAM};
    all.insert(all.end(), words.begin(), words.end());
    return folder.run(all);
  }

  Folder folder;

 private:
  std::filesystem::path data_;
};

}  // namespace widelimit::test
