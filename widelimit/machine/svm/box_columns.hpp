#pragma once

#include "widelimit/base/matrix.hpp"

#include <algorithm>
#include <concepts>
#include <memory>
#include <utility>
#include <vector>

namespace widelimit {

/// Columns of a symmetric Gram matrix, or of the part of it that belongs to some of the samples: all that the box
/// solver sees of a kernel. A part is copied together column by column when first asked for, and kept while there is
/// room.
template <std::floating_point T>
class Columns {
 public:
  /// The matrix itself: nothing is copied, since its rows are its columns.
  explicit Columns(MatrixView<const T> gram) : gram_(gram), size_(gram.rows) {}
  /// Rows and columns `chosen` of another; at most about `room` bytes are kept.
  Columns(Columns& whole, std::vector<Index> chosen, std::size_t room)
      : whole_(&whole), chosen_(std::move(chosen)), size_(std::ssize(chosen_)), slot_(chosen_.size(), -1) {
    const auto column_bytes = static_cast<Index>(sizeof(T)) * std::max<Index>(size_, 1);
    slots_ = std::clamp<Index>(static_cast<Index>(room) / column_bytes, 2, std::max<Index>(size_, 2));
    for (Index k = 0; k < size_; ++k) {
      const Index sample = chosen_[static_cast<std::size_t>(k)];
      if (runs_.empty() || runs_.back().first + runs_.back().second != sample) runs_.emplace_back(sample, 0);
      ++runs_.back().second;
    }
  }
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;

  [[nodiscard]] Index size() const { return size_; }
  /// Entry (k, k) without a column being copied.
  [[nodiscard]] double diagonal(Index k) const {
    return whole_ == nullptr ? static_cast<double>(gram_(k, k))
                             : whole_->diagonal(chosen_[static_cast<std::size_t>(k)]);
  }
  /// Column k; it stays where it is until the column after next is asked for.
  [[nodiscard]] const T* column(Index k) {
    if (whole_ == nullptr) return gram_.row(k);
    Index& slot = slot_[static_cast<std::size_t>(k)];
    if (slot < 0) {
      slot = free_slot();
      owner_[static_cast<std::size_t>(slot)] = k;
      copy_together(whole_->column(chosen_[static_cast<std::size_t>(k)]), kept_[static_cast<std::size_t>(slot)].get());
    }
    last_ = slot;
    return kept_[static_cast<std::size_t>(slot)].get();
  }
  [[nodiscard]] std::size_t bytes() const {
    return owner_.size() * static_cast<std::size_t>(size_) * sizeof(T) + chosen_.size() * 2 * sizeof(Index);
  }

 private:
  void copy_together(const T* from, T* to) const {
    if (4 * std::ssize(runs_) > size_) {
      for (const Index sample : chosen_) *to++ = from[sample];
      return;
    }
    for (const auto& [first, count] : runs_) to = std::copy_n(from + first, count, to);
  }
  /// In turn, but never the column handed out last.
  Index free_slot() {
    if (std::ssize(owner_) < slots_) {
      owner_.push_back(-1);
      kept_.push_back(std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(size_)));
      return std::ssize(owner_) - 1;
    }
    if (next_ == last_) next_ = (next_ + 1) % slots_;
    const Index slot = next_;
    slot_[static_cast<std::size_t>(owner_[static_cast<std::size_t>(slot)])] = -1;
    next_ = (next_ + 1) % slots_;
    return slot;
  }

  MatrixView<const T> gram_{};
  Columns* whole_ = nullptr;
  std::vector<Index> chosen_;
  Index size_ = 0;
  std::vector<Index> slot_;   ///< of each column, −1 where it is not kept
  std::vector<Index> owner_;  ///< of each slot
  std::vector<std::unique_ptr<T[]>> kept_;
  std::vector<std::pair<Index, Index>> runs_;  ///< of consecutive samples: the first, and how many
  Index slots_ = 0;
  Index next_ = 0;
  Index last_ = -1;
};

}  // namespace widelimit
