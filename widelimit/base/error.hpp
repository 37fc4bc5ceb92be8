#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace widelimit {

/// Category of an error: the exit status of the command line, and the exception type of Python.
enum class Code : int {
  usage = 2,          ///< the call itself is wrong: an unknown option, back end or name
  input = 3,          ///< bad data, file or network
  numerical = 4,      ///< no usable result: overflow, not positive definite
  resource = 5,       ///< not enough memory or disk
  interrupted = 130,  ///< stopped by the user
};

/// The one exception type of the library. Its message says what is wrong, where, and what to do.
class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] Code code() const noexcept { return code_; }

 private:
  Code code_;
};

/// Throws Error with a formatted message.
template <typename... Args>
[[noreturn]] void fail(Code code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace widelimit
