#include "widelimit/engine/cuda/plugin/fetch_lanes.hpp"

#include "widelimit/engine/cuda/plugin/cuda_device.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace widelimit::cuda {

namespace {

/// Bytes per piece: large enough for the full bus bandwidth, small enough for the CPU cache.
constexpr std::size_t piece_bytes = std::size_t{4} << 20;

}  // namespace

class FetchLanes::Lane {
 public:
  Lane() = default;
  ~Lane() {
    if (stream_ != nullptr) (void)cudaStreamSynchronize(stream_);
    for (const Piece& piece : pieces_) {
      if (piece.arrived != nullptr) (void)cudaEventDestroy(piece.arrived);
      if (piece.pinned != nullptr) (void)cudaFreeHost(piece.pinned);
    }
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Returns false if no host memory can be pinned.
  [[nodiscard]] bool open() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
    for (Piece& piece : pieces_) {
      if (cudaHostAlloc(&piece.pinned, piece_bytes, cudaHostAllocDefault) != cudaSuccess) {
        (void)cudaGetLastError();
        piece.pinned = nullptr;
        return false;
      }
      check(cudaEventCreateWithFlags(&piece.arrived, cudaEventDisableTiming), "creating an event");
    }
    return true;
  }

  void fetch(const Array& from, const HostArray& to) {
    const std::size_t size = to.precision == Precision::f32 ? sizeof(float) : sizeof(double);
    // Rows longer than a piece are split; each piece then lies within one row.
    const auto width = static_cast<Index>(std::min(usize(from.cols), piece_bytes / size));
    const Index height = std::max<Index>(1, static_cast<Index>(piece_bytes / (usize(width) * size)));
    std::size_t next = 0;
    for (Index row = 0; row < from.rows; row += height) {
      for (Index col = 0; col < from.cols; col += width) {
        Piece& piece = pieces_[next];
        next = 1 - next;
        finish(piece);
        piece.rows = std::min(height, from.rows - row);
        piece.row_bytes = usize(std::min(width, from.cols - col)) * size;
        piece.pitch = usize(to.stride) * size;
        piece.to = static_cast<char*>(to.data) + usize(row) * piece.pitch + usize(col) * size;
        const auto* const source = static_cast<const char*>(from.data) + usize(row * from.stride + col) * size;
        check(cudaMemcpy2DAsync(piece.pinned, piece.row_bytes, source, usize(from.stride) * size, piece.row_bytes,
                                usize(piece.rows), cudaMemcpyDeviceToHost, stream_),
              "copying from the device");
        check(cudaEventRecord(piece.arrived, stream_), "copying from the device");
      }
    }
    finish(pieces_[next]);
    finish(pieces_[1 - next]);
  }

 private:
  struct Piece {
    void* pinned = nullptr;
    cudaEvent_t arrived = nullptr;
    char* to = nullptr;
    std::size_t pitch = 0;
    std::size_t row_bytes = 0;
    Index rows = 0;  ///< rows in transfer, not yet copied to `to`
  };

  static void finish(Piece& piece) {
    if (piece.rows == 0) return;
    check(cudaEventSynchronize(piece.arrived), "copying from the device");
    const auto* pinned = static_cast<const char*>(piece.pinned);
    for (Index i = 0; i < piece.rows; ++i) {
      std::memcpy(piece.to + usize(i) * piece.pitch, pinned + usize(i) * piece.row_bytes, piece.row_bytes);
    }
    piece.rows = 0;
  }

  cudaStream_t stream_ = nullptr;
  std::array<Piece, 2> pieces_;
};

FetchLanes::FetchLanes() = default;
FetchLanes::~FetchLanes() = default;

std::unique_ptr<FetchLanes::Lane> FetchLanes::take() {
  {
    const std::lock_guard lock(guard_);
    if (!free_.empty()) {
      std::unique_ptr<Lane> lane = std::move(free_.back());
      free_.pop_back();
      return lane;
    }
  }
  auto lane = std::make_unique<Lane>();
  return lane->open() ? std::move(lane) : nullptr;
}

void FetchLanes::give(std::unique_ptr<Lane> lane) {
  const std::lock_guard lock(guard_);
  free_.push_back(std::move(lane));
}

bool FetchLanes::fetch(const Array& from, const HostArray& to) {
  if (from.rows == 0 || from.cols == 0) return true;
  std::unique_ptr<Lane> lane = take();
  if (!lane) return false;
  lane->fetch(from, to);  // a failed lane is not reused
  give(std::move(lane));
  return true;
}

}  // namespace widelimit::cuda
