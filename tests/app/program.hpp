#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace widelimit::test {

/// Exit status and output of a run of the program.
struct Finished {
  int status = -1;  ///< 128 + signal if a signal ended the run
  std::string out;
  std::string err;
  /// Peak resident bytes; 0 if they are not known, because this process, whose peak a child inherits, has had more.
  std::size_t peak_memory = 0;

  /// Parses standard output as one JSON record.
  [[nodiscard]] nlohmann::json record() const { return nlohmann::json::parse(out); }
};

/// Temporary folder in which runs start; removed by the destructor.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return root_ / name; }
  void write(const std::string& name, const std::string& contents) const;
  /// Returns the sorted names of all entries of the folder.
  [[nodiscard]] std::vector<std::string> names() const;

  /// Runs the program under test.
  [[nodiscard]] Finished widelimit(const std::vector<std::string>& arguments) const;
  /// Same, with SIGINT `after` its start, but not before standard error contains `text`.
  [[nodiscard]] Finished interrupted(const std::vector<std::string>& arguments, std::chrono::milliseconds after,
                                     const std::string& text = {}) const;
  /// Same, with any signal.
  [[nodiscard]] Finished signalled(const std::vector<std::string>& arguments, int signal,
                                   std::chrono::milliseconds after) const;
  /// Same, with SIGKILL.
  [[nodiscard]] Finished killed(const std::vector<std::string>& arguments, std::chrono::milliseconds after) const;
  /// Runs any program.
  [[nodiscard]] Finished run(const std::vector<std::string>& words) const;
  /// Same, with SIGINT as in `interrupted`.
  [[nodiscard]] Finished run_interrupted(const std::vector<std::string>& words, std::chrono::milliseconds after,
                                         const std::string& text) const;

 private:
  std::filesystem::path root_;
};

}  // namespace widelimit::test
