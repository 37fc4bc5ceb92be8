#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace widelimit::test {

/// How a run of the program ended, and what it said.
struct Finished {
  int status = -1;  ///< 128 + signal where a signal ended it
  std::string out;
  std::string err;
  std::size_t peak_memory = 0;  ///< bytes resident at most

  /// Standard output as the one JSON record it must be.
  [[nodiscard]] nlohmann::json record() const { return nlohmann::json::parse(out); }
};

/// A folder of its own, removed at the end; runs start there.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return root_ / name; }
  void write(const std::string& name, const std::string& contents) const;
  /// Names of all that lies in the folder, sorted.
  [[nodiscard]] std::vector<std::string> names() const;

  /// Runs the program under test.
  [[nodiscard]] Finished widelimit(const std::vector<std::string>& arguments) const;
  /// The same, with an interrupt `after` its start, and not before standard error holds `text`.
  [[nodiscard]] Finished interrupted(const std::vector<std::string>& arguments, std::chrono::milliseconds after,
                                     const std::string& text = {}) const;
  /// The same, with any signal.
  [[nodiscard]] Finished signalled(const std::vector<std::string>& arguments, int signal,
                                   std::chrono::milliseconds after) const;
  /// The same, killed.
  [[nodiscard]] Finished killed(const std::vector<std::string>& arguments, std::chrono::milliseconds after) const;
  /// Runs any program.
  [[nodiscard]] Finished run(const std::vector<std::string>& words) const;

 private:
  std::filesystem::path root_;
};

}  // namespace widelimit::test
