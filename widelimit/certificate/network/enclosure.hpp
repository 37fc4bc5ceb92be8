#pragma once

#include "widelimit/engine/enclosures.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/layers/tensor.hpp"

namespace widelimit {

/// Return the data of a tensor in the memory where the engine works (its own or the host's), for reading, for
/// overwriting all of it, or for modifying it.
[[nodiscard]] inline const double* read_where(const Tensor<double>& tensor, const Engine& engine) {
  const auto& layers = layers_of<double>(engine);
  return layers ? tensor.read(layers).data : tensor.data();
}
[[nodiscard]] inline double* write_where(Tensor<double>& tensor, const Engine& engine) {
  const auto& layers = layers_of<double>(engine);
  return layers ? tensor.write(layers).data : tensor.data();
}
[[nodiscard]] inline double* update_where(Tensor<double>& tensor, const Engine& engine) {
  const auto& layers = layers_of<double>(engine);
  return layers ? tensor.update(layers).data : tensor.data();
}

/// Every value v of a layer for all inputs in a ball: |v − centre| ≤ radius in real arithmetic, with one ball per
/// sample. Radii include the rounding errors of centres, so that the statement holds for the network itself, not only
/// for the computed values. [docs/theory/certificates.md#finite-networks]
struct Enclosure {
  Tensor<double> centre;
  Tensor<double> radius;

  [[nodiscard]] Index count() const { return centre.count(); }
  void resize(Index count, const Shape& shape) {
    centre.resize(count, shape);
    radius.resize(count, shape);
  }

  [[nodiscard]] ConstEnclosureView read(const Engine& engine) const {
    return {read_where(centre, engine), read_where(radius, engine)};
  }
  [[nodiscard]] EnclosureView write(const Engine& engine) {
    return {write_where(centre, engine), write_where(radius, engine)};
  }
  [[nodiscard]] EnclosureView update(const Engine& engine) {
    return {update_where(centre, engine), update_where(radius, engine)};
  }
};

}  // namespace widelimit
