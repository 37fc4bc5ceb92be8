#pragma once

#include "widelimit/base/error.hpp"
#include "widelimit/network/network.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Expects `call` to throw Error{input} with a short message that contains all parts; `text` is the input.
inline void expect_refused(const std::function<void()>& call, std::string_view text,
                           const std::vector<std::string>& parts) {
  try {
    call();
    FAIL() << "no error in: " << text.substr(0, 200);
  } catch (const Error& problem) {
    EXPECT_EQ(problem.code(), Code::input);
    const std::string message = problem.what();
    EXPECT_LT(message.size(), 1000U);
    for (const std::string& part : parts)
      EXPECT_NE(message.find(part), std::string::npos) << message << "\n no " << part;
  }
}

inline void expect_error(std::string_view text, const std::vector<std::string>& parts) {
  expect_refused([text] { (void)Network::parse(text); }, text, parts);
}

}  // namespace widelimit
