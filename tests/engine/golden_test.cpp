#include "tests/engine/engines.hpp"
#include "tests/paths.hpp"
#include "widelimit/data/formats/npz.hpp"
#include "widelimit/kernel/gram.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace widelimit {
namespace {

using test::golden_file;

using Networks = std::map<std::string, Network>;

Networks networks(const std::string& group) {
  std::ifstream file(golden_file("open_" + group + ".json"));
  const nlohmann::json cases = nlohmann::json::parse(file);
  Networks result;
  for (const auto& [name, layers] : cases.items()) result[name] = Network::from_json(layers);
  return result;
}

using Arrays = std::map<std::string, Array>;

Arrays arrays(const std::string& group) { return read_npz_arrays(golden_file("open_" + group + ".npz")).arrays; }

/// Largest relative error over the pairs selected by `use`; non-finite reference entries are defects of the source.
/// Errors of entries below `floor` times the largest are relative to that, because the reference is inaccurate there.
template <typename Use>
double worst(const AnyMatrix& ours, const Array& reference, double floor, const Use& use) {
  const auto& expected = std::get<Matrix<double>>(reference.values);
  return std::visit(
      [&](const auto& matrix) {
        double scale = 0;
        for (Index i = 0; i < expected.rows(); ++i) {
          for (Index j = 0; j < expected.cols(); ++j) {
            if (std::isfinite(expected(i, j))) scale = std::max(scale, std::abs(expected(i, j)));
          }
        }
        double error = 0;
        for (Index i = 0; i < expected.rows(); ++i) {
          for (Index j = 0; j < expected.cols(); ++j) {
            EXPECT_TRUE(std::isfinite(matrix(i, j)));
            if (!use(i, j) || !std::isfinite(expected(i, j))) continue;
            const double size = std::max(std::abs(expected(i, j)), floor * scale);
            error = std::max(error, std::abs(static_cast<double>(matrix(i, j)) - expected(i, j)) / size);
          }
        }
        return error;
      },
      ours);
}

/// x2[0] = x1[0], x2[1] = −x1[1], x2[2] = 2.5·x1[2].
bool is_hard(Index i, Index j) { return i == j && i < 3; }

/// asin ρ amplifies an ulp at ρ = ±1 to 1e-8, and the next layer to 1e-4: the source has this error at the hard pairs
/// of two layers of signs. SignsOfParallelInputsAreExact tests the exact values.
bool sign_has_lost_digits(const std::string& name) { return name == "fc2_sign"; }

struct Worst {
  double easy = 0;
  double hard = 0;
};

class Golden : public testing::TestWithParam<std::tuple<std::string, std::string, Precision>> {};

TEST_P(Golden, KernelsAgreeWithTheReferenceValues) {
  const auto& [group, backend_name, precision] = GetParam();
  const auto engine = test::engine_named(backend_name);
  const Arrays values = arrays(group);
  const auto view = [&](const std::string& name) {
    const Array& x = values.at(name);
    const Shape shape = x.dims.size() == 4 ? Shape{x.dims[1], x.dims[2], x.dims[3]} : Shape{1, 1, x.dims[1]};
    return SampleView(x.values, shape);
  };
  // float64: the source is accurate to 1e-12 except at hard pairs, where it takes the root of a cancelled difference.
  const double easy_limit = precision == Precision::f64 ? 1e-10 : 1e-4;
  const double hard_limit = precision == Precision::f64 ? 1e-7 : 1e-4;
  const GramOptions options{.kind = Kind::both, .precision = precision};
  Worst worst_of_all;
  for (const auto& [name, network] : networks(group)) {
    SCOPED_TRACE(name);
    const Gram rectangle = gram(network, view("x1"), view("x2"), options, *engine);
    const Gram symmetric = gram(network, view("x1"), options, *engine);
    if (group == "image" && backend_name == "cpu") {
      const bool attends = network.to_text().find("attention") != std::string::npos;
      EXPECT_EQ(rectangle.route.rfind(attends ? "general image path" : "displacement planes", 0), 0U)
          << rectangle.route;
    }
    for (const std::string kind : {"nngp", "ntk"}) {
      const AnyMatrix& ours = kind == "nngp" ? rectangle.nngp : rectangle.ntk;
      const AnyMatrix& ours_symmetric = kind == "nngp" ? symmetric.nngp : symmetric.ntk;
      const Array& expected = values.at(name + "/" + kind);
      const Array& expected_symmetric = values.at(name + "/" + kind + "_sym");
      const double easy =
          std::max(worst(ours, expected, 1e-3, [](Index i, Index j) { return !is_hard(i, j); }),
                   worst(ours_symmetric, expected_symmetric, 1e-3, [](Index i, Index j) { return i != j; }));
      // Antipodal values are exactly 0 for ReLU and about 1e-8 in the source: compare relative to the largest entry.
      const double hard =
          sign_has_lost_digits(name)
              ? 0
              : std::max(worst(ours, expected, 1, is_hard),
                         worst(ours_symmetric, expected_symmetric, 1, [](Index i, Index j) { return i == j; }));
      EXPECT_LE(easy, easy_limit) << kind;
      EXPECT_LE(hard, hard_limit) << kind << ", hard pairs";
      worst_of_all = {std::max(worst_of_all.easy, easy), std::max(worst_of_all.hard, hard)};
    }
  }
  printf("%s on %s, %s: largest relative error %.2g, on hard pairs %.2g\n", group.c_str(), backend_name.c_str(),
         std::string(to_string(precision)).c_str(), worst_of_all.easy, worst_of_all.hard);
}

class Signs : public testing::TestWithParam<std::string> {};

TEST_P(Signs, SignsOfParallelInputsAreExact) {
  const auto engine = test::engine_named(GetParam());
  const Arrays values = arrays("vector");
  const Shape shape{1, 1, 10};
  const Gram signs = gram(networks("vector").at("fc2_sign"), {values.at("x1").values, shape},
                          {values.at("x2").values, shape}, {.kind = Kind::nngp}, *engine);
  const auto& k = std::get<Matrix<double>>(signs.nngp);
  EXPECT_NEAR(k(0, 0), 1, 1e-12);
  EXPECT_NEAR(k(1, 1), -1, 1e-12);
  // x2[2] = 2.5·x1[2] is rounded: the angle between them is a few ulps, amplified by two square roots.
  EXPECT_NEAR(k(2, 2), 1, 2 * std::pow(1e-16, 0.25));
}

INSTANTIATE_TEST_SUITE_P(All, Signs, testing::ValuesIn(test::engines_and_cuda({"reference", "cpu", "emulated"})),
                         [](const auto& test) { return test.param; });

const auto name_of = [](const auto& test) {
  return std::get<0>(test.param) + "_" + std::get<1>(test.param) + "_" +
         std::string(to_string(std::get<2>(test.param)));
};

INSTANTIATE_TEST_SUITE_P(Vectors, Golden,
                         testing::Combine(testing::Values("vector"),
                                          testing::ValuesIn(test::engines_and_cuda({"reference", "cpu", "emulated"})),
                                          testing::Values(Precision::f64, Precision::f32)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Images, Golden,
                         testing::Combine(testing::Values("image"),
                                          testing::ValuesIn(test::engines_and_cuda({"reference", "cpu", "emulated"})),
                                          testing::Values(Precision::f64, Precision::f32)),
                         name_of);

}  // namespace
}  // namespace widelimit
