#pragma once

#include "widelimit/engine/engine.hpp"

#include <memory>

namespace widelimit {

/// Sequential, readable, long double: the oracle of every other back end.
[[nodiscard]] std::unique_ptr<Engine> make_reference_engine();

}  // namespace widelimit
