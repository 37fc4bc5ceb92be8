#include "widelimit/certificate/convex/gradient.hpp"

#include "cone_machine.hpp"
#include "tests/base/normal_rows.hpp"
#include "widelimit/certificate/certified_machine.hpp"
#include "widelimit/certificate/cone/geometry.hpp"
#include "widelimit/engine/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace widelimit {
namespace {

using test::machine_of;

constexpr Index gradient_features = 5;

Model one_output(const std::string& network, Kind kind) {
  Model model =
      machine_of(network, normal_rows(7, gradient_features, 91), normal_rows(7, 1, 92), Scheme::values, 0, {0.25});
  model.kind = kind;
  return model;
}

struct Slope {
  double value = 0;
  std::vector<double> gradient = std::vector<double>(gradient_features);
};

/// f and ∇f of a machine with one output, for either rule.
class OneOutput {
 public:
  explicit OneOutput(const Model& model) : model_(model), kernel_(model) {
    for (Index i = 0; i < model.supports(); ++i) norms_.push_back(euclidean_norm(support().row(i), gradient_features));
  }
  [[nodiscard]] MatrixView<const double> support() const { return std::get<Matrix<double>>(model_.support).view(); }
  [[nodiscard]] Slope by_chain(const std::vector<double>& x) const {
    return slope_at(x, chain_entries(kernel_.chain, model_.kind, norms_));
  }
  [[nodiscard]] Slope by_cone(const std::vector<double>& x) const {
    return slope_at(x, cone_entries(*kernel_.cone, norms_));
  }
  [[nodiscard]] bool has_cone() const { return kernel_.cone.has_value(); }

 private:
  [[nodiscard]] Slope slope_at(const std::vector<double>& x, EntryRule rule) const {
    const std::vector<Functional> functionals{{.plus = 0}};
    const FunctionalGradient gradient(
        support(), functionals,
        [&](const Functional& f) { return functional_weights(model_.alpha.view(), model_.bias, f); }, std::move(rule));
    const std::vector<Index> which{0};
    Slope slope;
    gradient.evaluate({x.data(), 1, gradient_features, gradient_features}, which, &slope.value,
                      {slope.gradient.data(), 1, gradient_features, gradient_features});
    // Weights are in units of a power of two.
    const int exponent = functional_weights(model_.alpha.view(), model_.bias, functionals.front()).exponent;
    slope.value = std::ldexp(slope.value, exponent);
    for (double& entry : slope.gradient) entry = std::ldexp(entry, exponent);
    return slope;
  }

  const Model& model_;
  CertifiedKernel kernel_;
  std::vector<double> norms_;
};

double predicted(const Model& model, const std::vector<double>& x) {
  const auto engine = make_engine("reference", {});
  const SampleView sample(MatrixView<const double>{x.data(), 1, gradient_features, gradient_features}, model.shape);
  return predict_decisions(model, sample, *engine)(0, 0);
}

std::vector<double> place(std::uint64_t seed) {
  const Matrix<double> x = normal_rows(1, gradient_features, seed);
  return {x.data(), x.data() + gradient_features};
}

/// Step h has the error h²/6 of the third derivative plus 2⁻⁵³/h of the value: both below 1e-7 for values of order 1 to
/// 100.
double central_difference(const Model& model, std::vector<double> x, Index feature) {
  constexpr double h = 1e-5;
  const double here = x[usize(feature)];
  x[usize(feature)] = here + h;
  const double above = predicted(model, x);
  x[usize(feature)] = here - h;
  return (above - predicted(model, x)) / (2 * h);
}

TEST(FunctionalGradient, OfChainsIsThatOfTheOracleByCentralDifferences) {
  for (const char* network :
       {"dense(b_std=0.3) relu dense", "dense(w_std=1.5,b_std=0.2) relu dense(b_std=1) relu dense(b_std=0.1)",
        "dense(b_std=0.5) leaky_relu(slope=0.3) scale(by=2) dense relu dense",
        "dense(b_std=0.3, frozen=true) relu dense(b_std=0.2) relu dense(b_std=0.5, frozen=true)"}) {
    for (const Kind kind : {Kind::ntk, Kind::nngp}) {
      const Model model = one_output(network, kind);
      const OneOutput output(model);
      for (std::uint64_t seed = 1; seed < 4; ++seed) {
        const std::vector<double> x = place(seed);
        const Slope slope = output.by_chain(x);
        EXPECT_NEAR(slope.value, predicted(model, x), 1e-12 * (1 + std::abs(slope.value))) << network;
        for (Index j = 0; j < gradient_features; ++j) {
          EXPECT_NEAR(slope.gradient[usize(j)], central_difference(model, x, j), 1e-7) << network << " feature " << j;
        }
      }
    }
  }
}

TEST(FunctionalGradient, OfChainsWithoutBiasIsThatOfTheirCone) {
  for (const char* network :
       {"eq2", "fc:3", "dense relu dense(frozen=true)", "dense leaky_relu(slope=0.2) dense(w_std=2)"}) {
    for (const Kind kind : {Kind::ntk, Kind::nngp}) {
      const Model model = one_output(network, kind);
      const OneOutput output(model);
      const Slope chain = output.by_chain(place(7)), cone = output.by_cone(place(7));
      EXPECT_NEAR(chain.value, cone.value, 1e-13 * (1 + std::abs(chain.value))) << network;
      for (Index j = 0; j < gradient_features; ++j)
        EXPECT_NEAR(chain.gradient[usize(j)], cone.gradient[usize(j)], 1e-12) << network;
    }
  }
}

TEST(FunctionalGradient, IsFiniteAtZeroAndAtTrainingSamples) {
  for (const char* network : {"eq2", "dense(b_std=0.3) relu dense"}) {
    const Model model = one_output(network, Kind::ntk);
    const OneOutput output(model);
    const double* first = output.support().row(0);
    for (const auto& x :
         {std::vector<double>(gradient_features, 0), std::vector<double>(first, first + gradient_features)}) {
      const Slope slope = output.has_cone() ? output.by_cone(x) : output.by_chain(x);
      EXPECT_TRUE(std::isfinite(slope.value));
      EXPECT_TRUE(std::all_of(slope.gradient.begin(), slope.gradient.end(), [](double s) { return std::isfinite(s); }))
          << network;
    }
  }
}

}  // namespace
}  // namespace widelimit
