#include "tests/base/normal_rows.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/certificate/certify.hpp"

#include "cone_machine.hpp"
#include "tests/engine/engines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace widelimit {
namespace {

using test::machine_of;
using test::rows_of;

/// Certificates with the support in the separate memory of an engine, compared to those of the processor.
class HeldSupportOn : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Engine> engine_ = test::engine_named(GetParam());
  std::unique_ptr<Engine> cpu_ = make_engine("cpu", {.threads = 1});
};

struct Problem {
  Model model;
  Matrix<double> x;
  std::vector<Index> labels;
};

/// Samples in the box [0, 1] if `positive`; one feature of the support is always 0.
Problem problem_of(const char* network, Index supports, Index features, Index points, Index classes, bool positive) {
  Matrix<double> support = normal_rows(supports, features, 71), x = normal_rows(points, features, 72);
  if (positive) {
    for (Matrix<double>* rows : {&support, &x}) {
      for (Index k = 0; k < rows->rows() * rows->cols(); ++k) {
        rows->data()[k] = std::min(1.0, std::abs(rows->data()[k]));
      }
    }
  }
  for (Index i = 0; i < supports && features > 2; ++i) support(i, 1) = 0;
  if (supports > 3) std::fill_n(support.view().row(3), features, 0.0);  // a zero sample
  if (supports > 4 && points > 2) std::copy_n(support.view().row(4), features, x.view().row(2));
  const Index outputs = classes == 2 ? 1 : classes;
  Matrix<double> alpha = normal_rows(supports, outputs, 73);
  if (supports > 5) alpha(5, 0) = 0;
  Problem problem{.model = machine_of(network, support, alpha, classes == 2 ? Scheme::sign : Scheme::one_hot, classes),
                  .x = std::move(x),
                  .labels = {}};
  for (Index k = 0; k < points; ++k) problem.labels.push_back(k % classes);
  return problem;
}

/// Compares radii of both engines for all norms, methods and sizes, with and without a box.
void compare_radii(const char* network, std::span<const CertificateMethod> methods, const Engine& device,
                   const Engine& processor, Index many = 300) {
  for (const auto& [supports, features, classes] :
       {std::tuple<Index, Index, Index>{37, 5, 2}, {many, 3, 4}, {1, 1, 2}}) {
    for (const Norm norm : {Norm::linf, Norm::l2}) {
      for (const bool boxed : {false, true}) {
        const Problem problem = problem_of(network, supports, features, 9, classes, boxed);
        for (const CertificateMethod method : methods) {
          CertifyOptions options{.norm = norm, .method = method};
          if (boxed) options.box = Box{};
          const Certificates here = certify(problem.model, rows_of(problem.x), problem.labels, options, device);
          const Certificates there = certify(problem.model, rows_of(problem.x), problem.labels, options, processor);
          EXPECT_EQ(here.correct, there.correct);
          EXPECT_EQ(here.undecided, there.undecided);
          EXPECT_EQ(here.remark, there.remark);
          for (std::size_t k = 0; k < here.radius.size(); ++k) {
            const std::string where = fmt::format("{} {} {} {}{} point {}", network, supports, to_string(norm),
                                                  to_string(method), boxed ? " box" : "", k);
            EXPECT_NEAR(here.margin[k], there.margin[k], 1e-12 * (1 + std::abs(there.margin[k]))) << where;
            // Squares are summed in float64 on the device and in float32 on the host.
            const double places = method == CertificateMethod::convex ? 4 : 1;
            EXPECT_NEAR(here.radius[k], there.radius[k], 1.001 * places * options.tolerance * there.radius[k]) << where;
          }
        }
      }
    }
  }
}

/// Entry bounds agree, so that radii are equal unless rounding decides between two grid points.
TEST_P(HeldSupportOn, RadiiAreThoseOfTheProcessor) {
  constexpr CertificateMethod methods[] = {CertificateMethod::paper, CertificateMethod::interval,
                                           CertificateMethod::convex};
  for (const char* network : {"eq2", "fc:3", "dense leaky_relu(slope=0.3) dense", "dense"}) {
    compare_radii(network, methods, *engine_, *cpu_);
  }
}

/// Biases in the first, intermediate and last layer; frozen layers; both; a bias on which the NTK does not depend.
constexpr const char* enclosed_networks[] = {
    "fc:2(b_std=0.1)",
    "dense(b_std=0.3) relu dense",
    "dense relu dense(b_std=0.5) relu dense",
    "dense leaky_relu(slope=0.3) dense(w_std=1.5, b_std=0.2)",
    "fc:3(frozen=3)",
    "dense(b_std=0.3, frozen=true) relu dense(b_std=0.2) relu dense(b_std=0.5, frozen=true)"};

TEST_P(HeldSupportOn, RadiiOfBiasesAndFrozenLayersAreThoseOfTheProcessor) {
  constexpr CertificateMethod methods[] = {CertificateMethod::interval, CertificateMethod::convex};
  for (const char* network : enclosed_networks) {
    compare_radii(network, methods, *engine_, *cpu_, 70);
    const Problem one = problem_of(network, 5, 3, 1, 2, false);
    const std::string remark = certify(one.model, rows_of(one.x), one.labels, {}, *engine_).remark;
    EXPECT_NE(remark.find("are bounded layer by layer"), std::string::npos) << network;
  }
}

TEST_P(HeldSupportOn, OneRadiusIsAnsweredAlike) {
  for (const char* network : {"fc:2", "fc:2(b_std=0.1)", "fc:2(frozen=2)"}) {
    const Problem problem = problem_of(network, 37, 4, 20, 2, false);
    for (const double radius : {1e-4, 0.01, 0.1}) {
      const CertifyOptions options{.method = CertificateMethod::interval, .radius = radius};
      const Certificates here = certify(problem.model, rows_of(problem.x), problem.labels, options, *engine_);
      const Certificates there = certify(problem.model, rows_of(problem.x), problem.labels, options, *cpu_);
      EXPECT_EQ(here.radius, there.radius) << network;
      EXPECT_EQ(here.method, there.method) << network;
    }
  }
}

/// Half-widths per feature, including features that do not change.
TEST_P(HeldSupportOn, WidthsAreThoseOfTheProcessor) {
  for (const char* network : {"eq2", "fc:2(b_std=0.3, frozen=1)"}) {
    const Problem problem = problem_of(network, 37, 4, 9, 2, false);
    for (const auto method : {CertificateMethod::interval, CertificateMethod::convex}) {
      const CertifyOptions options{.method = method, .widths = {1, 0, 0.5, 2}};
      const Certificates here = certify(problem.model, rows_of(problem.x), problem.labels, options, *engine_);
      const Certificates there = certify(problem.model, rows_of(problem.x), problem.labels, options, *cpu_);
      for (std::size_t k = 0; k < here.radius.size(); ++k) {
        EXPECT_NEAR(here.radius[k], there.radius[k], 4.1 * options.tolerance * there.radius[k]) << network;
      }
    }
  }
}

/// Descents initially agree; the samples found have another class and are not closer than the radius.
TEST_P(HeldSupportOn, AttacksFindAsMuch) {
  for (const char* network : {"fc:2", "fc:2(b_std=0.2)", "fc:2(frozen=2)"}) {
    const Problem problem = problem_of(network, 37, 5, 130, 2, false);
    const CertifyOptions options{.method = CertificateMethod::interval,
                                 .attack = AttackOptions{.steps = 12, .restarts = 1},
                                 .keep_attacked = true};
    const Certificates here = certify(problem.model, rows_of(problem.x), problem.labels, options, *engine_);
    const Certificates there = certify(problem.model, rows_of(problem.x), problem.labels, options, *cpu_);
    int found = 0;
    for (std::size_t k = 0; k < here.radius.size(); ++k) {
      EXPECT_LE(here.radius[k], here.attack[k]) << network;
      EXPECT_EQ(std::isfinite(here.attack[k]), std::isfinite(there.attack[k])) << network;
      if (!here.correct[k] || !std::isfinite(here.attack[k])) continue;
      ++found;
      EXPECT_NEAR(here.attack[k], there.attack[k], 0.02 * there.attack[k]) << network;
    }
    EXPECT_GT(found, 20) << network;
  }
}

TEST_P(HeldSupportOn, NoSamplesAndNoSupportAreAnswered) {
  for (const char* network : {"eq2", "fc:1(b_std=0.1)"}) {
    Problem problem = problem_of(network, 5, 3, 0, 2, false);
    EXPECT_TRUE(certify(problem.model, rows_of(problem.x), problem.labels, {}, *engine_).radius.empty());
    const Problem empty{
        .model = machine_of(network, Matrix<double>(0, 3), Matrix<double>(0, 1), Scheme::sign, 2, {0.5}),
        .x = normal_rows(2, 3, 1),
        .labels = {1, 0}};
    for (const auto method : {CertificateMethod::interval, CertificateMethod::convex}) {
      const CertifyOptions options{.method = method, .attack = AttackOptions{}};
      const Certificates here = certify(empty.model, rows_of(empty.x), empty.labels, options, *engine_);
      const Certificates there = certify(empty.model, rows_of(empty.x), empty.labels, options, *cpu_);
      EXPECT_EQ(here.radius, there.radius) << network;
    }
  }
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::usage);
    return error.what();
  }
  return "nothing was refused";
}

/// Networks without certificates are rejected as on the processor.
TEST_P(HeldSupportOn, TheoremsOfOtherNetworksAreRefused) {
  const Problem problem = problem_of("fc:1(b_std=0.1)", 5, 3, 2, 2, false);
  const CertifyOptions paper{.method = CertificateMethod::paper};
  const std::string biased =
      refusal([&] { (void)certify(problem.model, rows_of(problem.x), problem.labels, paper, *engine_); });
  EXPECT_NE(biased.find("has a bias, where Theorem 4.2 does not hold; use method convex"), std::string::npos) << biased;
}

INSTANTIATE_TEST_SUITE_P(Engines, HeldSupportOn, testing::ValuesIn(test::engines_and_cuda({"emulated"})),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace widelimit
