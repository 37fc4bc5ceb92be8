#include "widelimit/analysis/dynamics/flow/growing_cholesky.hpp"

#include "dynamics_fixture.hpp"

namespace widelimit {
namespace {

/// Rows are appended in any order and some removed; the factor of the remaining rows must solve K x = b.
TEST(GrowingCholesky, SolvesAfterRowsHaveComeAndGone) {
  const Index n = 37;
  const Matrix<double> k = random_gram(n, 60);
  GrowingCholesky factor;
  std::vector<Index> members;
  const auto add = [&](Index i) {
    std::vector<double> x;
    for (const Index j : members) x.push_back(k(i, j));
    factor.forward(x);
    double pivot = k(i, i);
    for (const double v : x) pivot -= v * v;
    ASSERT_GT(pivot, 0);
    factor.append(x, pivot);
    members.push_back(i);
  };
  const auto remove = [&](Index place) {
    factor.remove(place);
    members.erase(members.begin() + place);
  };
  for (Index i = 0; i < n; ++i) add((i * 5) % n);
  for (const Index place : {36, 0, 17, 17, 3}) remove(place);
  add(0);
  remove(factor.size() - 2);

  ASSERT_EQ(factor.size(), std::ssize(members));
  std::vector<double> b;
  for (const Index i : members) b.push_back(static_cast<double>(i) - 11);
  std::vector<double> x = b;
  factor.solve(x);
  for (std::size_t r = 0; r < members.size(); ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < members.size(); ++c) sum += k(members[r], members[c]) * x[c];
    EXPECT_NEAR(sum, b[r], 1e-10);
  }
}

TEST(GrowingCholesky, IsEmptyAtFirstAndAgain) {
  GrowingCholesky factor;
  factor.append({}, 4.0);
  std::vector<double> x{6.0};
  factor.solve(x);
  EXPECT_DOUBLE_EQ(x[0], 1.5);
  factor.remove(0);
  EXPECT_EQ(factor.size(), 0);
  factor.solve({});
}

}  // namespace
}  // namespace widelimit
