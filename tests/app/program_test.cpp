#include "tests/app/program.hpp"
#include "tests/paths.hpp"

#include "widelimit/base/memory.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace widelimit::test {

namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

[[noreturn]] void become(const std::vector<std::string>& words, const fs::path& folder, const fs::path& out,
                         const fs::path& err) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int flags = O_WRONLY | O_CREAT | O_TRUNC;
  ::dup2(::open(out.c_str(), flags, 0600), STDOUT_FILENO);
  ::dup2(::open(err.c_str(), flags, 0600), STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);  // runs must not inherit descriptors of the tests
  if (::chdir(folder.c_str()) == 0) ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

/// Sends signal `number`, unless it is 0, some time after the start and once standard error contains `text`.
struct Signal {
  int number = 0;
  std::chrono::milliseconds after{0};
  std::string text = {};
};

Finished run_in(const fs::path& folder, const std::vector<std::string>& words, const Signal& signal) {
  const fs::path out = folder.string() + ".out";
  const fs::path err = folder.string() + ".err";
  const std::size_t own_peak = widelimit::peak_memory().value_or(0);
  const pid_t child = ::fork();
  if (child == 0) become(words, folder, out, err);
  if (signal.number != 0) {
    std::this_thread::sleep_for(signal.after);
    const auto ended = [&] {
      siginfo_t found{};
      return ::waitid(P_PID, static_cast<id_t>(child), &found, WEXITED | WNOWAIT | WNOHANG) != 0 || found.si_pid != 0;
    };
    while (contents(err).find(signal.text) == std::string::npos && !ended()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ::kill(child, signal.number);
  }
  int ending = 0;
  struct rusage usage {};
  ::wait4(child, &ending, 0, &usage);
  Finished result{WIFEXITED(ending) ? WEXITSTATUS(ending) : 128 + WTERMSIG(ending), contents(out), contents(err)};
  const std::size_t peak = static_cast<std::size_t>(usage.ru_maxrss) * 1024;
  if (peak > own_peak) result.peak_memory = peak;
  fs::remove(out);
  fs::remove(err);
  return result;
}

std::vector<std::string> with_program(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{program_path()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

}  // namespace

Folder::Folder() {
  std::string name = (fs::temp_directory_path() / "widelimit-app-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  root_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void Folder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
}

std::vector<std::string> Folder::names() const {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(root_)) found.push_back(entry.path().filename().string());
  std::sort(found.begin(), found.end());
  return found;
}

Finished Folder::widelimit(const std::vector<std::string>& arguments) const {
  return run_in(root_, with_program(arguments), {});
}

Finished Folder::interrupted(const std::vector<std::string>& arguments, std::chrono::milliseconds after,
                             const std::string& text) const {
  return run_interrupted(with_program(arguments), after, text);
}

Finished Folder::signalled(const std::vector<std::string>& arguments, int signal,
                           std::chrono::milliseconds after) const {
  return run_in(root_, with_program(arguments), {.number = signal, .after = after});
}

Finished Folder::killed(const std::vector<std::string>& arguments, std::chrono::milliseconds after) const {
  return run_in(root_, with_program(arguments), {.number = SIGKILL, .after = after});
}

Finished Folder::run(const std::vector<std::string>& words) const { return run_in(root_, words, {}); }

Finished Folder::run_interrupted(const std::vector<std::string>& words, std::chrono::milliseconds after,
                                 const std::string& text) const {
  return run_in(root_, words, {.number = SIGINT, .after = after, .text = text});
}

TEST(Program, TellsItsVersion) {
  const Finished run = Folder().widelimit({"--version"});
  EXPECT_EQ(run.status, 0);
  EXPECT_TRUE(run.out.starts_with("widelimit "));
}

}  // namespace widelimit::test
