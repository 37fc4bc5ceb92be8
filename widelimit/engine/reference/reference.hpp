#pragma once

#include "widelimit/engine/backend.hpp"

#include <memory>

namespace widelimit {

/// Sequential, readable, long double: the oracle of every other back end.
[[nodiscard]] std::unique_ptr<Backend> make_reference_backend();

}  // namespace widelimit
