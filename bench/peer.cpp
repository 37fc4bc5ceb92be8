#include "bench/peer.hpp"

#include "widelimit/base/error.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>

namespace widelimit::bench {

std::string peer_script(const std::string& name) { return WIDELIMIT_TREE "/bench/peers/" + name; }
std::string numpy_python() { return WIDELIMIT_TREE "/.venv/bin/python"; }
std::string peers_python() { return WIDELIMIT_TREE "/.peers/bin/python"; }

Peer::Peer(const std::vector<std::string>& command, const std::filesystem::path& log) : log_(log) {
  if (command.front().empty()) {
    why_absent_ = "not requested";
    return;
  }
  const bool in_a_folder = command.front().find('/') != std::string::npos;  // else found through $PATH
  if (in_a_folder && !std::filesystem::exists(command.front())) {
    why_absent_ =
        fmt::format("{} was not found; install it with scripts/setup.sh and scripts/setup_peers.sh", command.front());
    return;
  }
  std::signal(SIGPIPE, SIG_IGN);  // a peer that dies must not terminate the benchmark
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) fail(Code::resource, "cannot make a pipe");
  requests_.reset(fdopen(in[1], "w"));
  replies_.reset(fdopen(out[0], "r"));

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int status = posix_spawnp(&process_, command.front().c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  if (status != 0) {
    process_ = -1;
    why_absent_ = fmt::format("{} cannot be started", command.front());
  } else if (read_line() != "ready") {
    why_absent_ = "it exited immediately: " + last_output();
  }
}

Peer::~Peer() {
  if (process_ < 0) return;
  requests_.reset();  // the peer exits at the end of its input
  int status = 0;
  waitpid(process_, &status, 0);
}

std::string Peer::request(const std::string& line) {
  std::fputs((line + "\n").c_str(), requests_.get());
  std::fflush(requests_.get());
  std::string reply = read_line();
  if (reply.empty()) fail(Code::resource, "the peer terminated at '{}': {}", line, last_output());
  return reply;
}

std::string Peer::read_line() {
  std::string line;
  for (int c = std::fgetc(replies_.get()); c != EOF && c != '\n'; c = std::fgetc(replies_.get())) {
    line.push_back(static_cast<char>(c));
  }
  return line;
}

std::string Peer::last_output() const {
  std::ifstream log(log_);
  std::string last;
  for (std::string line; std::getline(log, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace widelimit::bench
