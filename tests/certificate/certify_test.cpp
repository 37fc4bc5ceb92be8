#include "widelimit/certificate/certify.hpp"

#include "tests/base/normal_rows.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/engine/select.hpp"

#include "cone_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

namespace widelimit {
namespace {

using test::machine_of;
using test::rows_of;

/// The labels predicted by the machine.
std::vector<Index> own_labels(const Model& model, int depth, const Matrix<double>& x) {
  std::vector<Index> labels;
  for (Index k = 0; k < x.rows(); ++k) {
    Matrix<double> g(1, model.outputs());
    for (Index o = 0; o < model.outputs(); ++o) {
      g(0, o) = static_cast<double>(test::exact_output(model, depth, x.view().row(k), o));
    }
    const bool one = model.scheme == Scheme::values;
    labels.push_back(one ? Index{g(0, 0) > 0} : classes_of(model.scheme, std::ssize(model.classes), g.view()).front());
  }
  return labels;
}

TEST(Certify, KnowsTheRadiusOfALinearMachine) {
  Matrix<double> support(1, 3), alpha(1, 1), x(1, 3);
  support(0, 0) = 1, support(0, 1) = -2, support(0, 2) = 0.5;
  x(0, 0) = 2, x(0, 1) = -1, x(0, 2) = 1;
  alpha(0, 0) = 3;
  const Model model = machine_of("dense", support, alpha, Scheme::sign, 2, {-1.5});
  const double f = 3 * 4.5 / 3 - 1.5;  // f = α⟨x,x₁⟩/d + b
  const std::vector<Index> labels{1};
  for (const CertificateMethod method : {CertificateMethod::interval, CertificateMethod::convex}) {
    const Certificates linf = certify(model, rows_of(x), labels, {.method = method, .tolerance = 1e-6});
    EXPECT_NEAR(linf.radius[0], f / (3 * 3.5 / 3), 1e-5);
    const Certificates l2 = certify(model, rows_of(x), labels, {.norm = Norm::l2, .method = method, .tolerance = 1e-6});
    EXPECT_NEAR(l2.radius[0], f / (3 * std::sqrt(5.25) / 3), 1e-5);
    EXPECT_NEAR(l2.margin[0], f, 1e-14);
    EXPECT_TRUE(l2.correct[0]);
  }
  // With a box, coordinates stop at its walls: x = (2, −1, 1) can only move to (1, −0.5, 0.5) at radius 1.
  const Certificates boxed =
      certify(model, rows_of(x), labels, {.method = CertificateMethod::interval, .box = Box{-1, 2}, .tolerance = 1e-6});
  // f(x − r·sign) = α(⟨x,x₁⟩ − r(1 + 2 + ½))/3 − 1.5 while no coordinate is at a wall, i.e. up to r = 2.
  EXPECT_NEAR(boxed.radius[0], f / 3.5, 1e-5);
}

TEST(Certify, IsExactForOneTrainingSampleInsideItsRay) {
  // x = 2x₁, f = Θ(x,x₁) − ½Θ(x₁,x₁)·2: in ℓ2 the worst x is on the ray, where Θ = s·N·M·κ(1) is linear.
  Matrix<double> support(1, 2), alpha(1, 1), x(1, 2);
  support(0, 0) = 0.6, support(0, 1) = 0.8;
  x(0, 0) = 1.2, x(0, 1) = 1.6;
  alpha(0, 0) = 1;
  const double kernel = 2.0 / (2 * 2);  // s·κ(1) of eq2: 1/(2d)·2
  const Model model = machine_of("eq2", support, alpha, Scheme::values, 0, {-kernel});
  const std::vector<Index> labels{1};
  const Certificates found =
      certify(model, rows_of(x), labels,
              {.norm = Norm::l2, .method = CertificateMethod::interval, .tolerance = 1e-5, .attack = AttackOptions{}});
  EXPECT_LE(found.radius[0], found.attack[0]);
  EXPECT_LE(found.attack[0], 1.001);  // the distance to x₁ is 1
  EXPECT_GT(found.radius[0], 0.3);
}

using Outputs = std::function<std::vector<double>(const Matrix<double>& rows)>;

/// Smallest distance on a fine grid at which a two-dimensional machine changes its class.
double brute_radius(const Outputs& outputs, const double* x, Norm norm, const std::optional<Box>& box, double within) {
  constexpr int steps = 80;
  std::vector<double> places{x[0], x[1]}, distances{0};
  for (int i = -steps; i <= steps; ++i) {
    for (int j = -steps; j <= steps; ++j) {
      const double dx = within * i / steps, dy = within * j / steps;
      const double distance = norm == Norm::l2 ? std::hypot(dx, dy) : std::max(std::abs(dx), std::abs(dy));
      const double moved[2] = {x[0] + dx, x[1] + dy};
      if (distance > within) continue;
      if (box && (std::min(moved[0], moved[1]) < box->low(0) || std::max(moved[0], moved[1]) > box->high(0))) continue;
      places.insert(places.end(), {moved[0], moved[1]});
      distances.push_back(distance);
    }
  }
  Matrix<double> rows(std::ssize(distances), 2, Content::unset);
  std::copy(places.begin(), places.end(), rows.data());
  const std::vector<double> f = outputs(rows);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 1; k < f.size(); ++k) {
    if ((f[k] > 0) != (f[0] > 0)) least = std::min(least, distances[k]);
  }
  return least;
}

/// Outputs in long double.
Outputs exact_outputs(const Model& model, int depth) {
  return [&model, depth](const Matrix<double>& rows) {
    std::vector<double> f;
    for (Index k = 0; k < rows.rows(); ++k) {
      f.push_back(static_cast<double>(test::exact_output(model, depth, rows.view().row(k), 0)));
    }
    return f;
  };
}

/// Coefficients such that both classes occur in the plane.
Matrix<double> alternating(Index count) {
  Matrix<double> alpha(count, 1);
  for (Index i = 0; i < count; ++i) alpha(i, 0) = i % 2 == 0 ? 1 : -1;
  return alpha;
}

TEST(Certify, LiesBetweenNothingAndBruteForceInThePlane) {
  const Matrix<double> support = normal_rows(5, 2, 11);
  const Model model = machine_of("fc:2", support, alternating(5), Scheme::sign, 2);
  const Matrix<double> x = normal_rows(6, 2, 13, 0.8);
  int broken = 0;
  const std::vector<Index> labels = own_labels(model, 2, x);
  for (const Norm norm : {Norm::linf, Norm::l2}) {
    for (const bool boxed : {false, true}) {
      std::optional<Box> box;
      if (boxed) box = Box{-3, 3};
      std::vector<std::vector<double>> radii;
      for (const CertificateMethod method :
           {CertificateMethod::paper, CertificateMethod::interval, CertificateMethod::convex}) {
        const Certificates found =
            certify(model, rows_of(x), labels, {.norm = norm, .method = method, .box = box, .attack = AttackOptions{}});
        for (Index k = 0; k < x.rows(); ++k) {
          const double attack = found.attack[usize(k)];
          EXPECT_LE(found.radius[usize(k)], attack);
          if (!std::isfinite(attack) || method != CertificateMethod::paper) continue;
          ++broken;
          const double brute = brute_radius(exact_outputs(model, 2), x.view().row(k), norm, box, 1.5 * attack);
          EXPECT_LE(found.radius[usize(k)], brute);
          EXPECT_LT(attack, 1.1 * brute) << k;
        }
        radii.push_back(found.radius);
      }
      for (std::size_t k = 0; k < radii[0].size(); ++k) {
        EXPECT_LE(radii[0][k], radii[1][k]);
        EXPECT_LE(radii[1][k], radii[2][k]);
        EXPECT_GT(radii[0][k], 0);
      }
    }
  }
  EXPECT_GE(broken, 12);  // of 24
}

TEST(Certify, AnswersForOneRadiusAsTheSearchDoes) {
  const Matrix<double> support = normal_rows(9, 3, 21), alpha = normal_rows(9, 1, 22);
  const Model model = machine_of("eq2", support, alpha, Scheme::sign, 2);
  const Matrix<double> x = normal_rows(17, 3, 23);
  const std::vector<Index> labels = own_labels(model, 1, x);
  const Certificates searched = certify(model, rows_of(x), labels, {.method = CertificateMethod::interval});
  std::vector<double> sorted = searched.radius;
  std::sort(sorted.begin(), sorted.end());
  const double radius = sorted[8];
  const Certificates asked =
      certify(model, rows_of(x), labels, {.method = CertificateMethod::interval, .radius = radius});
  for (std::size_t k = 0; k < labels.size(); ++k) {
    EXPECT_EQ(asked.radius[k], searched.radius[k] >= radius ? radius : 0);
  }
}

TEST(Certify, DoesNotDependOnThreads) {
  const Matrix<double> support = normal_rows(37, 5, 31), alpha = normal_rows(37, 3, 32);
  const Model model = machine_of("fc:3", support, alpha, Scheme::one_vs_rest, 3);
  const Matrix<double> x = normal_rows(40, 5, 33);
  const std::vector<Index> labels = own_labels(model, 3, x);
  const CertifyOptions options{.box = Box{-5, 5}, .attack = AttackOptions{}};
  const Certificates a = certify(model, rows_of(x), labels, options, *make_engine("cpu", {.threads = 1}));
  const Certificates b = certify(model, rows_of(x), labels, options, *make_engine("cpu", {.threads = 2}));
  EXPECT_EQ(a.radius, b.radius);
  EXPECT_EQ(a.attack, b.attack);
}

TEST(Certify, CountsWhatIsWronglyClassifiedApart) {
  const Matrix<double> support = normal_rows(4, 2, 41), alpha = normal_rows(4, 1, 42);
  const Model model = machine_of("eq2", support, alpha, Scheme::sign, 2);
  const Matrix<double> x = normal_rows(3, 2, 43);
  std::vector<Index> labels = own_labels(model, 1, x);
  labels[1] = 1 - labels[1];
  const Certificates found =
      certify(model, rows_of(x), labels,
              {.method = CertificateMethod::interval, .attack = AttackOptions{}, .keep_attacked = true});
  EXPECT_FALSE(found.correct[1]);
  EXPECT_EQ(found.radius[1], 0);
  EXPECT_EQ(found.attack[1], 0);
  EXPECT_LT(found.margin[1], 0);
  EXPECT_TRUE(found.correct[0] && found.correct[2]);
  EXPECT_GT(found.radius[0], 0);
  EXPECT_EQ(found.attacked.rows(), 3);
  EXPECT_EQ(found.attacked(1, 0), x(1, 0));
}

TEST(Certify, HandlesBiasesLayerByLayer) {
  const Matrix<double> support = normal_rows(6, 2, 51), alpha = normal_rows(6, 1, 52);
  const Model model = machine_of("dense relu dense(b_std=0.5)", support, alpha, Scheme::sign, 2);
  const Model without = machine_of("dense relu dense", support, alpha, Scheme::sign, 2);
  const Matrix<double> x = normal_rows(5, 2, 53);
  std::vector<Index> labels;
  const std::vector<Index> zeros(5, 0);
  const Certificates first = certify(model, rows_of(x), zeros, {.method = CertificateMethod::interval});
  for (const bool correct : first.correct) labels.push_back(correct ? 0 : 1);
  const Certificates found = certify(model, rows_of(x), labels, {});
  EXPECT_NE(found.remark.find("layer 3 (dense(b_std=0.5)) has a bias"), std::string::npos);
  for (const double radius : found.radius) EXPECT_GT(radius, 0);
  const Certificates entries = certify(model, rows_of(x), labels, {.method = CertificateMethod::interval});
  for (std::size_t k = 0; k < 5; ++k) EXPECT_GE(found.radius[k], entries.radius[k]);
  EXPECT_THROW(static_cast<void>(certify(model, rows_of(x), labels, {.method = CertificateMethod::paper})), Error);
  EXPECT_EQ(certificate_methods(model), (std::vector{CertificateMethod::interval, CertificateMethod::convex}));
  EXPECT_EQ(certificate_methods(without).size(), 3U);
  EXPECT_EQ(certificate_methods(without, {.widths = {1, 0.5}}).size(), 2U) << "balls that are no cubes";
}

TEST(Certify, DoesNotSeeTheBiasOfAFrozenLastLayer) {
  const Matrix<double> support = normal_rows(6, 2, 51), alpha = normal_rows(6, 1, 52), x = normal_rows(5, 2, 53);
  const Model biased = machine_of("dense relu dense(b_std=0.5, frozen=true)", support, alpha, Scheme::sign, 2);
  const Model plain = machine_of("dense relu dense(frozen=true)", support, alpha, Scheme::sign, 2);
  const std::vector<Index> zeros(5, 0);
  const Certificates first = certify(biased, rows_of(x), zeros, {}), second = certify(plain, rows_of(x), zeros, {});
  EXPECT_EQ(first.radius, second.radius);
  EXPECT_EQ(first.margin, second.margin);
  EXPECT_EQ(certificate_methods(biased).size(), 3U);
  EXPECT_THROW((void)certify(machine_of("fc:1(frozen=2)", support, alpha, Scheme::sign, 2), rows_of(x), zeros, {}),
               Error);
}

TEST(Certify, AttacksMachinesWithBiasesAsNearAsBruteForceInThePlane) {
  const Matrix<double> support = normal_rows(6, 2, 51);
  const Model model = machine_of("dense(b_std=0.2) relu dense(b_std=0.1)", support, alternating(6), Scheme::sign, 2);
  const auto engine = make_engine("cpu", {});
  const Outputs outputs = [&](const Matrix<double>& rows) {
    const Matrix<double> f = predict_decisions(model, rows_of(rows), *engine);
    return std::vector<double>(f.data(), f.data() + f.rows());
  };
  const Matrix<double> x = normal_rows(6, 2, 53);
  std::vector<Index> labels;
  for (const double f : outputs(x)) labels.push_back(f > 0 ? 1 : 0);
  int broken = 0;
  for (const Norm norm : {Norm::linf, Norm::l2}) {
    const Certificates found =
        certify(model, rows_of(x), labels, {.norm = norm, .attack = AttackOptions{}, .keep_attacked = true});
    const std::vector<double> moved = outputs(found.attacked);
    for (Index k = 0; k < x.rows(); ++k) {
      const double attack = found.attack[usize(k)];
      EXPECT_LE(found.radius[usize(k)], attack);
      EXPECT_EQ((moved[usize(k)] > 0) != (labels[usize(k)] == 1), std::isfinite(attack)) << k;
      if (!std::isfinite(attack)) continue;
      ++broken;
      EXPECT_LT(attack, 1.1 * brute_radius(outputs, x.view().row(k), norm, {}, 1.5 * attack)) << k;
    }
  }
  EXPECT_GE(broken, 6);
}

/// The same kernel on samples with an additional feature, without biases; there, the feature can change as well.
TEST(Certify, TakesABiasOfTheFirstLayerForAFeatureAndThatOfTheLastForAnOffset) {
  constexpr Index features = 6, samples = 12;
  constexpr double first = 0.4, last = 0.3;
  Matrix<double> support = normal_rows(samples, features, 81), x = normal_rows(8, features, 83);
  for (Matrix<double>* rows : {&support, &x}) {  // in one octant, where cosines are positive
    std::transform(rows->data(), rows->data() + rows->rows() * features, rows->data(),
                   [](double v) { return std::abs(v); });
  }
  const auto lifted = [&](const Matrix<double>& rows) {
    Matrix<double> more(rows.rows(), features + 1);
    for (Index i = 0; i < rows.rows(); ++i) {
      std::copy_n(rows.view().row(i), features, more.view().row(i));
      more(i, features) = first * std::sqrt(static_cast<double>(features));
    }
    return more;
  };
  const Matrix<double> alpha = alternating(samples);
  const Model biased = machine_of(fmt::format("dense(b_std={}) relu dense(b_std={})", first, last), support, alpha,
                                  Scheme::sign, 2, {0.01});
  const Model plain = machine_of(fmt::format("dense(w_std={:.17g}) relu dense", std::sqrt((features + 1.0) / features)),
                                 lifted(support), alpha, Scheme::sign, 2, {0.01});
  std::vector<Index> labels(8, 0);
  const Certificates certificates = certify(biased, rows_of(x), labels, {.method = CertificateMethod::interval});
  for (std::size_t k = 0; k < 8; ++k) labels[k] = certificates.correct[k] ? 0 : 1;
  for (const Norm norm : {Norm::linf, Norm::l2}) {
    const Certificates a = certify(biased, rows_of(x), labels, {.norm = norm});
    const Certificates b = certify(plain, rows_of(lifted(x)), labels, {.norm = norm});
    for (std::size_t k = 0; k < 8; ++k) {
      EXPECT_NEAR(a.margin[k], b.margin[k], 1e-14 * samples);
      EXPECT_GE(a.radius[k], 0.85 * b.radius[k]) << k;  // a ball that leaves the octant has a slightly smaller radius
      EXPECT_GT(b.radius[k], 0);
    }
  }
}

std::string refusal(const Model& model, const Matrix<double>& x, const std::vector<Index>& labels,
                    const CertifyOptions& options, Code code) {
  try {
    static_cast<void>(certify(model, rows_of(x), labels, options));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "nothing was refused";
}

/// The proofs do not cover the rounding of other engines.
TEST(Certify, RefusesOtherEngines) {
  const Matrix<double> support = normal_rows(4, 2, 61), alpha = normal_rows(4, 1, 62);
  const Model model = machine_of("eq2", support, alpha, Scheme::sign, 2);
  const Matrix<double> x = normal_rows(1, 2, 63);
  const std::vector<Index> labels{0};
  try {
    (void)certify(model, rows_of(x), labels, {}, *make_engine("reference"));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::usage);
    EXPECT_NE(
        std::string(error.what()).find("certificates are computed on the processor and on NVIDIA devices; choose"),
        std::string::npos);
  }
}

TEST(Certify, RefusesBadInput) {
  const Matrix<double> support = normal_rows(4, 2, 61), alpha = normal_rows(4, 1, 62);
  const Model model = machine_of("eq2", support, alpha, Scheme::sign, 2);
  const Matrix<double> x = normal_rows(2, 2, 63);
  const std::vector<Index> labels{0, 1};
  const auto contains = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(contains(refusal(model, x, labels, {.box = Box{0, 1e-9}}, Code::input), "outside the box"));
  EXPECT_TRUE(contains(refusal(model, x, {0, 2}, {}, Code::input), "label 2 of sample 1"));
  EXPECT_TRUE(contains(refusal(model, x, {0}, {}, Code::input), "1 labels for 2 samples"));
  EXPECT_TRUE(contains(refusal(model, x, labels, {.radius = 0.0}, Code::usage), "radius 0"));
  EXPECT_TRUE(contains(refusal(model, x, labels, {.radius = -1.0}, Code::usage), "radius -1"));
  EXPECT_TRUE(contains(refusal(model, x, labels, {.box = Box{1, 0}}, Code::usage), "box [1, 0]"));
  EXPECT_TRUE(contains(refusal(model, x, labels, {.tolerance = 0}, Code::usage), "tolerance"));
  EXPECT_TRUE(contains(refusal(model, x, labels, {.keep_attacked = true}, Code::usage), "without an attack"));
  EXPECT_TRUE(contains(refusal(model, normal_rows(2, 3, 64), labels, {}, Code::input), "shape"));
  Matrix<double> holes = normal_rows(2, 2, 65);
  holes(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(contains(refusal(model, holes, labels, {}, Code::input), "finite"));
  const Model smooth = machine_of("dense erf dense", support, alpha, Scheme::sign, 2);
  EXPECT_TRUE(contains(refusal(smooth, x, labels, {}, Code::usage), "layer 2 (erf)"));
  Model classical = machine_of("eq2", support, alpha, Scheme::sign, 2);
  classical.kernel = ClassicalKernel{};
  EXPECT_TRUE(contains(refusal(classical, x, labels, {}, Code::usage), "classical"));
  const Model numbers = machine_of("eq2", support, normal_rows(4, 2, 66), Scheme::values, 0);
  EXPECT_TRUE(contains(refusal(numbers, x, labels, {}, Code::usage), "2 numbers"));
}

TEST(Certify, TakesNothingAndZero) {
  const Matrix<double> support = normal_rows(4, 2, 71), alpha = normal_rows(4, 1, 72);
  const Model model = machine_of("eq2", support, alpha, Scheme::sign, 2, {0.5});
  const Certificates none = certify(model, rows_of(Matrix<double>(0, 2)), {}, {});
  EXPECT_TRUE(none.radius.empty());
  // At x = 0 all kernels are 0 and the bias determines the class.
  const std::vector<Index> labels{1};
  const Certificates zero =
      certify(model, rows_of(Matrix<double>(1, 2)), labels, {.method = CertificateMethod::interval});
  EXPECT_TRUE(zero.correct[0]);
  EXPECT_GT(zero.radius[0], 0);
  // Without support the output is the bias: certified up to the limit of the search.
  const Model constant = machine_of("eq2", Matrix<double>(0, 2), Matrix<double>(0, 1), Scheme::sign, 2, {0.5});
  const Certificates all = certify(constant, rows_of(normal_rows(1, 2, 73)), labels, {.attack = AttackOptions{}});
  EXPECT_GT(all.radius[0], 1e4);
  EXPECT_TRUE(std::isinf(all.attack[0]));
}

}  // namespace
}  // namespace widelimit
