#include "widelimit/engine/cuda/plane/plane_path.hpp"

#include "widelimit/base/interruption.hpp"
#include "widelimit/engine/overflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace widelimit::cuda {

namespace {

/// Limits of one chunk, which takes at most about a second.
constexpr Index most_pooled_pairs = 1 << 14;
constexpr Index most_flat_pairs = 1 << 18;
constexpr Index images_of_an_upload = 4096;

std::size_t register_record_bytes(const LoweredPlanes& lowered) {
  return lowered.registers ? usize(lowered.registers->tables()) * usize(table_bytes) : 0;
}

/// The pairs of a rectangle (if `symmetric`, only those above the diagonal), in square blocks of edge² pairs. The last
/// image is repeated to fill a partial block; blocks on the diagonal are complete.
class PairList {
 public:
  PairList(Range rows, Range cols, bool symmetric, Index edge)
      : rows_(rows), cols_(cols), symmetric_(symmetric), edge_(edge) {
    restart();
  }

  /// Returns the next at most `count` pairs, in whole blocks; empty at the end.
  std::vector<ImagePair> next(Index count) {
    std::vector<ImagePair> pairs;
    while (i_ < rows_.end && static_cast<Index>(pairs.size()) + edge_ * edge_ <= count) {
      if (j_ >= cols_.end) {
        i_ += edge_;
        restart();
        continue;
      }
      for (Index k = 0; k < edge_ * edge_; ++k) {
        pairs.push_back({static_cast<int>(std::min(i_ + k / edge_, rows_.end - 1)),
                         static_cast<int>(std::min(j_ + k % edge_, cols_.end - 1))});
      }
      j_ += edge_;
    }
    return pairs;
  }

 private:
  /// Blocks on the diagonal are included unless a block is a single pair.
  void restart() { j_ = symmetric_ ? cols_.begin + (i_ - rows_.begin) + (edge_ == 1 ? 1 : 0) : cols_.begin; }

  Range rows_, cols_;
  bool symmetric_;
  Index edge_;
  Index i_ = rows_.begin;
  Index j_ = 0;
};

}  // namespace

/// Buffers between the stages of a chunk of pairs, and its results.
class PlanePath::Scratch {
 public:
  Scratch(const PlanePath& path, Index pairs) : count(std::min(pairs, path.most_pairs())) {
    std::size_t most = path.register_bytes();
    for (std::size_t s = 0; s < path.lowered_.stages.size(); ++s) most = std::max(most, path.bytes_after(s));
    const auto capacity = static_cast<Index>(path.scratch_bytes_ / (2 * std::max<std::size_t>(most, 1)));
    const Index square = path.square_edge() * path.square_edge();
    count = std::max(square, std::min(capacity, count + square) / square * square);
    for (DeviceBuffer& buffer : between) buffer = DeviceBuffer(path.device_, most * usize(count));
    values = DeviceBuffer(path.device_, sizeof(double) * usize(count * path.lowered_.outputs));
    list = DeviceBuffer(path.device_, sizeof(ImagePair) * usize(count));
  }

  Index count;  ///< pairs per chunk
  DeviceBuffer between[2], values, list;
};

PlanePath::PlanePath(std::shared_ptr<Device> device, const Recipe& recipe, Precision precision,
                     std::size_t scratch_bytes)
    : device_(std::move(device)),
      recipe_(recipe),
      precision_(precision),
      lowered_(lower_planes(recipe, precision, device_->planes().register_memory())),
      scratch_bytes_(scratch_bytes) {
  for (const LoweredStage& stage : lowered_.stages) {
    steps_.push_back(DeviceBuffer::of<PlaneStep>(device_, stage.steps));
    dy_.push_back(DeviceBuffer::of<std::int32_t>(device_, stage.dy));
    dx_.push_back(DeviceBuffer::of<std::int32_t>(device_, stage.dx));
  }
}

std::string plane_route(const LoweredPlanes& lowered) {
  Index planes = 0;
  for (const cpu::PlaneStage& stage : lowered.program.stages) {
    if (stage.begin.positions() > 1) planes += static_cast<Index>(stage.dy.size() * stage.dx.size());
  }
  return fmt::format("displacement planes ({}) on the device{}, {}", planes,
                     lowered.registers ? ", those of the first layers in registers" : "",
                     lowered.arithmetic == Precision::f32 ? "float" : "double");
}

Index PlanePath::most_pairs() const { return recipe_.all_pairs ? most_pooled_pairs : most_flat_pairs; }

Index PlanePath::square_edge() const {
  return lowered_.registers && lowered_.readout == RegisterReadout::flat ? flat_edge : 1;
}

std::size_t PlanePath::register_bytes() const {
  if (!lowered_.registers) return 0;
  const RegisterStack& stack = *lowered_.registers;
  const auto width = static_cast<std::size_t>(stack.width);
  switch (lowered_.readout) {
    case RegisterReadout::pool:
      return 2 * width * pooled_part_size(stack) * sizeof(float);
    case RegisterReadout::total:
      return 2 * width * sizeof(double);
    default:
      return 2 * sizeof(double);
  }
}

std::size_t PlanePath::bytes_after(std::size_t s) const {
  const LoweredStage& stage = lowered_.stages[s];
  const auto arrays = static_cast<std::size_t>(1 + recipe_.channels);
  if (stage.sink == PlaneSink::planes) return arrays * usize(kept_size(stage.end)) * size_of(lowered_.arithmetic);
  return stage.sink == PlaneSink::sums ? arrays * usize(stage.planes()) * sizeof(double) : 0;
}

std::size_t record_bytes(const LoweredPlanes& lowered) {
  return usize(lowered.record_size) * size_of(lowered.arithmetic) + register_record_bytes(lowered) + sizeof(double);
}

template <typename T>
PlaneImages PlanePath::load_as(const SampleView& x, int threads, const std::function<void(Index)>& after) const {
  PlaneImages images;
  images.count = x.count();
  const std::size_t record = usize(lowered_.record_size) * sizeof(T);
  const std::size_t tables = register_record_bytes(lowered_);
  images.records = DeviceBuffer(device_, record * usize(images.count));
  images.registers = DeviceBuffer(device_, tables * usize(images.count));
  images.scales = DeviceBuffer(device_, sizeof(double) * usize(images.count));
  for (Index begin = 0; begin < images.count; begin += images_of_an_upload) {
    const Range range{begin, std::min(images.count, begin + images_of_an_upload)};
    const auto traced =
        trace_records<T>(recipe_, lowered_, x, range, precision_, threads, [&](Index done) { after(begin + done); });
    device_->upload_bytes(traced.records.data(), record * usize(range.size()),
                          images.records.data<char>() + record * usize(begin));
    device_->upload_bytes(traced.scales.data(), sizeof(double) * usize(range.size()),
                          images.scales.data<double>() + begin);
    images.error = std::max(images.error, traced.error);
    if (!lowered_.registers) continue;
    auto* to = reinterpret_cast<float*>(images.registers.data<char>() + tables * usize(begin));
    device_->upload_bytes(traced.registers.data(), tables * usize(range.size()), to);
    device_->planes().trace_images(*lowered_.registers, to, static_cast<int>(range.size()));
  }
  return images;
}

PlaneImages PlanePath::load(const SampleView& x, int threads, const std::function<void(Index)>& after) const {
  return lowered_.arithmetic == Precision::f32 ? load_as<float>(x, threads, after) : load_as<double>(x, threads, after);
}

PlaneStageCall PlanePath::call_of(std::size_t s) const {
  const LoweredStage& stage = lowered_.stages[s];
  PlaneStageCall call;
  call.steps = steps_[s].data<PlaneStep>();
  call.step_count = static_cast<std::int32_t>(stage.steps.size());
  call.begin = stage.begin;
  call.end = stage.end;
  call.stride_begin = stage.stride_begin;
  call.wraps = stage.wraps;
  call.dy = dy_[s].data<std::int32_t>();
  call.dx = dx_[s].data<std::int32_t>();
  call.dy_count = static_cast<std::int32_t>(stage.dy.size());
  call.dx_count = static_cast<std::int32_t>(stage.dx.size());
  call.channels = static_cast<std::int32_t>(recipe_.channels);
  call.levels = stage.levels;
  call.largest = stage.largest;
  call.source = stage.source;
  call.source_scale = stage.source_scale;
  call.source_numbers = stage.source_numbers;
  call.source_arrays = s == 0 && lowered_.registers ? 2 : 1 + call.channels;
  call.fine = stage.fine;
  call.pool_size = stage.pool_size;
  call.pool_strides = stage.pool_strides;
  call.pool_offset = stage.pool_offset;
  call.sink = stage.sink;
  if (s > 0) call.sum_count = static_cast<std::int32_t>(lowered_.stages[s - 1].sum_count());
  if (s == 0 && lowered_.registers) {
    call.sum_count = lowered_.readout == RegisterReadout::total ? lowered_.registers->width : 1;
  }
  call.nngp_slot = lowered_.emit.nngp_slot;
  call.ntk_slot = lowered_.emit.ntk_slot;
  call.ntk_count = lowered_.emit.ntk_count;
  call.record_size = lowered_.record_size;
  call.input_channels = lowered_.input_channels;
  return call;
}

void PlanePath::run_registers(const Sides& sides, const ImagePair* pairs, int count, void* to) const {
  const RegisterStack& stack = *lowered_.registers;
  const auto* first = sides.first.registers.data<float>();
  const auto* second = sides.second.registers.data<float>();
  switch (lowered_.readout) {
    case RegisterReadout::pool:
      return device_->planes().pool_planes(stack, first, second, pairs, count, static_cast<float*>(to));
    case RegisterReadout::total:
      return device_->planes().sum_planes(stack, first, second, pairs, count, static_cast<double*>(to));
    default:
      return device_->planes().sum_equal(stack, first, second, pairs, count, static_cast<double*>(to));
  }
}

void PlanePath::run_chunk(const Sides& sides, std::span<const ImagePair> pairs, const Scratch& scratch) const {
  device_->upload_bytes(pairs.data(), pairs.size_bytes(), scratch.list.data());
  const auto count = static_cast<int>(pairs.size());
  const auto* list = scratch.list.data<ImagePair>();
  if (lowered_.registers) run_registers(sides, list, count, scratch.between[1].data());
  for (std::size_t s = 0; s < lowered_.stages.size(); ++s) {
    PlaneStageCall call = call_of(s);
    call.from = scratch.between[(s + 1) % 2].data();
    call.to = call.sink == PlaneSink::outputs ? scratch.values.data() : scratch.between[s % 2].data();
    call.first = sides.first.records.data();
    call.second = sides.second.records.data();
    call.first_scale = sides.first.scales.data<double>();
    call.second_scale = sides.second.scales.data<double>();
    call.pairs = list;
    call.pair_count = count;
    call.self = sides.self;
    const auto& packed = lowered_.stages[s].packed;
    packed ? device_->planes().run_packed(call, *packed) : device_->planes().run_stage(call, lowered_.arithmetic);
  }
}

void PlanePath::fill(const PlaneImages& x1, Range rows, const PlaneImages& x2, Range cols, bool symmetric,
                     std::span<const PlaneOutput> outputs, const std::function<void(Index)>& after) const {
  PairList list(rows, cols, symmetric, square_edge());
  const Scratch scratch(*this, rows.size() * cols.size());
  const Index all = symmetric ? rows.size() * (rows.size() + 1) / 2 : rows.size() * cols.size();
  Index done = 0;
  std::vector<ImagePair> pairs = list.next(scratch.count);
  while (!pairs.empty()) {
    run_chunk({x1, x2, false}, pairs, scratch);
    const auto count = static_cast<int>(pairs.size());
    // Overlaps with the work of the device.
    std::vector<ImagePair> following = list.next(scratch.count);
    for (std::size_t slot = 0; slot < outputs.size(); ++slot) {
      const int bad = device_->planes().write(scratch.values.data<double>() + slot * pairs.size(),
                                              scratch.list.data<ImagePair>(), count, static_cast<int>(rows.begin),
                                              static_cast<int>(cols.begin), symmetric, outputs[slot]);
      if (bad >= 0) {
        const ImagePair& pair = pairs[usize(bad)];
        report_overflow(static_cast<Index>(slot), pair.first, pair.second, outputs[slot].precision);
      }
    }
    done += count;
    interruption_point();
    after(std::min(done, all));
    pairs = std::move(following);
  }
}

void PlanePath::diagonal(const PlaneImages& x, MatrixView<double> values,
                         const std::function<void(Index)>& after) const {
  const Index edge = square_edge();
  const Scratch scratch(*this, x.count * edge);
  std::vector<double> found(usize(scratch.count));
  for (Index begin = 0; begin < x.count;) {
    const Index end = std::min(x.count, begin + scratch.count / edge);
    std::vector<ImagePair> pairs;
    for (Index i = begin; i < end; i += edge) {
      const Range square{i, std::min(end, i + edge)};
      const std::vector<ImagePair> some = PairList(square, square, false, edge).next(edge * edge);
      pairs.insert(pairs.end(), some.begin(), some.end());
    }
    run_chunk({x, x, true}, pairs, scratch);
    for (Index slot = 0; slot < lowered_.outputs; ++slot) {
      device_->download_bytes(scratch.values.data<double>() + slot * static_cast<Index>(pairs.size()),
                              sizeof(double) * pairs.size(), found.data());
      for (std::size_t k = 0; k < pairs.size(); ++k) {
        if (pairs[k].first != pairs[k].second) continue;
        if (!std::isfinite(found[k])) report_overflow(slot, pairs[k].first, pairs[k].first, Precision::f64);
        values(slot, pairs[k].first) = found[k];
      }
    }
    begin = end;
    interruption_point();
    after(begin);
  }
}

void write_diagonal(const std::shared_ptr<Device>& device, MatrixView<const double> values, Range samples,
                    std::span<const PlaneOutput> outputs) {
  if (samples.size() == 0) return;
  std::vector<ImagePair> pairs;
  for (Index i = samples.begin; i < samples.end; ++i) pairs.push_back({static_cast<int>(i), static_cast<int>(i)});
  const DeviceBuffer list = DeviceBuffer::of<ImagePair>(device, pairs);
  const auto begin = static_cast<int>(samples.begin);
  for (std::size_t slot = 0; slot < outputs.size(); ++slot) {
    const std::span<const double> row{values.row(static_cast<Index>(slot)) + samples.begin, pairs.size()};
    const DeviceBuffer found = DeviceBuffer::of<double>(device, row);
    const int bad = device->planes().write(found.data<double>(), list.data<ImagePair>(), static_cast<int>(pairs.size()),
                                           begin, begin, false, outputs[slot]);
    if (bad >= 0) report_overflow(static_cast<Index>(slot), begin + bad, begin + bad, outputs[slot].precision);
  }
}

}  // namespace widelimit::cuda
