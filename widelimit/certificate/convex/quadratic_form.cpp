#include "widelimit/certificate/convex/quadratic_form.hpp"

#include "widelimit/engine/cpu/algebra/blas_calls.hpp"
#include "widelimit/engine/cpu/vector/residual.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {

namespace {

constexpr Index rows_in_run = 512;

/// A square's weight and the largest value of its root: what it can do.
struct Square {
  Index sample = 0;
  double root = 0;  ///< √|w|
  double most = 0;  ///< |w|·(largest ⟨ỹ, v⟩)²
};

/// Squares of one sign, those of small effect left out; `left` is what they can do together.
std::vector<Square> large_squares(std::vector<Square> squares, double negligible, double& left) {
  std::sort(squares.begin(), squares.end(),
            [](const Square& a, const Square& b) { return a.most != b.most ? a.most < b.most : a.sample < b.sample; });
  left = 0;
  auto first = squares.begin();
  while (first != squares.end() && left + first->most <= negligible) left += (first++)->most;
  squares.erase(squares.begin(), first);
  // Rows in the order of memory.
  std::sort(squares.begin(), squares.end(), [](const Square& a, const Square& b) { return a.sample < b.sample; });
  return squares;
}

/// Largest |⟨ỹᵢ, v⟩|.
double largest_root(const Expansion& expansion, Index sample, const double* direction, std::span<const double> scale,
                    bool euclidean) {
  const Index size = std::ssize(expansion.unit);
  const double u = expansion.u[at(sample)], nu = std::abs(u) * scale[at(size)];
  if (!euclidean) return expansion.reach[at(sample)];
  double sum = nu * nu;
  for (Index j = 0; j < size; ++j) {
    const double y = (direction[j] - u * expansion.unit[at(j)]) * scale[at(j)];
    sum += y * y;
  }
  return std::sqrt(sum) * (1 + 0x1p-40);
}

/// Adds sign·Σ(rows of one run)ᵀ(rows) to the upper triangle of b.
class RunSum {
 public:
  RunSum(Index dimension, double unit)
      : unit_(unit), rows_(at(rows_in_run * dimension)), sum_(at(dimension * dimension)) {}

  void add(std::span<const Square> run, const Expansion& expansion, MatrixView<const double> directions,
           std::span<const double> scale, double sign, MatrixView<double> b) {
    const Index size = std::ssize(expansion.unit), dimension = size + 1;
    const cpu::ResidualFrame frame{.size = size, .unit = expansion.unit.data(), .half = scale.data()};
    for (std::size_t k = 0; k < run.size(); ++k) {
      const double u = expansion.u[at(run[k].sample)], root = run[k].root * unit_;
      float* row = rows_.data() + static_cast<Index>(k) * dimension;
      cpu::write_residual(frame, directions.row(run[k].sample), u, root, row);
      row[size] = static_cast<float>(-root * scale[at(size)] * u);
    }
    const MatrixView<const float> rows{rows_.data(), std::ssize(run), dimension, dimension};
    cpu::syrk<float>(1, Transpose::yes, rows, 0, {sum_.data(), dimension, dimension, dimension});
    const double factor = sign / (unit_ * unit_);
    for (Index j = 0; j < dimension; ++j) {
      cpu::add_scaled(dimension - j, factor, sum_.data() + j * dimension + j, b.row(j) + j);
    }
  }

 private:
  double unit_;
  std::vector<float> rows_, sum_;  ///< whose memory is used again, unlike that of a Matrix
};

}  // namespace

/// Rounding: entries of a run are right to two units of float32, sums of m products to m more, and runs are added in
/// float64; what underflows is below 2⁻¹²⁰ of the largest row's square.  [docs/theory/certificates-proof.md#convex]
QuadraticForm quadratic_form(const Expansion& expansion, MatrixView<const double> directions,
                             std::span<const double> scale, bool euclidean, double negligible) {
  const Index dimension = std::ssize(scale);
  std::vector<Square> above, below;
  double largest = 0, total = 0;
  for (Index i = 0; i < directions.rows; ++i) {
    const double w = expansion.w[at(i)];
    if (w == 0) continue;
    const double root = largest_root(expansion, i, directions.row(i), scale, euclidean);
    const Square square{.sample = i, .root = std::sqrt(std::abs(w)), .most = std::abs(w) * root * root};
    largest = std::max(largest, square.most);
    total += square.most;
    (w > 0 ? above : below).push_back(square);
  }
  QuadraticForm form{.b = Matrix<double>(dimension, dimension)};
  if (largest == 0) return form;
  double ignored = 0, lost = 0;
  above = large_squares(std::move(above), negligible, ignored);
  below = large_squares(std::move(below), negligible, lost);
  RunSum runs(dimension, 1 / std::sqrt(largest));
  for (const auto& [squares, sign] : {std::pair{std::cref(above), 1.0}, std::pair{std::cref(below), -1.0}}) {
    const auto all = std::span<const Square>(squares.get());
    for (std::size_t k = 0; k < all.size(); k += at(rows_in_run)) {
      runs.add(all.subspan(k, std::min(at(rows_in_run), all.size() - k)), expansion, directions, scale, sign,
               form.b.view());
    }
  }
  for (Index j = 0; j < dimension; ++j) {
    for (Index k = 0; k < j; ++k) form.b(j, k) = form.b(k, j);
  }
  const auto samples = static_cast<double>(directions.rows);
  const double relative = 1.01 * (rows_in_run + 8) * 0x1p-24 + (samples + 8) * 0x1p-52;
  form.error = 1.01 * (lost + relative * total +
                       static_cast<double>(dimension) * static_cast<double>(dimension) * samples * 0x1p-120 * largest);
  return form;
}

}  // namespace widelimit
