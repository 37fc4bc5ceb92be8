#include "widelimit/engine/enclosures.hpp"

#include "widelimit/engine/enclosure/layer_enclosures.hpp"
#include "widelimit/engine/layered_engine.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace widelimit {

namespace {

/// One thread per row.
struct OneThread {
  [[nodiscard]] static int rank() { return 0; }
  [[nodiscard]] static int size() { return 1; }
  [[nodiscard]] static double sum(double value) { return value; }
};

/// Passes as host loops; long loops are split over the threads of the engine.
class HostLoops {
 public:
  explicit HostLoops(const Engine& engine) : engine_(engine) {}

  template <typename Pass>
  void each(Index count, const Pass& pass) const {
    in_pieces(count, piece_numbers, [&](Index begin, Index end) { run(pass, begin, end); });
  }
  template <typename Pass>
  void rows(Index count, const Pass& pass) const {
    in_pieces(count, 256, [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) pass(row, OneThread());
    });
  }
  template <typename Pass>
  void cells(Index rows, Index cols, const Pass& pass) const {
    in_pieces(rows, std::max<Index>(1, piece_numbers / std::max<Index>(1, cols)), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) run_row(pass, row, cols);
    });
  }
  struct Unlocked {};
  [[nodiscard]] static Unlocked lock() { return {}; }
  [[nodiscard]] void* scratch(std::size_t bytes) {
    scratch_.resize(bytes / sizeof(double) + 1);
    return scratch_.data();
  }
  static void upload(const void* from, std::size_t bytes, void* to) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }

 private:
  static constexpr Index piece_numbers = Index{1} << 17;

  /// Takes the pass by value, so that the compiler can assume that writes do not alias its members.
  template <typename Pass>
  static void run(Pass pass, Index begin, Index end) {
    for (Index i = begin; i < end; ++i) pass(i);
  }
  template <typename Pass>
  static void run_row(Pass pass, Index row, Index cols) {
    for (Index col = 0; col < cols; ++col) pass(row, col);
  }
  template <typename Piece>
  void in_pieces(Index count, Index size, const Piece& piece) const {
    if (count <= size) return piece(Index{0}, count);
    engine_.for_each((count + size - 1) / size, [&](Index p) { piece(p * size, std::min(count, (p + 1) * size)); });
  }

  const Engine& engine_;
  std::vector<double> scratch_;
};

}  // namespace

std::shared_ptr<EnclosurePasses> enclosures_of(const Engine& engine) {
  if (const auto* layered = dynamic_cast<const LayeredEngine*>(&engine)) return layered->layers().enclosures;
  return std::make_shared<MachineEnclosures<HostLoops>>(HostLoops(engine));
}

}  // namespace widelimit
