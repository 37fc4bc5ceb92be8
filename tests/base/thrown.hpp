#pragma once

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

namespace widelimit {

/// Returns the Error that `call` throws; fails the test if it throws none.
template <typename Call>
Error thrown_error(const Call& call) {
  try {
    (void)call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {Code{}, ""};
}

template <typename Call>
Code thrown_code(const Call& call) {
  return thrown_error(call).code();
}

}  // namespace widelimit
