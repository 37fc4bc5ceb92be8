#pragma once

#include "widelimit/base/error.hpp"
#include "widelimit/data/dataset.hpp"
#include "widelimit/data/file/file.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace widelimit {

/// Empty folder of one test, removed on destruction.
class Folder : public ::testing::Test {
 protected:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "widelimit-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Folder() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  std::filesystem::path put(const std::string& name, std::string_view contents) const {
    std::filesystem::create_directories(path(name).parent_path());
    std::ofstream(path(name), std::ios::binary) << contents;
    return path(name);
  }
  [[nodiscard]] std::size_t files() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++count;
    return count;
  }

 private:
  std::filesystem::path folder_;
};

/// Expects `call` to throw Error{code} whose message contains every one of `parts`.
template <typename Call>
void expect_error(Code code, std::initializer_list<std::string_view> parts, Call call) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const std::string_view part : parts) {
      EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos)
          << "'" << part << "' is not in: " << error.what();
    }
  }
}

inline double value(const Dataset& data, Index i, Index j) {
  return std::visit([&](const auto& m) { return static_cast<double>(m(i, j)); }, data.view().dense("tests"));
}

/// Returns a data set of doubles with classes "0", "1", ….
inline Dataset table(std::initializer_list<std::initializer_list<double>> rows, std::vector<Index> labels = {}) {
  Dataset data;
  data.name = "table";
  const Index columns = rows.size() == 0 ? 1 : std::ssize(*rows.begin());
  data.shape = {1, 1, columns};
  Matrix<double> m(std::ssize(rows), columns);
  Index i = 0;
  for (const auto& row : rows) std::copy(row.begin(), row.end(), m.view().row(i++));
  data.values = std::move(m);
  for (const Index label : labels) {
    while (std::ssize(data.class_names) <= label) data.class_names.push_back(std::to_string(data.class_names.size()));
  }
  data.labels = std::move(labels);
  return data;
}

}  // namespace widelimit
