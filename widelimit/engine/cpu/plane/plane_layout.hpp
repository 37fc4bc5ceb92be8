#pragma once

#include "widelimit/engine/cpu/plane/plane_trace.hpp"

/// Other orders of what 16 images bring along: the column side of a batch reads it as it was made, the row side one
/// image at a time, or, within a group, lane by lane with the lanes turned round.
/// `to` keeps its memory from call to call.
namespace widelimit::cpu {

/// The same numbers, image by image: place p of lane l at lP + p.
template <typename T>
void image_by_image(const GroupTrace<T>& group, GroupTrace<T>& to);
/// Lane l holds image (l + shift) mod `count`.
template <typename T>
void rotated(const GroupTrace<T>& group, Index shift, Index count, GroupTrace<T>& to);

}  // namespace widelimit::cpu
