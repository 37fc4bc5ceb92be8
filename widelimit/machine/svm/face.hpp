#pragma once

#include "widelimit/base/matrix.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace widelimit {

/// Where to go on a face of the box, that is, with only the free variables moving.
struct FaceDirection {
  std::vector<double> by;      ///< one per variable of the face; empty where no direction descends
  std::vector<double> change;  ///< of the slope, Q·by, up to a constant with an equality; empty for none
  bool flat = false;           ///< no curvature along it: go until a bound, instead of at most the whole way
};

/// The quadratic form of the free variables and its Cholesky factor, which follows as variables arrive at bounds: the
/// factor takes O(f³/3), each direction and each variable that leaves O(f²).
///
/// Q may be positive semi-definite. A variable that is a combination of earlier ones has a row of zeros in the factor
/// and rests: the minimum over the others is the minimum over all, unless the slope along the combination descends.
/// Where a variable of it leaves, the rotations that take its row out of the factor fill the row of zeros.
///
/// With the equality Σd = 0 the factor is that of PᵀQP + c·11ᵀ, P = I − e₀1ᵀ, c > 0: the same quadratic form on that
/// subspace, positive definite wherever Q is so there, and no variable is singled out once another may leave.
class Face {
 public:
  /// Memory for a face of `size` variables, to which Q is to be written.
  [[nodiscard]] MatrixView<double> open(Index size);
  /// Factors what was written.
  void factorise(bool equality);
  [[nodiscard]] Index size() const { return size_; }

  /// Newton's step −Q⁻¹·slope, or with the equality the best step whose sum is 0; where the slope along a combination
  /// descends beyond rounding, that combination. Variables that left do not move.
  [[nodiscard]] FaceDirection direction(std::span<const double> slope);
  /// The variable moves no more.
  void remove(Index k);
  /// Whether vᵀQv is below −excess·Σvᵢ²Q_ii, which rounding does not explain.
  [[nodiscard]] bool curves_down(std::span<const double> v, double excess) const;

  /// Cycles so far, roughly.
  [[nodiscard]] double work() const { return work_; }
  [[nodiscard]] std::size_t bytes() const { return (entries_.size() + 3 * own_.size()) * sizeof(double); }

 private:
  /// Of a variable: moves, is a combination of others that move, or moves no more.
  enum class State : std::uint8_t { moves, rests, left };

  [[nodiscard]] double* row(Index i) { return entries_.data() + i * size_; }
  [[nodiscard]] const double* row(Index i) const { return entries_.data() + i * size_; }
  [[nodiscard]] bool moves(Index i) const { return state_[usize(i)] == State::moves; }
  /// Row i of the factor to the right of the diagonal.
  [[nodiscard]] std::span<const double> right_of(Index i) const { return {row(i) + i + 1, usize(size_ - i - 1)}; }
  void centre();
  void factor_rows(Index begin, Index end);
  /// U⁻ᵀb in place; of variables that rest, what is left of b.
  void solve_forward(std::span<double> b) const;
  /// U⁻¹y in place; 0 for what does not move.
  void solve_back(std::span<double> y) const;
  /// Sets what does not move to 0.
  void still(std::span<double> y) const;
  /// Takes from y = Ud what keeps Σd from −sum. False where nothing moves.
  [[nodiscard]] bool level(std::span<double> y, double sum) const;
  /// −1 where none descends; y is the solution forward.
  [[nodiscard]] Index steepest_combination(std::span<const double> slope, std::span<const double> y) const;
  [[nodiscard]] FaceDirection along_combination(Index k, double sign) const;

  std::vector<double> entries_;  ///< above the diagonal and on it the factor U, below it Q
  std::vector<double> own_;      ///< diagonal of Q
  std::vector<double> least_;    ///< squares of pivots up to this are rounding
  std::vector<State> state_;
  Index sunken_ = -1;  ///< a variable with a negative pivot; −1 where there is none, or one has left since
  Index size_ = 0;
  bool equality_ = false;
  double work_ = 0;
};

}  // namespace widelimit
