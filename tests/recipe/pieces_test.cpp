#include "widelimit/recipe/quadrature/pieces.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/recipe/pointwise.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace widelimit {
namespace {

template <typename F>
Function each(F f) {
  return [f](std::span<const double> x, std::span<double> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = f(x[i]);
  };
}

double elu(double x) { return x > 0 ? x : std::expm1(x); }
double clipped(double x) { return std::min(std::max(x, -1.1), 0.7); }
double step_at_third(double x) { return x > 1.0 / 3 ? 1.0 : 0.0; }

/// The series agrees with φ at random points within the reported error and rounding.
TEST(Pieces, AreTheFunction) {
  const std::vector<std::pair<const char*, double (*)(double)>> functions{
      {"tanh", [](double x) { return std::tanh(x); }},
      {"exp", [](double x) { return std::exp(x); }},
      {"arctan", [](double x) { return std::atan(x); }},
      {"sine", [](double x) { return std::sin(20 * x); }},
      {"elu", elu},
      {"clipped", clipped},
      {"step", step_at_third},
      {"root", [](double x) { return std::sqrt(std::abs(x)); }}};
  const Random random(5);
  for (const auto& [name, f] : functions) {
    for (const double reach : {1e-6, 0.3, 16.0, 256.0}) {
      SCOPED_TRACE(std::string(name) + " up to " + std::to_string(reach));
      const Pieces pieces = cut_into_pieces({each(f), nullptr}, reach);
      EXPECT_EQ(pieces.list.front().left, -reach);
      EXPECT_EQ(pieces.list.back().right, reach);
      for (std::size_t k = 1; k < pieces.list.size(); ++k) EXPECT_EQ(pieces.list[k - 1].right, pieces.list[k].left);
      for (std::uint64_t k = 0; k < 400; ++k) {
        const double x = reach * (2 * random.uniform(k) - 1);
        const Piece& piece = pieces.around(x);
        ASSERT_LE(piece.left, x);
        ASSERT_GE(piece.right, x);
        const double size = std::max(std::abs(f(piece.left)), std::abs(f(piece.right)));
        EXPECT_NEAR(piece.at(x).value, f(x), 4 * piece.error + 4e-15 * std::max(size, std::abs(f(x)))) << x;
      }
    }
  }
}

TEST(Pieces, ManyPointsAreOneByOne) {
  const Pieces pieces = cut_into_pieces({each([](double x) { return std::tanh(x); }), nullptr}, 8);
  const Piece& piece = pieces.around(0.3);
  std::vector<double> x;
  for (int i = 0; i < 21; ++i) x.push_back(piece.left + (piece.right - piece.left) * i / 20.0);
  std::vector<double> values(x.size());
  std::vector<double> slopes(x.size());
  piece.at(x, values.data(), slopes.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(values[i], piece.at(x[i]).value, 1e-15);
    EXPECT_NEAR(slopes[i], piece.at(x[i]).slope, 1e-13);
  }
}

TEST(Pieces, SlopesOfUnknownDerivativesLoseFewDigits) {
  const Pieces pieces = cut_into_pieces({each([](double x) { return std::tanh(x); }), nullptr}, 16);
  for (int k = -900; k <= 900; ++k) {
    const double x = 0.01 * k;
    const double cosh = std::cosh(x);
    EXPECT_NEAR(pieces.around(x).at(x).slope, 1 / cosh / cosh, 3e-13) << x;
  }
}

TEST(Pieces, EndAtJumpsAndKinks) {
  const auto edges = [](double (*f)(double), double reach) { return cut_into_pieces({each(f), nullptr}, reach).edges; };
  for (const double reach : {4.0, 64.0, 8192.0}) {
    const std::vector<double> jump = edges(step_at_third, reach);
    ASSERT_EQ(jump.size(), 1U);
    EXPECT_EQ(jump[0], std::nextafter(1.0 / 3, 1.0));  // the first number above the jump
    const std::vector<double> kinks = edges(clipped, reach);
    ASSERT_EQ(kinks.size(), 2U);
    EXPECT_NEAR(kinks[0], -1.1, 1e-14);
    EXPECT_NEAR(kinks[1], 0.7, 1e-14);
    EXPECT_EQ(edges(elu, reach), std::vector<double>{0.0});  // φ'' jumps
    EXPECT_TRUE(edges([](double x) { return std::tanh(x); }, reach).empty());
  }
  const std::vector<double> stairs = edges([](double x) { return std::floor(x); }, 8);
  EXPECT_EQ(stairs.size(), 15U);
}

/// A function that is not smooth at any scale reports its error.
TEST(Pieces, NoiseIsAdmitted) {
  const auto oscillating = [](double x) {
    const double y = std::sin(1e5 * x) * 43758.5453;
    return y - std::floor(y);
  };
  const Pieces pieces = cut_into_pieces({each(oscillating), nullptr}, 16);
  double largest = 0;
  for (const Piece& piece : pieces.list) largest = std::max(largest, piece.error);
  EXPECT_GT(largest, 0.05);
  const auto perturbed = [](double x) { return std::tanh(x) + 1e-13 * std::sin(1e9 * x); };
  const Pieces nearly = cut_into_pieces({each(perturbed), nullptr}, 16);
  EXPECT_LT(nearly.list.size(), 1000U);
  for (const Piece& piece : nearly.list) EXPECT_LT(piece.error, 1e-12);
}

TEST(Pointwise, NamesThePointWhereItIsNotFinite) {
  const Pointwise phi("pole", {each([](double x) { return 1 / (x - 2); }), nullptr});
  const std::vector<double> x{1, 2};
  std::vector<double> y(2);
  try {
    phi.value(x, y);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::numerical);
    EXPECT_NE(std::string(error.what()).find("pole is inf at 2"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace widelimit
