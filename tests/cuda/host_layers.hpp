#pragma once

#include "widelimit/engine/enclosures.hpp"

#include <cstddef>
#include <memory>

namespace widelimit::test {

/// Transfers between the host and its emulated device by layers.
struct Transfers {
  std::size_t uploads = 0;
  std::size_t uploaded_bytes = 0;
  std::size_t downloads = 0;
  std::size_t downloaded_bytes = 0;
};

/// Layers on the host: the same passes as on a device, run sequentially.
template <std::floating_point T>
[[nodiscard]] std::unique_ptr<LayerPasses<T>> make_host_layers(Transfers& transfers);
[[nodiscard]] std::unique_ptr<EnclosurePasses> make_host_enclosures(Transfers& transfers);

}  // namespace widelimit::test
