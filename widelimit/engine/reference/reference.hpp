#pragma once

#include "widelimit/engine/engine.hpp"

#include <memory>

namespace widelimit {

/// Creates the sequential long double engine, against which all other back ends are tested.
[[nodiscard]] std::unique_ptr<Engine> make_reference_engine();

}  // namespace widelimit
