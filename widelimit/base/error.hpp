#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace widelimit {

/// Category of an error: the exit status of the command line, and the exception type of Python.
enum class Code : int {
  usage = 2,          ///< the call itself is wrong: an unknown option, back end or name
  input = 3,          ///< bad data, file or network
  numerical = 4,      ///< no usable result: overflow, not positive definite
  resource = 5,       ///< not enough memory or disk
  interrupted = 130,  ///< stopped by the user
};

/// What a caller may change to get past an error. Messages say it in words; the command line and Python add the names
/// that they have for it.
enum class Remedy : std::uint8_t {
  resume,            ///< go on with what an earlier run finished
  begin_again,       ///< discard it
  more_memory,       ///< allow more
  fewer_samples,     ///< take a part of the data
  single_precision,  ///< numbers of half the size
  treat_missing,     ///< leave rows without a value out, or fill them
  choose_columns,    ///< leave columns of a table out, or read them as categories
  choose_task,       ///< classes or numbers
  image_shape,       ///< say which images flat samples are
  channels_first,    ///< say that images lie channel by channel
  mirror,            ///< fetch from another address
};

/// The one exception type of the library. Its message says what is wrong, where, and what to do.
class Error : public std::runtime_error {
 public:
  Error(Code code, const std::string& message, std::vector<Remedy> remedies = {})
      : std::runtime_error(message), code_(code), remedies_(std::move(remedies)) {}
  [[nodiscard]] Code code() const noexcept { return code_; }
  [[nodiscard]] const std::vector<Remedy>& remedies() const noexcept { return remedies_; }

 private:
  Code code_;
  std::vector<Remedy> remedies_;
};

/// Throws Error with a formatted message.
template <typename... Args>
[[noreturn]] void fail(Code code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

/// The same, with remedies.
template <typename... Args>
[[noreturn]] void fail(Code code, std::vector<Remedy> remedies, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...), std::move(remedies));
}

}  // namespace widelimit
