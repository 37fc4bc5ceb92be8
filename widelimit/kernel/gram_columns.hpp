#pragma once

#include "widelimit/base/memory.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace widelimit {

/// Columns of a Gram matrix, or of a submatrix, in host memory as T, for solvers that update one variable at a time.
/// If the host can address the matrix in that precision, full columns are its rows and are not copied; columns of a
/// submatrix are gathered on first access and cached within the memory limit, or gathered at once if the submatrix is
/// small. If the host cannot address it (device memory), all columns are fetched in one transfer if they fit, since the
/// start of a transfer takes as long as about 10⁴ numbers; else one at a time.
template <std::floating_point T>
class GramColumns {
 public:
  static constexpr std::size_t default_memory = std::size_t{1} << 30;

  explicit GramColumns(const GramMatrix& k, std::size_t memory = default_memory) : GramColumns(k, {}, memory) {}
  /// Rows and columns `chosen`, all if empty. Caches at most about `memory` bytes, or 1.5·`memory` if that holds all
  /// columns and is at most an eighth of the free memory.
  GramColumns(const GramMatrix& k, std::vector<Index> chosen, std::size_t memory)
      : k_(k),
        diagonal_(k.diagonal()),
        chosen_(std::move(chosen)),
        size_(chosen_.empty() ? k.samples() : std::ssize(chosen_)) {
    if (const auto view = k.algebra().host_view(k.matrix())) {
      if (const auto* entries = std::get_if<MatrixView<const T>>(&*view)) in_place_ = *entries;
      if (in_place_.rows > 0 && !chosen_.empty() && usize(size_ * size_) * sizeof(T) <= std::min(memory, small_part)) {
        find_runs();
        fetched_ = Matrix<T>(size_, size_, Content::unset);
        for (Index i = 0; i < size_; ++i) copy_together(in_place_.row(chosen_[usize(i)]), fetched_.view().row(i));
        return;
      }
    } else if (usize(size_ * size_) * sizeof(T) <=
               std::min(memory + memory / 2, available_memory().value_or(memory) / 8)) {
      fetch_all();
      return;
    }
    if (in_place_.rows == 0 && !chosen_.empty()) whole_.resize(usize(k.samples()));
    prepare(memory);
  }
  /// Rows and columns `chosen` of another object, which must outlive this one.
  GramColumns(GramColumns& from, std::vector<Index> chosen, std::size_t memory)
      : k_(from.k_), diagonal_(from.diagonal_), from_(&from), chosen_(std::move(chosen)), size_(std::ssize(chosen_)) {
    prepare(memory);
  }
  GramColumns(const GramColumns&) = delete;
  GramColumns& operator=(const GramColumns&) = delete;

  [[nodiscard]] Index size() const { return size_; }
  /// Entry (k, k); does not fetch a column.
  [[nodiscard]] double diagonal(Index k) const {
    return from_ != nullptr ? from_->diagonal(chosen_[usize(k)]) : diagonal_[usize(sample(k))];
  }
  /// Column k. The pointer stays valid during the next call of `column`, not during the one after it.
  [[nodiscard]] const T* column(Index k) {
    if (fetched_.rows() > 0) return fetched_.view().row(k);
    if (from_ == nullptr && chosen_.empty() && in_place_.rows > 0) return in_place_.row(k);
    Index& slot = slot_[usize(k)];
    if (slot < 0) {
      slot = free_slot();
      owner_[usize(slot)] = k;
      fetch(sample(k), kept_[usize(slot)].get());
    }
    last_ = slot;
    return kept_[usize(slot)].get();
  }
  [[nodiscard]] std::size_t bytes() const {
    return (owner_.size() * usize(size_) + usize(fetched_.rows() * fetched_.cols())) * sizeof(T) +
           chosen_.size() * 2 * sizeof(Index) + whole_.size() * sizeof(T);
  }

 private:
  /// Submatrices up to this many bytes are copied at once, which costs less than a column cache.
  static constexpr std::size_t small_part = std::size_t{1} << 15;

  [[nodiscard]] Index sample(Index k) const { return chosen_.empty() ? k : chosen_[usize(k)]; }

  void fetch_all() {
    fetched_ = Matrix<T>(size_, size_, Content::unset);
    const EngineMatrix all = chosen_.empty() ? k_.matrix() : k_.algebra().gather(k_.matrix(), chosen_, chosen_);
    k_.algebra().read(all, fetched_.view());
  }
  void prepare(std::size_t memory) {
    slot_.assign(usize(size_), -1);
    const auto column_bytes = static_cast<Index>(sizeof(T)) * std::max<Index>(size_, 1);
    slots_ = std::clamp<Index>(static_cast<Index>(memory) / column_bytes, 2, std::max<Index>(size_, 2));
    find_runs();
  }
  void find_runs() {
    for (const Index sample : chosen_) {
      if (runs_.empty() || runs_.back().first + runs_.back().second != sample) runs_.emplace_back(sample, 0);
      ++runs_.back().second;
    }
  }
  void fetch(Index sample, T* to) {
    if (from_ != nullptr) return copy_together(from_->column(sample), to);
    if (in_place_.rows > 0) return copy_together(in_place_.row(sample), to);
    T* row = chosen_.empty() ? to : whole_.data();
    k_.algebra().read(k_.matrix().block(sample, 0, 1, k_.samples()), MatrixView<T>{row, 1, k_.samples(), k_.samples()});
    if (!chosen_.empty()) copy_together(row, to);
  }
  void copy_together(const T* from, T* to) const {
    if (4 * std::ssize(runs_) > size_) {
      for (const Index sample : chosen_) *to++ = from[sample];
      return;
    }
    for (const auto& [first, count] : runs_) to = std::copy_n(from + first, count, to);
  }
  /// Round robin, but never the slot returned last.
  Index free_slot() {
    if (std::ssize(owner_) < slots_) {
      owner_.push_back(-1);
      kept_.push_back(std::make_unique_for_overwrite<T[]>(usize(size_)));
      return std::ssize(owner_) - 1;
    }
    if (next_ == last_) next_ = (next_ + 1) % slots_;
    const Index slot = next_;
    slot_[usize(owner_[usize(slot)])] = -1;
    next_ = (next_ + 1) % slots_;
    return slot;
  }

  GramMatrix k_;
  std::span<const double> diagonal_;  ///< diagonal of the full K, owned by the handle
  GramColumns* from_ = nullptr;
  MatrixView<const T> in_place_{};  ///< empty if the host cannot address the matrix
  Matrix<T> fetched_;               ///< all columns, if they were fetched at once
  std::vector<Index> chosen_;       ///< empty for all samples
  Index size_ = 0;
  std::vector<Index> slot_;   ///< slot of each column, −1 if not cached
  std::vector<Index> owner_;  ///< column of each slot
  std::vector<std::unique_ptr<T[]>> kept_;
  std::vector<std::pair<Index, Index>> runs_;  ///< runs of consecutive samples: first sample, length
  std::vector<T> whole_;                       ///< scratch: a full column, before its entries are gathered
  Index slots_ = 0;
  Index next_ = 0;
  Index last_ = -1;
};

}  // namespace widelimit
