#include "widelimit/engine/cuda/cuda_algebra.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit::cuda {

namespace {

/// The family A + cI = Q(Λ + cI)Qᵀ for all c; the eigenvectors are the rows of `vectors`.
class EigenFamily final : public ShiftedFamily {
 public:
  EigenFamily(std::shared_ptr<Device> device, EngineMatrix vectors, std::vector<double> values)
      : algebra_(std::move(device)), vectors_(std::move(vectors)), values_(std::move(values)) {}

  [[nodiscard]] std::vector<ShiftedInverse> inverses(MatrixView<const double> right_hand_sides,
                                                     std::span<const double> shifts,
                                                     Progress* progress) const override {
    const Index n = vectors_.rows();
    Matrix<double> coordinates(n, right_hand_sides.cols, Content::unset);
    algebra_.multiply(Transpose::no, vectors_, right_hand_sides, coordinates.view());
    std::vector<ShiftedInverse> result(shifts.size());
    ProgressTicker ticker(progress, std::ssize(shifts), "shifts");
    for (std::size_t s = 0; s < shifts.size(); ++s) {
      ticker.at(static_cast<std::int64_t>(s));
      if (!is_definite(shifts[s])) continue;
      ShiftedInverse& inverse = result[s];
      inverse.positive_definite = true;
      std::vector<double> weights(usize(n));
      Matrix<double> divided(n, right_hand_sides.cols, Content::unset);
      for (Index e = 0; e < n; ++e) {
        weights[usize(e)] = 1 / (values_[usize(e)] + shifts[s]);
        for (Index c = 0; c < divided.cols(); ++c) divided(e, c) = weights[usize(e)] * coordinates(e, c);
      }
      inverse.solution = Matrix<double>(n, right_hand_sides.cols, Content::unset);
      algebra_.multiply(Transpose::yes, vectors_, divided.view(), inverse.solution.view());
      inverse.diagonal = algebra_.column_squares(vectors_, weights);
    }
    return result;
  }

  [[nodiscard]] double smallest_eigenvalue() const override {
    return values_.empty() ? std::numeric_limits<double>::infinity() : values_.front();
  }

 private:
  /// Positive definite up to rounding: eigenvalues have errors of a few ulps of the largest.
  [[nodiscard]] bool is_definite(double shift) const {
    if (values_.empty()) return true;
    const double largest = std::max(std::abs(values_.front()), std::abs(values_.back()));
    return values_.front() + shift > std::numeric_limits<double>::epsilon() * largest;
  }

  CudaAlgebra algebra_;
  EngineMatrix vectors_;
  std::vector<double> values_;
};

}  // namespace

std::unique_ptr<ShiftedFamily> CudaAlgebra::shifted_family(EngineMatrix a, Progress* progress) const {
  EngineMatrix vectors;
  std::vector<double> values = eigenvectors(std::move(a), vectors, progress);
  return std::make_unique<EigenFamily>(device_, std::move(vectors), std::move(values));
}

}  // namespace widelimit::cuda
