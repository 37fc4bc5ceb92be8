#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace widelimit {

/// Error category; determines the exit status of the command line and the Python exception type.
enum class Code : int {
  usage = 2,          ///< invalid call: unknown option, back end or name
  input = 3,          ///< invalid data, file or network
  numerical = 4,      ///< no usable result: overflow, not positive definite
  resource = 5,       ///< not enough memory or disk
  interrupted = 130,  ///< stopped by the user
};

/// Action by which a caller can resolve an error. Messages describe it in words; the command line and the Python
/// package append the name of the matching option or argument.
enum class Remedy : std::uint8_t {
  resume,            ///< resume an earlier run
  begin_again,       ///< discard the earlier run
  more_memory,       ///< raise the memory limit
  fewer_samples,     ///< use a subset of the data
  single_precision,  ///< use float32
  treat_missing,     ///< drop or impute missing values
  choose_columns,    ///< drop table columns or treat them as categorical
  choose_task,       ///< set the task: classification or regression
  image_shape,       ///< give the image shape of flat samples
  channels_first,    ///< declare that images are stored channels first
  mirror,            ///< download from another address
  ignore_labels,     ///< read samples without their labels
  more_directions,   ///< draw more random directions
  direction_limit,   ///< raise the limit on random directions
};

/// The only exception type of the library. The message says what is wrong, where, and what to do.
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

/// Same, with remedies.
template <typename... Args>
[[noreturn]] void fail(Code code, std::vector<Remedy> remedies, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...), std::move(remedies));
}

}  // namespace widelimit
