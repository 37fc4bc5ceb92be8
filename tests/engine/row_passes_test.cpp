#include "widelimit/engine/cuda/layers/row_passes.hpp"

#include "widelimit/base/random.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <thread>
#include <vector>

/// Row passes by teams of several threads, as in the blocks of a device, compared with the definitions.
namespace widelimit {
namespace {

/// A thread of a team, which reduces through memory between two barriers.
class ThreadTeam {
 public:
  ThreadTeam(int rank, std::vector<double>& parts, std::barrier<>& together)
      : rank_(rank), parts_(parts), together_(together) {}
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return static_cast<int>(parts_.size()); }
  [[nodiscard]] double sum(double value) const {
    return folded(value, [](double a, double b) { return a + b; });
  }
  [[nodiscard]] double largest(double value) const {
    return folded(value, [](double a, double b) { return std::fmax(a, b); });
  }

 private:
  template <typename Fold>
  [[nodiscard]] double folded(double value, const Fold& fold) const {
    parts_[static_cast<std::size_t>(rank_)] = value;
    together_.arrive_and_wait();
    double result = parts_[0];
    for (std::size_t k = 1; k < parts_.size(); ++k) result = fold(result, parts_[k]);
    together_.arrive_and_wait();
    return result;
  }

  int rank_;
  std::vector<double>& parts_;
  std::barrier<>& together_;
};

template <typename Pass>
void run_rows(Index rows, int size, const Pass& pass) {
  std::vector<double> parts(static_cast<std::size_t>(size));
  std::barrier together(size);
  std::vector<std::thread> team;
  for (int rank = 0; rank < size; ++rank) {
    team.emplace_back([&, rank] {
      for (Index row = 0; row < rows; ++row) pass(row, ThreadTeam(rank, parts, together));
    });
  }
  for (std::thread& thread : team) thread.join();
}

std::vector<double> normals(Index count, std::uint64_t stream) {
  std::vector<double> values(usize(count));
  Random(1, stream).normals(0, count, 1.0, values.data());
  return values;
}

constexpr Index rows = 3;

class RowPasses : public testing::TestWithParam<std::pair<Index, int>> {
 protected:
  Index cols = GetParam().first;
  int size = GetParam().second;
  std::vector<double> x = normals(rows * cols, 0);
  std::vector<double> g = normals(rows * cols, 1);
};

TEST_P(RowPasses, NormaliseRowsAndTakeSignalsBack) {
  std::fill_n(x.begin() + cols, cols, 0.7);  // a constant row
  std::vector<double> y(x.size());
  std::vector<double> back(x.size());
  run_rows(rows, size, cuda::Normalise<double>{cols, x.data(), y.data()});
  run_rows(rows, size, cuda::NormaliseSignal<double>{cols, x.data(), g.data(), back.data()});
  const auto n = static_cast<double>(cols);
  for (Index i = 0; i < rows; ++i) {
    const double* row = x.data() + i * cols;
    double mean = 0, variance = 0, mean_g = 0, mean_gy = 0;
    for (Index c = 0; c < cols; ++c) mean += row[c] / n;
    for (Index c = 0; c < cols; ++c) variance += (row[c] - mean) * (row[c] - mean) / n;
    const double inverse = i == 1 || cols == 1 ? 0.0 : 1 / std::sqrt(variance);
    for (Index c = 0; c < cols; ++c) {
      mean_g += g[usize(i * cols + c)] / n;
      mean_gy += g[usize(i * cols + c)] * (row[c] - mean) * inverse / n;
    }
    for (Index c = 0; c < cols; ++c) {
      const double expected = (row[c] - mean) * inverse;
      EXPECT_NEAR(y[usize(i * cols + c)], expected, 1e-12);
      EXPECT_NEAR(back[usize(i * cols + c)], (g[usize(i * cols + c)] - mean_g - expected * mean_gy) * inverse, 1e-12);
    }
  }
}

TEST_P(RowPasses, SoftmaxAndItsSignal) {
  std::vector<double> zeta = x;
  std::vector<double> signal = g;
  run_rows(rows, size, cuda::Softmax<double>{cols, zeta.data()});
  run_rows(rows, size, cuda::SoftmaxSignal<double>{cols, zeta.data(), signal.data()});
  for (Index i = 0; i < rows; ++i) {
    double sum = 0, mean = 0;
    for (Index c = 0; c < cols; ++c) sum += std::exp(x[usize(i * cols + c)]);
    for (Index c = 0; c < cols; ++c) mean += std::exp(x[usize(i * cols + c)]) / sum * g[usize(i * cols + c)];
    for (Index c = 0; c < cols; ++c) {
      const double weight = std::exp(x[usize(i * cols + c)]) / sum;
      EXPECT_NEAR(zeta[usize(i * cols + c)], weight, 1e-14);
      EXPECT_NEAR(signal[usize(i * cols + c)], weight * (g[usize(i * cols + c)] - mean), 1e-14);
    }
  }
}

TEST_P(RowPasses, DistancesBySegments) {
  std::vector<double> sums(2, -1.0);
  run_rows(2, size, cuda::SegmentDistance<double>{x.data(), g.data(), rows * cols, 2, sums.data()});
  double expected = 0;
  for (std::size_t i = 0; i < x.size(); ++i) expected += (x[i] - g[i]) * (x[i] - g[i]);
  EXPECT_NEAR(sums[0] + sums[1], expected, 1e-13 * expected);
}

TEST_P(RowPasses, SquaresOfPairsOfPositions) {
  const Index positions = cols;
  const Index samples = 2;
  const std::vector<double> a = normals(samples * positions * samples * positions, 2);
  const std::vector<double> d = normals(samples * positions * samples * positions, 3);
  std::vector<double> kernel(usize(samples * 3), 1.0);  // rows of three, whose last entry must not change
  run_rows(samples * samples, size,
           cuda::AddSquares<double>{0.5, 0.2, positions, a.data(), d.data(), samples, kernel.data(), 3});
  for (Index i = 0; i < samples; ++i) {
    for (Index j = 0; j < samples; ++j) {
      double sum = 1, large = 1;
      for (Index p = 0; p < positions; ++p) {
        for (Index q = 0; q < positions; ++q) {
          const auto at = usize((i * positions + p) * samples * positions + j * positions + q);
          sum += (0.5 * a[at] + 0.2) * d[at];
          large += std::abs((0.5 * a[at] + 0.2) * d[at]);
        }
      }
      EXPECT_NEAR(kernel[usize(i * 3 + j)], sum, 1e-14 * large);
    }
    EXPECT_EQ(kernel[usize(i * 3 + 2)], 1.0);
  }
}

INSTANTIATE_TEST_SUITE_P(Teams, RowPasses,
                         testing::Values(std::pair<Index, int>{1, 1}, std::pair<Index, int>{1, 4},
                                         std::pair<Index, int>{5, 8}, std::pair<Index, int>{37, 4}));

}  // namespace
}  // namespace widelimit
