#pragma once

#include "widelimit/report/file.hpp"

#include <sys/types.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace widelimit::bench {

/// A folder for inputs and answers on their way between us and a peer; gone with the object.
class Scratch {
 public:
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return folder_.path() / name; }

 private:
  TemporaryFolder folder_;
};

/// Another program that solves the same problem. It stays alive between questions, so that its timings and ours are
/// taken in turn: on a machine with other work, both then meet the same weather.
class Peer {
 public:
  /// Starts `command`, which answers "ready" once it has read its input; an empty program name starts nothing.
  /// Where it does not come, `why_absent` says why.
  Peer(const std::vector<std::string>& command, const std::filesystem::path& log);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  [[nodiscard]] bool present() const { return why_absent_.empty(); }
  [[nodiscard]] const std::string& why_absent() const { return why_absent_; }
  /// One line there, one line back. Error{resource} where the peer has died, with the end of what it wrote.
  std::string ask(const std::string& question);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  [[nodiscard]] std::string read_line();
  [[nodiscard]] std::string last_words() const;

  std::filesystem::path log_;
  std::string why_absent_;
  pid_t process_ = -1;
  std::unique_ptr<std::FILE, Close> questions_;
  std::unique_ptr<std::FILE, Close> answers_;
};

}  // namespace widelimit::bench
