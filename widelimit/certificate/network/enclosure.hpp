#pragma once

#include "widelimit/engine/enclosures.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/finite/layers/tensor.hpp"

namespace widelimit {

/// The numbers of a tensor where an engine works, in its own memory or in that of the host: to be read, to be
/// overwritten as a whole, to be changed.
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

/// Every value v of a layer, for all inputs of a ball: |v − centre| ≤ radius as real numbers, each sample with its own
/// ball. Radii hold what rounding did to the centres, so that the statement is one about the network and not about this
/// program's arithmetic.                                               [docs/theory/certificates.md#finite-networks]
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
