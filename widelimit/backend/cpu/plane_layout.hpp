#pragma once

#include "widelimit/backend/cpu/plane_trace.hpp"

/// Other orders of what 16 images bring along: the column side of a batch reads it as it was made, the row side one
/// image at a time, or, within a group, lane by lane with the lanes turned round.
namespace widelimit::cpu {

/// The same numbers, image by image: place p of lane l at lP + p.
template <typename T>
[[nodiscard]] GroupTrace<T> image_by_image(const GroupTrace<T>& group);
/// Lane l holds image (l + shift) mod `count`.
template <typename T>
[[nodiscard]] GroupTrace<T> rotated(const GroupTrace<T>& group, Index shift, Index count);

}  // namespace widelimit::cpu
