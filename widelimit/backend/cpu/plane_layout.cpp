#include "widelimit/backend/cpu/plane_layout.hpp"

#include <algorithm>
#include <utility>

namespace widelimit::cpu {

namespace {

struct Move {
  Index to, from;
};

/// place → from(place) for every number of every array.
template <typename T, typename From>
GroupTrace<T> rearranged(const GroupTrace<T>& group, const From& from) {
  const auto rearrange = [&](const Matrix<T>& source) {
    Matrix<T> result(source.rows(), source.cols());
    const Index places = source.cols() / plane_lanes;
    for (Index f = 0; f < source.rows(); ++f) {
      const T* in = source.data() + f * source.cols();
      T* out = result.data() + f * source.cols();
      for (Index block = 0; block < places; block += plane_lanes) {  // a block stays in the first-level cache
        const Index end = std::min(places, block + plane_lanes);
        for (Index l = 0; l < plane_lanes; ++l) {
          for (Index p = block; p < end; ++p) {
            const Move move = from(p, l, places);
            out[move.to] = in[move.from];
          }
        }
      }
    }
    return result;
  };
  GroupTrace<T> result{rearrange(group.x), {}, group.scale};
  for (const auto& stage : group.ops) {
    result.ops.emplace_back();
    for (const OpTrace& op : stage) {
      OpTrace moved{{}, op.gain, op.constant, op.theta, op.plain};
      if constexpr (std::is_same_v<T, float>) {
        moved.features.f32 = rearrange(op.features.f32);
      } else {
        moved.features.f64 = rearrange(op.features.f64);
      }
      result.ops.back().push_back(std::move(moved));
    }
  }
  return result;
}

}  // namespace

template <typename T>
GroupTrace<T> image_by_image(const GroupTrace<T>& group) {
  return rearranged(group, [](Index p, Index l, Index places) { return Move{l * places + p, p * plane_lanes + l}; });
}

template <typename T>
GroupTrace<T> rotated(const GroupTrace<T>& group, Index shift, Index count) {
  const auto source = [&](Index l) { return (l + shift) % count; };
  GroupTrace<T> result = rearranged(group, [&](Index p, Index l, Index) {
    return Move{p * plane_lanes + l, p * plane_lanes + source(l)};
  });
  const auto rotate = [&](LaneNumbers& numbers) {
    const LaneNumbers before = numbers;
    for (Index l = 0; l < plane_lanes; ++l) {
      numbers[static_cast<std::size_t>(l)] = before[static_cast<std::size_t>(source(l))];
    }
  };
  for (auto& stage : result.ops) {
    for (OpTrace& op : stage) rotate(op.gain), rotate(op.constant), rotate(op.theta);
  }
  rotate(result.scale);
  return result;
}

template GroupTrace<float> image_by_image(const GroupTrace<float>&);
template GroupTrace<double> image_by_image(const GroupTrace<double>&);
template GroupTrace<float> rotated(const GroupTrace<float>&, Index, Index);
template GroupTrace<double> rotated(const GroupTrace<double>&, Index, Index);

}  // namespace widelimit::cpu
