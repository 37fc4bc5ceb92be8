#include "widelimit/engine/cuda/plugin/staging.hpp"

#include "widelimit/engine/cuda/plugin/cuda_device.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

namespace widelimit::cuda {

namespace {

constexpr std::size_t piece_bytes = std::size_t{8} << 20;
/// Smaller copies take at most a few milliseconds.
constexpr std::size_t least_bytes = std::size_t{32} << 20;
constexpr unsigned copying_threads = 4;

void copy_rows(const Rows& from, const Rows& to, std::size_t width, Index rows) {
  const auto copy = [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      std::memcpy(to.data + usize(i) * to.pitch, from.data + usize(i) * from.pitch, width);
    }
  };
  const Index parts = std::clamp<Index>(std::min(copying_threads, std::thread::hardware_concurrency()), 1, rows);
  std::vector<std::jthread> threads;
  Index part = 1;
  try {
    for (; part < parts; ++part) threads.emplace_back(copy, part * rows / parts, (part + 1) * rows / parts);
  } catch (const std::system_error&) {
    copy(part * rows / parts, rows);  // the system starts no more threads
  }
  copy(0, rows / parts);
}

Rows from_row(const Rows& rows, Index row) { return {rows.data + usize(row) * rows.pitch, rows.pitch}; }

void copy(const Rows& from, const Rows& to, std::size_t width, Index rows, cudaMemcpyKind kind, cudaStream_t stream) {
  check(cudaMemcpy2DAsync(to.data, to.pitch, from.data, from.pitch, width, usize(rows), kind, stream),
        kind == cudaMemcpyHostToDevice ? "copying to the device" : "copying from the device");
}

}  // namespace

Staging::~Staging() {
  for (const Piece& piece : pieces_) {
    if (piece.memory != nullptr) (void)cudaFreeHost(piece.memory);
    if (piece.moved != nullptr) (void)cudaEventDestroy(piece.moved);
  }
}

Index Staging::piece_rows(std::size_t width, Index rows) {
  if (width * usize(rows) < least_bytes || width > piece_bytes) return 0;
  for (Piece& piece : pieces_) {
    if (piece.moved != nullptr) continue;
    const auto pin = [&] {
      return cudaHostAlloc(reinterpret_cast<void**>(&piece.memory), piece_bytes, cudaHostAllocDefault);
    };
    if (piece.memory == nullptr && pin() != cudaSuccess) {
      (void)cudaGetLastError();
      piece.memory = nullptr;
      return 0;  // no more memory can be pinned: fallback to a plain copy
    }
    check(cudaEventCreateWithFlags(&piece.moved, cudaEventDisableTiming), "creating an event");
  }
  return static_cast<Index>(piece_bytes / width);
}

void Staging::up(const Rows& host, const Rows& device, std::size_t width, Index rows, cudaStream_t stream) {
  const Index height = piece_rows(width, rows);
  if (height == 0) {
    copy(host, device, width, rows, cudaMemcpyHostToDevice, stream);
  } else {
    std::size_t turn = 0;
    for (Index begin = 0; begin < rows; begin += height, turn = 1 - turn) {
      const Piece& piece = pieces_[turn];
      const Index count = std::min(height, rows - begin);
      check(cudaEventSynchronize(piece.moved), "copying to the device");
      copy_rows(from_row(host, begin), {piece.memory, width}, width, count);
      copy({piece.memory, width}, from_row(device, begin), width, count, cudaMemcpyHostToDevice, stream);
      check(cudaEventRecord(piece.moved, stream), "copying to the device");
    }
  }
  check(cudaStreamSynchronize(stream), "copying to the device");
}

void Staging::down(const Rows& device, const Rows& host, std::size_t width, Index rows, cudaStream_t stream) {
  const Index height = piece_rows(width, rows);
  if (height == 0) {
    copy(device, host, width, rows, cudaMemcpyDeviceToHost, stream);
    check(cudaStreamSynchronize(stream), "copying from the device");
    return;
  }
  const auto fetch = [&](Index begin, const Piece& piece) {
    const Index count = std::min(height, rows - begin);
    copy(from_row(device, begin), {piece.memory, width}, width, count, cudaMemcpyDeviceToHost, stream);
    check(cudaEventRecord(piece.moved, stream), "copying from the device");
  };
  fetch(0, pieces_[0]);
  std::size_t turn = 0;
  for (Index begin = 0; begin < rows; begin += height, turn = 1 - turn) {
    if (begin + height < rows) fetch(begin + height, pieces_[1 - turn]);
    check(cudaEventSynchronize(pieces_[turn].moved), "copying from the device");
    copy_rows({pieces_[turn].memory, width}, from_row(host, begin), width, std::min(height, rows - begin));
  }
}

}  // namespace widelimit::cuda
