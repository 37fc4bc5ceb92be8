#pragma once

#include "widelimit/report/file.hpp"

#include <sys/types.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace widelimit::bench {

/// Temporary folder for the exchange of inputs and results with a peer; removed with the object.
class Scratch {
 public:
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return folder_.path() / name; }

 private:
  TemporaryFolder folder_;
};

/// Returns the path of a script of `bench/peers`.
std::string peer_script(const std::string& name);

/// Returns the Python of the tree, which has NumPy, SciPy and scikit-learn.
std::string numpy_python();

/// Returns the Python of `.peers`, which has the programs that `scripts/setup_peers.sh` installs.
std::string peers_python();

/// Another program that solves the same problem. It stays alive between requests, so that its timings alternate with
/// ours: other load on the machine then affects both equally.
class Peer {
 public:
  /// Starts `command`, which prints "ready" once it has read its input; an empty program name starts nothing.
  /// If it cannot be started, `why_absent` returns the reason.
  Peer(const std::vector<std::string>& command, const std::filesystem::path& log);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  [[nodiscard]] bool present() const { return why_absent_.empty(); }
  [[nodiscard]] const std::string& why_absent() const { return why_absent_; }
  /// Sends one line and returns the reply line. Throws Error{resource} with the peer's last output if it terminated.
  std::string request(const std::string& line);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  [[nodiscard]] std::string read_line();
  [[nodiscard]] std::string last_output() const;

  std::filesystem::path log_;
  std::string why_absent_;
  pid_t process_ = -1;
  std::unique_ptr<std::FILE, Close> requests_;
  std::unique_ptr<std::FILE, Close> replies_;
};

}  // namespace widelimit::bench
