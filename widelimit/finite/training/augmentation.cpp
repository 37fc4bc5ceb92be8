#include "widelimit/finite/training/augmentation.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/sample_team.hpp"

#include <algorithm>
#include <vector>

namespace widelimit {

namespace {

/// Disjoint from the streams of weights, batches and dropout.
constexpr std::uint64_t augmentation_stream = (std::uint64_t{1} << 49) + 2;

/// The transformation of one image.
struct Draw {
  bool flipped;
  Index down;
  Index right;
};

Draw draw(const Augmentation& how, const Random& random, std::uint64_t index) {
  const auto words = random.words(index);
  const auto moves = static_cast<std::uint32_t>(2 * how.crop + 1);
  const auto move = [&](std::uint32_t word) { return static_cast<Index>(word % moves) - how.crop; };
  return {how.flip && words[0] % 2 == 1, move(words[1]), move(words[2])};
}

template <std::floating_point T>
void change(const Draw& draw, const Shape& shape, const T* from, T* to) {
  for (Index i = 0; i < shape.height; ++i) {
    for (Index j = 0; j < shape.width; ++j, to += shape.channels) {
      const Index row = i - draw.down;
      const Index source_col = j - draw.right;
      const Index col = draw.flipped ? shape.width - 1 - source_col : source_col;
      if (row < 0 || row >= shape.height || source_col < 0 || source_col >= shape.width) {
        std::fill_n(to, shape.channels, T{0});
      } else {
        std::copy_n(from + (row * shape.width + col) * shape.channels, shape.channels, to);
      }
    }
  }
}

}  // namespace

void Augmentation::validate() const {
  constexpr Index most = 4095;
  if (crop < 0 || crop > most) fail(Code::usage, "crop = {}: choose 0 to {} pixels", crop, most);
}

template <std::floating_point T>
void augment(const Augmentation& how, std::uint64_t seed, Index step, Tensor<T>& batch, const Engine& engine) {
  const Random random(seed, augmentation_stream);
  const auto first = static_cast<std::uint64_t>(step) * static_cast<std::uint64_t>(batch.count());
  for_each_sample(batch.count(), batch.size(), engine, [&](Index n) {
    const std::vector<T> image(batch.sample(n), batch.sample(n) + batch.shape().size());
    change(draw(how, random, first + static_cast<std::uint64_t>(n)), batch.shape(), image.data(), batch.sample(n));
  });
}

template void augment(const Augmentation&, std::uint64_t, Index, Tensor<float>&, const Engine&);
template void augment(const Augmentation&, std::uint64_t, Index, Tensor<double>&, const Engine&);

}  // namespace widelimit
