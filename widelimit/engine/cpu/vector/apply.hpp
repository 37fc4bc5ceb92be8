#pragma once

#include "widelimit/engine/cpu/features.hpp"
#include "widelimit/engine/cpu/vector/strip.hpp"

#include <optional>

namespace widelimit::cpu {

/// Features of one step on both sides of a strip.
template <typename T>
struct FeatureSides {
  const Features* row = nullptr;
  Index row_place = 0;
  bool row_varies = false;
  const Features* col = nullptr;
  Index col_place = 0;
  bool row_in_groups = false;

  [[nodiscard]] Sides<T> operator[](Index f) const {
    return {row->array<T>(f) + row_place, col->array<T>(f) + col_place, row_varies, row_in_groups};
  }
};

/// Returns the negative slope of a rectifier (relu 0, abs −1), or std::nullopt for other functions.
[[nodiscard]] std::optional<double> rectifier_slope(const Dual& dual);

/// Returns true if every step of the recipe has a float version: affine layers and the rectifier family. Other recipes
/// are computed in double and rounded on output.
[[nodiscard]] bool runs_in_float(const Recipe& recipe);

/// Applies affine, dual, layer_norm, dropout or join: the steps that act on every pair of places separately. `other` is
/// the strip that join adds.
template <typename T>
void apply(const Step& step, const FeatureSides<T>& features, const Strip<T>& other, const Strip<T>& strip);

}  // namespace widelimit::cpu
