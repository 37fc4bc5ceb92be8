#pragma once

#include "widelimit/base/matrix.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace widelimit {

/// Search direction on a face of the box, i.e. with only the free variables changing.
struct FaceDirection {
  std::vector<double> by;      ///< one per variable of the face; empty if there is no descent direction
  std::vector<double> change;  ///< of the slope, Q·by, up to a constant with an equality; may be empty
  bool flat = false;           ///< zero curvature: the step size is limited only by bounds
};

/// Quadratic form of the free variables and its Cholesky factor, updated as variables reach bounds: O(f³/3) for the
/// factor, O(f²) for each direction and each removed variable.
///
/// Q may be singular. A variable that is a linear combination of earlier ones has a zero row in the factor and rests:
/// the minimum over the others is the minimum over all, unless the slope along the combination descends. If a variable
/// of the combination is removed, the rotations that remove its row from the factor fill the zero row.
///
/// With the equality Σd = 0 the factor is that of PᵀQP + c·11ᵀ, P = I − e₀1ᵀ, c > 0: the same quadratic form on that
/// subspace, positive definite if Q is so there. It treats all variables alike when one is removed later.
class Face {
 public:
  /// Returns the memory for a face of `size` variables, to which Q is to be written.
  [[nodiscard]] MatrixView<double> open(Index size);
  /// Factorises Q.
  void factorise(bool equality);
  [[nodiscard]] Index size() const { return size_; }

  /// Returns the Newton step −Q⁻¹·slope, or with the equality the best step with sum 0; if the slope along a
  /// combination descends beyond rounding, that combination. Removed variables do not change.
  [[nodiscard]] FaceDirection direction(std::span<const double> slope);
  /// Removes a variable.
  void remove(Index k);
  /// Whether vᵀQv is below −excess·Σvᵢ²Q_ii by more than rounding.
  [[nodiscard]] bool curves_down(std::span<const double> v, double excess) const;

  /// Approximate number of cycles so far.
  [[nodiscard]] double work() const { return work_; }
  [[nodiscard]] std::size_t bytes() const { return (entries_.size() + 3 * own_.size()) * sizeof(double); }

 private:
  /// State of a variable: free, a linear combination of free ones, or removed.
  enum class State : std::uint8_t { moves, rests, left };

  [[nodiscard]] double* row(Index i) { return entries_.data() + i * size_; }
  [[nodiscard]] const double* row(Index i) const { return entries_.data() + i * size_; }
  [[nodiscard]] bool moves(Index i) const { return state_[usize(i)] == State::moves; }
  /// Returns row i of the factor to the right of the diagonal.
  [[nodiscard]] std::span<const double> right_of(Index i) const { return {row(i) + i + 1, usize(size_ - i - 1)}; }
  void centre();
  void factor_rows(Index begin, Index end);
  /// Computes U⁻ᵀb in place; the remainder of b for resting variables.
  void solve_forward(std::span<double> b) const;
  /// Computes U⁻¹y in place; 0 for variables that do not move.
  void solve_back(std::span<double> y) const;
  /// Sets the entries of variables that do not move to 0.
  void still(std::span<double> y) const;
  /// Corrects y = Ud so that Σd = −sum. Returns false if no variable moves.
  [[nodiscard]] bool level(std::span<double> y, double sum) const;
  /// Returns the steepest combination, or −1 if none descends; y is the result of solve_forward.
  [[nodiscard]] Index steepest_combination(std::span<const double> slope, std::span<const double> y) const;
  [[nodiscard]] FaceDirection along_combination(Index k, double sign) const;

  std::vector<double> entries_;  ///< upper triangle: the factor U; strict lower triangle: Q
  std::vector<double> own_;      ///< diagonal of Q
  std::vector<double> least_;    ///< squared pivots up to this value are rounding
  std::vector<State> state_;
  Index negative_pivot_ = -1;  ///< a variable with a negative pivot; −1 if none, or after a removal
  Index size_ = 0;
  bool equality_ = false;
  double work_ = 0;
};

}  // namespace widelimit
