#include "widelimit/engine/cpu/plane/plane_layout.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace widelimit::cpu {

namespace {

struct Move {
  Index to, from;
};

/// place → from(place) for every number of every array.
template <typename T, typename From>
void rearrange(const GroupTrace<T>& group, const From& from, GroupTrace<T>& to) {
  const auto fill = [&](const Matrix<T>& source, Matrix<T>& result) {
    if (result.rows() != source.rows() || result.cols() != source.cols()) {
      result = Matrix<T>(source.rows(), source.cols());
    }
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
  };
  fill(group.x, to.x);
  to.scale = group.scale;
  to.ops.resize(group.ops.size());
  for (std::size_t s = 0; s < group.ops.size(); ++s) {
    to.ops[s].resize(group.ops[s].size());
    for (std::size_t k = 0; k < group.ops[s].size(); ++k) {
      const OpTrace& op = group.ops[s][k];
      OpTrace& moved = to.ops[s][k];
      moved.gain = op.gain, moved.constant = op.constant, moved.theta = op.theta, moved.plain = op.plain;
      if constexpr (std::is_same_v<T, float>) {
        fill(op.features.f32, moved.features.f32);
      } else {
        fill(op.features.f64, moved.features.f64);
      }
      moved.features.terms = op.features.terms;
      moved.features.function = op.features.function;
    }
  }
}

}  // namespace

template <typename T>
void image_by_image(const GroupTrace<T>& group, GroupTrace<T>& to) {
  rearrange(
      group,
      [](Index p, Index l, Index places) {
        return Move{l * places + p, p * plane_lanes + l};
      },
      to);
}

template <typename T>
void rotated(const GroupTrace<T>& group, Index shift, Index count, GroupTrace<T>& to) {
  std::array<Index, static_cast<std::size_t>(plane_lanes)> source{};
  for (Index l = 0; l < plane_lanes; ++l) source[static_cast<std::size_t>(l)] = (l + shift) % count;
  rearrange(
      group,
      [&](Index p, Index l, Index) {
        return Move{p * plane_lanes + l, p * plane_lanes + source[static_cast<std::size_t>(l)]};
      },
      to);
  const auto rotate = [&](LaneNumbers& numbers) {
    const LaneNumbers before = numbers;
    for (std::size_t l = 0; l < source.size(); ++l) numbers[l] = before[static_cast<std::size_t>(source[l])];
  };
  for (auto& stage : to.ops) {
    for (OpTrace& op : stage) rotate(op.gain), rotate(op.constant), rotate(op.theta);
  }
  rotate(to.scale);
}

template void image_by_image(const GroupTrace<float>&, GroupTrace<float>&);
template void image_by_image(const GroupTrace<double>&, GroupTrace<double>&);
template void rotated(const GroupTrace<float>&, Index, Index, GroupTrace<float>&);
template void rotated(const GroupTrace<double>&, Index, Index, GroupTrace<double>&);

}  // namespace widelimit::cpu
