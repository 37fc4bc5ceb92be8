#include "widelimit/engine/cuda/place/place_fill.hpp"

#include "widelimit/base/interruption.hpp"
#include "widelimit/engine/cuda/place/place_run.hpp"
#include "widelimit/engine/cuda/plane/plane_path.hpp"
#include "widelimit/engine/overflow.hpp"
#include "widelimit/recipe/quadrature/logistic_mixture.hpp"

#include <algorithm>
#include <array>

namespace widelimit::cuda {

namespace {

/// Limits of one chunk, which takes at most about a second.
constexpr Index most_pairs = 1 << 16;
constexpr std::int64_t most_values = std::int64_t{1} << 24;

/// Size classes of pair states: pairs of one class are launched together, since smaller states allow more concurrent
/// teams. Pairs beyond the last class, or beyond the memory of a team, are processed pass by pass.
constexpr std::array<std::int64_t, 8> team_classes{1 << 11, 1 << 12, 1 << 13, 1 << 14,
                                                   1 << 15, 1 << 16, 1 << 17, 1 << 18};

/// Returns the units that have samples in a range.
Range units_of(const LoadedPlaces& x, Range samples) {
  if (x.first_sample.empty() || samples.size() == 0) return samples;
  const auto unit = [&](Index sample) {
    return std::ranges::upper_bound(x.first_sample, static_cast<std::int32_t>(sample)) - x.first_sample.begin() - 1;
  };
  return {unit(samples.begin), unit(samples.end - 1) + 1};
}

Range samples_of(const LoadedPlaces& x, Index unit, Range samples) {
  if (x.first_sample.empty()) return {unit, unit + 1};
  return {std::max<Index>(samples.begin, x.first_sample[usize(unit)]),
          std::min<Index>(samples.end, x.first_sample[usize(unit) + 1])};
}

/// Returns the largest number of samples of a unit.
std::int32_t most_samples(const LoadedPlaces& x) {
  std::int32_t most = 1;
  for (std::size_t u = 0; u + 1 < x.first_sample.size(); ++u) {
    most = std::max(most, x.first_sample[u + 1] - x.first_sample[u]);
  }
  return most;
}

PlaceSamples samples_view(const LoadedPlaces& x) {
  return {x.device_first_sample.data<std::int32_t>(), x.device_place.data<std::int32_t>()};
}

}  // namespace

/// Pairs computed together, sorted by size class.
struct PlaceFill::Chunk {
  struct Class {
    std::int32_t begin = 0, end = 0;
    std::int64_t bytes = 0;  ///< of the largest pair
  };
  std::vector<UnitPair> pairs;
  std::vector<std::int64_t> memory_at;
  std::vector<std::int64_t> values_at;
  std::vector<Class> teams;
  Class rest;                          ///< processed pass by pass; bytes: total
  std::vector<std::int64_t> elements;  ///< of each pass: maximum number of results per pair in `rest`
  std::int64_t values = 0;
  Index entries = 0;
};

/// Splits the pairs of a matrix into chunks.
class PlaceFill::Chunks {
 public:
  Chunks(const PlaceFill& fill, const LoadedPlaces& x1, Range rows, const LoadedPlaces& x2, Range cols, bool symmetric)
      : fill_(fill),
        x1_(x1),
        x2_(x2),
        rows_(rows),
        cols_(cols),
        symmetric_(symmetric),
        units_(units_of(x1, rows)),
        col_units_(units_of(x2, cols)),
        last_(fill.lowered_.levels.back().after),
        i_(units_.begin),
        j_(first_col()) {}

  /// Returns the next chunk; empty at the end.
  Chunk next() {
    std::array<std::vector<UnitPair>, team_classes.size() + 1> sorted;
    std::array<std::int64_t, team_classes.size()> largest{};
    Chunk chunk;
    Index count = 0;
    for (; i_ < units_.end; ++i_, j_ = first_col()) {
      for (; j_ < col_units_.end; ++j_) {
        const std::int32_t* rows = x1_.units.places(i_);
        const std::int32_t* cols = x2_.units.places(j_);
        const std::int64_t bytes = fill_.pair_bytes(rows, cols);
        const std::int64_t values = std::int64_t{rows[last_]} * cols[last_];
        const auto c = usize(std::ranges::lower_bound(team_classes, bytes) - team_classes.begin());
        const bool in_team = c < team_classes.size() && bytes <= fill_.team_bytes_;
        const bool fits = in_team || chunk.rest.bytes + bytes <= static_cast<std::int64_t>(fill_.scratch_bytes_);
        if (count > 0 && (count == most_pairs || !fits || chunk.values + values > fill_.most_values_)) {
          return finished(std::move(chunk), sorted, largest);
        }
        if (in_team) {
          largest[c] = std::max(largest[c], bytes);
        } else {
          chunk.rest.bytes += bytes;
          const std::vector<PlacePass>& passes = fill_.lowered_.passes;
          chunk.elements.resize(passes.size());
          for (std::size_t k = 0; k < passes.size(); ++k) {
            chunk.elements[k] = std::max(chunk.elements[k], extent_size(passes[k].after, rows, cols));
          }
        }
        sorted[in_team ? c : team_classes.size()].push_back({static_cast<int>(i_), static_cast<int>(j_)});
        chunk.values += values;
        chunk.entries += entries();
        ++count;
      }
    }
    return finished(std::move(chunk), sorted, largest);
  }

 private:
  [[nodiscard]] Index first_col() const {
    if (!symmetric_) return col_units_.begin;
    return i_ + (x1_.first_sample.empty() ? 1 : 0);  // with node samples, a graph also pairs with itself
  }
  /// Number of matrix entries that the current pair of units yields.
  [[nodiscard]] Index entries() const {
    const Index rows = samples_of(x1_, i_, rows_).size();
    const Index cols = samples_of(x2_, j_, cols_).size();
    return symmetric_ && i_ == j_ ? rows * (rows - 1) / 2 : rows * cols;
  }

  template <typename Sorted, typename Largest>
  [[nodiscard]] Chunk finished(Chunk chunk, const Sorted& sorted, const Largest& largest) const {
    std::int64_t memory = 0;
    std::int64_t values = 0;
    for (std::size_t c = 0; c < sorted.size(); ++c) {
      const bool in_team = c < largest.size();
      Chunk::Class range{static_cast<std::int32_t>(chunk.pairs.size()), 0, in_team ? largest[c] : chunk.rest.bytes};
      for (const UnitPair& pair : sorted[c]) {
        const std::int32_t* rows = x1_.units.places(pair.first);
        const std::int32_t* cols = x2_.units.places(pair.second);
        chunk.pairs.push_back(pair);
        chunk.memory_at.push_back(memory);
        chunk.values_at.push_back(values);
        if (!in_team) memory += fill_.pair_bytes(rows, cols);
        values += std::int64_t{rows[last_]} * cols[last_];
      }
      range.end = static_cast<std::int32_t>(chunk.pairs.size());
      if (!in_team) {
        chunk.rest = range;
      } else if (range.end > range.begin) {
        chunk.teams.push_back(range);
      }
    }
    return chunk;
  }

  const PlaceFill& fill_;
  const LoadedPlaces& x1_;
  const LoadedPlaces& x2_;
  Range rows_, cols_;
  bool symmetric_;
  Range units_, col_units_;
  std::int32_t last_;
  Index i_, j_;
};

/// Buffers of one chunk, reused by the next.
struct PlaceFill::Scratch {
  struct Growing {
    DeviceBuffer buffer;
    std::size_t bytes = 0;
    void grow(const std::shared_ptr<Device>& device, std::size_t required) {
      if (required <= bytes) return;
      buffer = DeviceBuffer();
      buffer = DeviceBuffer(device, required);
      bytes = required;
    }
    template <typename T>
    const T* put(const std::shared_ptr<Device>& device, const std::vector<T>& list) {
      grow(device, list.size() * sizeof(T));
      device->upload_bytes(list.data(), list.size() * sizeof(T), buffer.data());
      return buffer.template data<T>();
    }
  };
  Growing pairs, memory_at, values_at, memory, values;
};

PlaceFill::PlaceFill(std::shared_ptr<Device> device, const Recipe& recipe, LoweredPlaces lowered,
                     std::size_t scratch_bytes)
    : device_(std::move(device)),
      lowered_(std::move(lowered)),
      scratch_bytes_(scratch_bytes),
      channels_(static_cast<std::int32_t>(recipe.channels)),
      outputs_(static_cast<std::int32_t>(recipe.outputs)),
      most_values_(std::min(most_values, static_cast<std::int64_t>(scratch_bytes / sizeof(double)) / outputs_)),
      input_channels_(static_cast<std::int32_t>(recipe.input.channels)),
      team_bytes_(device_->places().team_bytes()) {
  std::vector<DenseMixture> mixture;
  for (const MixtureTerm& term : logistic_mixture()) mixture.push_back({term.deviation, term.weight});
  mixture_count_ = static_cast<std::int32_t>(mixture.size());
  passes_ = DeviceBuffer::of<PlacePass>(device_, lowered_.passes);
  steps_ = DeviceBuffer::of<DenseStep>(device_, lowered_.steps);
  constants_ = DeviceBuffer::of<double>(device_, lowered_.constants);
  taps_ = DeviceBuffer::of<std::int32_t>(device_, lowered_.taps);
  buffers_ = DeviceBuffer::of<PlaceExtent>(device_, lowered_.buffers);
  mixture_ = DeviceBuffer::of<DenseMixture>(device_, mixture);
}

std::int64_t PlaceFill::pair_bytes(const std::int32_t* rows, const std::int32_t* cols) const {
  const auto count = static_cast<std::int32_t>(lowered_.buffers.size());
  return lowered_.arithmetic == Precision::f32
             ? buffer_bytes<float>(lowered_.buffers.data(), count, channels_, rows, cols)
             : buffer_bytes<double>(lowered_.buffers.data(), count, channels_, rows, cols);
}

PlaceCall PlaceFill::call_of(const LoadedPlaces& x1, const LoadedPlaces& x2) const {
  PlaceCall call;
  call.first = x1.units.view();
  call.second = x2.units.view();
  call.passes = passes_.data<PlacePass>();
  call.pass_count = static_cast<std::int32_t>(lowered_.passes.size());
  call.buffers = buffers_.data<PlaceExtent>();
  call.buffer_count = static_cast<std::int32_t>(lowered_.buffers.size());
  call.entries = static_cast<std::int32_t>(lowered_.levels.size()) + 1;
  call.levels = lowered_.level_count;
  call.channels = channels_;
  call.input_channels = x1.tagged ? 0 : input_channels_;
  call.taps = taps_.data<std::int32_t>();
  call.steps = steps_.data<DenseStep>();
  call.constants = constants_.data<double>();
  call.mixture = mixture_.data<DenseMixture>();
  call.mixture_count = mixture_count_;
  return call;
}

void PlaceFill::launch(const Chunk& chunk, PlaceCall call, Scratch& scratch) const {
  call.pairs = scratch.pairs.put(device_, chunk.pairs);
  call.memory_at = scratch.memory_at.put(device_, chunk.memory_at);
  call.values_at = scratch.values_at.put(device_, chunk.values_at);
  scratch.memory.grow(device_, usize(chunk.rest.bytes));
  scratch.values.grow(device_, usize(outputs_ * chunk.values) * sizeof(double));
  call.memory = scratch.memory.buffer.data<char>();
  call.values = scratch.values.buffer.data<double>();
  call.values_stride = chunk.values;
  for (const Chunk::Class& some : chunk.teams) {
    device_->places().run_teams(call, lowered_.arithmetic, some.begin, some.end, some.bytes);
  }
  if (chunk.rest.begin == chunk.rest.end) return;
  for (std::size_t k = 0; k < lowered_.passes.size(); ++k) {
    device_->places().run_pass(call, lowered_.passes[k], lowered_.arithmetic, chunk.rest.begin, chunk.rest.end,
                               chunk.elements[k]);
  }
}

void PlaceFill::fill(const LoadedPlaces& x1, Range rows, const LoadedPlaces& x2, Range cols, bool symmetric,
                     std::span<const PlaneOutput> outputs, const std::function<void(Index)>& after) const {
  Chunks chunks(*this, x1, rows, x2, cols, symmetric);
  const PlaceCall call = call_of(x1, x2);
  Scratch scratch;
  PlaceWrite write;
  write.first = samples_view(x1);
  write.second = samples_view(x2);
  write.second_places = call.second.places;
  write.levels = lowered_.level_count;
  write.last_level = lowered_.levels.back().after;
  write.most_rows = most_samples(x1);
  write.most_cols = most_samples(x2);
  write.row_begin = static_cast<std::int32_t>(rows.begin);
  write.row_end = static_cast<std::int32_t>(rows.end);
  write.col_begin = static_cast<std::int32_t>(cols.begin);
  write.col_end = static_cast<std::int32_t>(cols.end);
  write.mirrored = symmetric;
  Index done = 0;
  Chunk chunk = chunks.next();
  while (!chunk.pairs.empty()) {
    launch(chunk, call, scratch);
    Chunk following = chunks.next();  // while the device works
    write.values_at = scratch.values_at.buffer.data<std::int64_t>();
    write.pairs = scratch.pairs.buffer.data<UnitPair>();
    write.pair_count = static_cast<std::int32_t>(chunk.pairs.size());
    for (std::size_t slot = 0; slot < outputs.size(); ++slot) {
      write.values = scratch.values.buffer.data<double>() + static_cast<std::int64_t>(slot) * chunk.values;
      write.to = outputs[slot];
      const PlaceOverflow bad = device_->places().write(write);
      if (bad.row >= 0) report_overflow(static_cast<Index>(slot), bad.row, bad.col, outputs[slot].precision);
    }
    done += chunk.entries;
    interruption_point();
    after(done);
    chunk = std::move(following);
  }
  if (!symmetric) return;
  write_diagonal(device_, x1.diagonal.view(), rows, outputs);
  after(done + rows.size());
}

}  // namespace widelimit::cuda
