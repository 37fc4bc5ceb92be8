#include "widelimit/kernel/label_aware/label_aware.hpp"

#include "tests/kernel/normal_rows.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/engine/host/absolute_distances.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/label_aware/hadamard_sketch.hpp"
#include "widelimit/kernel/label_aware/spectrum_repair.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>

namespace widelimit {
namespace {

using Real = long double;
using Rows = std::vector<std::vector<Real>>;

/// Samples near one centre for each class, their kernel, and everything once more for test samples.
struct Problem {
  Matrix<double> x, x_test, k, k_test;
  std::vector<Index> labels;
  Index classes;

  Problem(Index n, Index tests, Index d, Index class_count, std::uint64_t seed = 1) : classes(class_count) {
    const Random random(seed);
    const auto draw = [&](Index count, std::uint64_t from) {
      Matrix<double> rows(count, d);
      for (Index i = 0; i < count; ++i) {
        for (Index k = 0; k < d; ++k) {
          const auto at = static_cast<std::uint64_t>(i * d + k);
          rows(i, k) =
              0.4 * random.normal(from + at) + 0.6 * random.normal(static_cast<std::uint64_t>((i % classes) * d + k));
        }
      }
      return rows;
    };
    x = draw(n, 10'000);
    x_test = draw(tests, 900'000);
    for (Index i = 0; i < n; ++i) labels.push_back(i % classes);
    const Network network = Network::parse("dense(w_std=1.5, b_std=0.2) relu dense");
    const auto engine = make_engine("cpu");
    k = std::get<Matrix<double>>(gram(network, view(), {.kind = Kind::ntk}, *engine).ntk);
    k_test = std::get<Matrix<double>>(gram(network, test_view(), view(), {.kind = Kind::ntk}, *engine).ntk);
  }
  [[nodiscard]] SampleView view() const { return {x.view(), {1, 1, x.cols()}}; }
  [[nodiscard]] SampleView test_view() const { return {x_test.view(), {1, 1, x_test.cols()}}; }
  [[nodiscard]] PairSources sources() const { return {view(), test_view()}; }
};

Matrix<double> copied(const Matrix<double>& m) {
  Matrix<double> copy(m.rows(), m.cols());
  std::copy_n(m.data(), m.rows() * m.cols(), copy.data());
  return copy;
}

/// The definition, one pair after the other in long double, without any of the library's sums.
namespace brute {

std::vector<Real> sample(const Matrix<double>& x, Index i) {
  std::vector<Real> row(x.data() + i * x.cols(), x.data() + (i + 1) * x.cols());
  row.push_back(1);
  return row;
}

Real inner(const std::vector<Real>& a, const std::vector<Real>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), Real{0});
}

struct Learned {
  Real mean_square = 0;
  Rows components;
  std::vector<Real> centre;
};

/// Principal components by orthogonal iteration on the scatter matrix.
Learned learn(const Matrix<double>& x, Index components) {
  const Index n = x.rows();
  Learned learned;
  Rows rows;
  for (Index i = 0; i < n; ++i) rows.push_back(sample(x, i));
  const std::size_t d = rows.front().size();
  for (const auto& a : rows) {
    for (const auto& b : rows) {
      for (std::size_t k = 0; k < d; ++k) learned.mean_square += (a[k] - b[k]) * (a[k] - b[k]);
    }
  }
  learned.mean_square /= static_cast<Real>(n * n);
  learned.centre.assign(d, 0);
  for (const auto& a : rows) {
    for (std::size_t k = 0; k < d; ++k) learned.centre[k] += a[k] / static_cast<Real>(n);
  }
  Rows scatter(d, std::vector<Real>(d, 0));
  for (const auto& a : rows) {
    for (std::size_t k = 0; k < d; ++k) {
      for (std::size_t l = 0; l < d; ++l) scatter[k][l] += (a[k] - learned.centre[k]) * (a[l] - learned.centre[l]);
    }
  }
  for (Index c = 0; c < components; ++c) {
    std::vector<Real> v(d);
    for (std::size_t k = 0; k < d; ++k) v[k] = std::sin(static_cast<Real>(k + 1) * static_cast<Real>(c + 1));
    for (int step = 0; step < 20'000; ++step) {
      std::vector<Real> w(d, 0);
      for (std::size_t k = 0; k < d; ++k) w[k] = inner(scatter[k], v);
      for (const auto& before : learned.components) {
        const Real along = inner(before, w);
        for (std::size_t k = 0; k < d; ++k) w[k] -= along * before[k];
      }
      const Real norm = std::sqrt(inner(w, w));
      Real change = 0;
      for (std::size_t k = 0; k < d; ++k) {
        change = std::max(change, std::abs(w[k] / norm - v[k]));
        v[k] = w[k] / norm;
      }
      if (change < 1e-17L) break;
    }
    learned.components.push_back(v);
  }
  return learned;
}

std::vector<Real> features(Real kernel, const std::vector<Real>& a, const std::vector<Real>& b,
                           const Learned& learned) {
  const auto d = static_cast<Real>(a.size());
  const Real norms = std::sqrt(inner(a, a) * inner(b, b));
  const Real cosine = std::min<Real>(1, inner(a, b) / norms);
  Real square = 0;
  Real absolute = 0;
  Real mean_a = 0;
  Real mean_b = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    square += (a[k] - b[k]) * (a[k] - b[k]);
    absolute += std::abs(a[k] - b[k]);
    mean_a += a[k] / d;
    mean_b += b[k] / d;
  }
  Real cross = 0;
  Real own_a = 0;
  Real own_b = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    cross += (a[k] - mean_a) * (b[k] - mean_b);
    own_a += (a[k] - mean_a) * (a[k] - mean_a);
    own_b += (b[k] - mean_b) * (b[k] - mean_b);
  }
  std::vector<Real> all{kernel,
                        inner(a, b),
                        cosine,
                        square,
                        norms,
                        std::sqrt(1 - cosine * cosine),
                        std::acos(cosine),
                        std::exp(-square / learned.mean_square),
                        cross / std::sqrt(own_a * own_b),
                        absolute};
  const auto score = [&](const std::vector<Real>& x, const std::vector<Real>& v) {
    Real sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) sum += (x[k] - learned.centre[k]) * v[k];
    return sum;
  };
  for (const auto& v : learned.components) all.push_back(score(a, v) * score(b, v));
  for (const auto& v : learned.components) all.push_back(std::abs(score(a, v) - score(b, v)));
  return all;
}

/// Least squares by modified Gram–Schmidt on the design itself, never on normal equations.
std::vector<Real> least_squares(Rows columns, std::vector<Real> z) {
  const std::size_t p = columns.size();
  Rows upper(p, std::vector<Real>(p, 0));
  std::vector<Real> along(p, 0);
  for (std::size_t i = 0; i < p; ++i) {
    upper[i][i] = std::sqrt(inner(columns[i], columns[i]));
    for (Real& value : columns[i]) value /= upper[i][i];
    for (std::size_t j = i + 1; j < p; ++j) {
      upper[i][j] = inner(columns[i], columns[j]);
      for (std::size_t k = 0; k < z.size(); ++k) columns[j][k] -= upper[i][j] * columns[i][k];
    }
    along[i] = inner(columns[i], z);
    for (std::size_t k = 0; k < z.size(); ++k) z[k] -= along[i] * columns[i][k];
  }
  std::vector<Real> solution(p, 0);
  for (std::size_t i = p; i-- > 0;) {
    solution[i] = along[i];
    for (std::size_t j = i + 1; j < p; ++j) solution[i] -= upper[i][j] * solution[j];
    solution[i] /= upper[i][i];
  }
  return solution;
}

/// Θ + ratio·mean|Θ|/mean|Z|·Z for all test pairs, from Z of the training pairs and of the test pairs.
Rows label_aware(const Problem& problem, const Rows& z_train, const Rows& z_test, Real ratio) {
  Real kernel_sum = 0;
  Real z_sum = 0;
  for (Index i = 0; i < problem.k.rows(); ++i) {
    for (Index j = 0; j < problem.k.cols(); ++j) {
      kernel_sum += std::abs(static_cast<Real>(problem.k(i, j)));
      z_sum += std::abs(z_train[usize(i)][usize(j)]);
    }
  }
  Rows result;
  for (Index i = 0; i < problem.k_test.rows(); ++i) {
    result.emplace_back();
    for (Index j = 0; j < problem.k_test.cols(); ++j) {
      result.back().push_back(problem.k_test(i, j) + ratio * kernel_sum / z_sum * z_test[usize(i)][usize(j)]);
    }
  }
  return result;
}

/// Linear regression over the n² × p design.
Rows linear(const Problem& problem, Index components, Real different, Real ratio) {
  const Learned learned = learn(problem.x, components);
  const Index n = problem.x.rows();
  Rows columns(usize(10 + 2 * components));
  std::vector<Real> z;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const auto row = features(problem.k(i, j), sample(problem.x, i), sample(problem.x, j), learned);
      for (std::size_t f = 0; f < row.size(); ++f) columns[f].push_back(row[f]);
      z.push_back(problem.labels[usize(i)] == problem.labels[usize(j)] ? 1 : different);
    }
  }
  const std::vector<Real> c = least_squares(columns, z);
  const auto estimate = [&](const Matrix<double>& kernel, const Matrix<double>& left) {
    Rows values;
    for (Index i = 0; i < kernel.rows(); ++i) {
      values.emplace_back();
      for (Index j = 0; j < n; ++j) {
        values.back().push_back(inner(features(kernel(i, j), sample(left, i), sample(problem.x, j), learned), c));
      }
    }
    return values;
  };
  return label_aware(problem, estimate(problem.k, problem.x), estimate(problem.k_test, problem.x_test), ratio);
}

/// Nadaraya and Watson over all pairs, with the published weight σ² − (Θ − Θ_ij)².
Rows smoothed(const Problem& problem, const Rows& z, Real ratio) {
  const double* begin = problem.k.data();
  const double* end = begin + problem.k.rows() * problem.k.cols();
  const Real low = *std::min_element(begin, end);
  const Real high = *std::max_element(begin, end);
  const auto estimate = [&](const Matrix<double>& kernel) {
    Rows values;
    for (Index a = 0; a < kernel.rows(); ++a) {
      values.emplace_back();
      for (Index b = 0; b < kernel.cols(); ++b) {
        const Real theta = std::clamp<Real>(kernel(a, b), low, high);
        Real above = 0;
        Real below = 0;
        for (Index i = 0; i < problem.k.rows(); ++i) {
          for (Index j = 0; j < problem.k.cols(); ++j) {
            const Real apart = theta - problem.k(i, j);
            const Real weight = (high - low) * (high - low) - apart * apart;
            above += weight * z[usize(i)][usize(j)];
            below += weight;
          }
        }
        values.back().push_back(above / below);
      }
    }
    return values;
  };
  return label_aware(problem, estimate(problem.k), estimate(problem.k_test), ratio);
}

Rows targets(const Problem& problem, Real different) {
  Rows z;
  for (const Index a : problem.labels) {
    z.emplace_back();
    for (const Index b : problem.labels) z.back().push_back(a == b ? 1 : different);
  }
  return z;
}

/// H⁻¹ZH⁻¹ by elimination.
Rows between_inverses(const Problem& problem, Rows z) {
  const auto n = usize(problem.k.rows());
  for (int side = 0; side < 2; ++side) {
    Rows h(n, std::vector<Real>(n));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) h[i][j] = problem.k(static_cast<Index>(i), static_cast<Index>(j));
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t r = 0; r < n; ++r) {
        if (r == i) continue;
        const Real factor = h[r][i] / h[i][i];
        for (std::size_t j = 0; j < n; ++j) {
          h[r][j] -= factor * h[i][j];
          z[r][j] -= factor * z[i][j];
        }
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) z[i][j] /= h[i][i];
    }
    Rows turned(n, std::vector<Real>(n));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) turned[j][i] = z[i][j];
    }
    z = turned;
  }
  return z;
}

}  // namespace brute

Matrix<double> test_kernel(const Problem& problem, const LabelAwareOptions& options, const Engine& engine) {
  const GramMatrix k(problem.k.view(), engine);
  const LabelAware aware = fit_label_aware(k, problem.sources(), problem.labels, problem.classes, options);
  aware.validate();
  AnyMatrix result = copied(problem.k_test);
  (void)add_label_aware(aware, KernelPart::test, result, problem.sources(), engine);
  return std::move(std::get<Matrix<double>>(result));
}

/// Largest difference beside the largest change of an entry.
double apart(const Matrix<double>& found, const Rows& expected, const Matrix<double>& before) {
  Real difference = 0;
  Real change = 0;
  for (Index i = 0; i < found.rows(); ++i) {
    for (Index j = 0; j < found.cols(); ++j) {
      difference = std::max(difference, std::abs(found(i, j) - expected[usize(i)][usize(j)]));
      change = std::max(change, std::abs(expected[usize(i)][usize(j)] - before(i, j)));
    }
  }
  return static_cast<double>(difference / change);
}

/// Features of unit length have a condition κ below 1e4 here, normal equations lose κ²ε ≈ 2e-8 at worst.
TEST(LabelAwareKernel, LinearRegressionIsThatOfTheWholeDesign) {
  const auto engine = make_engine("cpu");
  for (const Index classes : {2, 3}) {
    const Problem problem(37, 9, 8, classes);
    for (const Index components : {0, 5}) {
      for (const PairTarget target : {PairTarget::same, PairTarget::opposite}) {
        const Matrix<double> found =
            test_kernel(problem,
                        {.method = components > 0 ? LabelAwareMethod::linear2 : LabelAwareMethod::linear1,
                         .target = target,
                         .ratio = 0.3},
                        *engine);
        const Rows expected = brute::linear(problem, components, target == PairTarget::same ? 0 : -1, 0.3L);
        EXPECT_LT(apart(found, expected, problem.k_test), 2e-8) << classes << " " << components;
      }
    }
  }
}

TEST(LabelAwareKernel, KernelRegressionIsTheWeightedMeanOverAllPairs) {
  const auto engine = make_engine("cpu");
  for (const Index classes : {2, 3}) {
    const Problem problem(33, 12, 6, classes);
    for (const PairTarget target : {PairTarget::same, PairTarget::opposite}) {
      const Rows z = brute::targets(problem, target == PairTarget::same ? 0 : -1);
      const LabelAwareOptions first{.method = LabelAwareMethod::kr1, .target = target};
      EXPECT_LT(apart(test_kernel(problem, first, *engine), brute::smoothed(problem, z, 0.1L), problem.k_test), 1e-12);
      const LabelAwareOptions second{.method = LabelAwareMethod::kr2, .target = target};
      EXPECT_LT(apart(test_kernel(problem, second, *engine),
                      brute::smoothed(problem, brute::between_inverses(problem, z), 0.1L), problem.k_test),
                1e-9);
    }
  }
}

/// The reference engine computes in long double; more samples than a strip holds cross its edges.
TEST(LabelAwareKernel, EnginesAgreeAndThreadsChangeNoBit) {
  const Problem problem(300, 140, 5, 3);
  for (const LabelAwareMethod method : {LabelAwareMethod::linear2, LabelAwareMethod::kr1, LabelAwareMethod::fjlt1}) {
    const LabelAwareOptions options{.method = method, .distortion = 0.05};
    const Matrix<double> one = test_kernel(problem, options, *make_engine("cpu", {.threads = 1}));
    const Matrix<double> four = test_kernel(problem, options, *make_engine("cpu", {.threads = 4}));
    EXPECT_TRUE(std::equal(one.data(), one.data() + one.rows() * one.cols(), four.data())) << to_string(method);
    const Matrix<double> reference = test_kernel(problem, options, *make_engine("reference"));
    for (Index i = 0; i < one.rows() * one.cols(); ++i) {
      EXPECT_NEAR(one.data()[i], reference.data()[i], 1e-8 * std::abs(one.data()[i]) + 1e-9) << to_string(method);
    }
  }
}

TEST(LabelAwareKernel, IsSymmetricAndTheTestRowOfATrainingSampleIsItsOwn) {
  const auto engine = make_engine("cpu");
  const Problem problem(290, 3, 5, 2);
  for (const LabelAwareMethod method : {LabelAwareMethod::linear1, LabelAwareMethod::linear2, LabelAwareMethod::kr1}) {
    const LabelAware aware = fit_label_aware({problem.k.view(), *engine}, problem.sources(), problem.labels, 2,
                                             {.method = method, .ratio = 0.5});
    AnyMatrix whole = copied(problem.k);
    (void)add_label_aware(aware, KernelPart::train, whole, problem.sources(), *engine);
    const auto& k = std::get<Matrix<double>>(whole);
    EXPECT_EQ(GramMatrix(k).asymmetry(), 0);
    AnyMatrix again = copied(problem.k);
    (void)add_label_aware(aware, KernelPart::test, again, {problem.view(), problem.view()}, *engine);
    const auto& rows = std::get<Matrix<double>>(again);
    for (Index i = 0; i < 290; i += 17) {
      // Of a sample and its copy the angle is right to √ε only.
      for (Index j = 0; j < 290; ++j) EXPECT_NEAR(k(i, j), rows(i, j), 1e-6) << i << " " << j;
    }
  }
}

/// λ by its definition: the label-aware part has `ratio` of the magnitude of the kernel.
TEST(LabelAwareKernel, RatioIsThatOfMeanMagnitudes) {
  const auto engine = make_engine("cpu");
  const Problem problem(150, 2, 4, 3);
  for (const LabelAwareMethod method : {LabelAwareMethod::linear1, LabelAwareMethod::kr1, LabelAwareMethod::kr2}) {
    const LabelAware aware = fit_label_aware({problem.k.view(), *engine}, problem.sources(), problem.labels, 3,
                                             {.method = method, .ratio = 0.25});
    AnyMatrix whole = copied(problem.k);
    (void)add_label_aware(aware, KernelPart::train, whole, problem.sources(), *engine);
    double kernel = 0;
    double added = 0;
    for (Index i = 0; i < 150 * 150; ++i) {
      kernel += std::abs(problem.k.data()[i]);
      added += std::abs(std::get<Matrix<double>>(whole).data()[i] - problem.k.data()[i]);
    }
    EXPECT_NEAR(added / kernel, 0.25, 1e-12) << to_string(method);
  }
}

/// Signed targets are 2·same − 1, and a weighted mean is linear.
TEST(LabelAwareKernel, SignedKernelRegressionIsTwiceTheOtherLessOne) {
  const auto engine = make_engine("cpu");
  const Problem problem(60, 2, 4, 4);
  const auto smoother = [&](PairTarget target) {
    return std::get<PairSmoother>(fit_label_aware({problem.k.view(), *engine}, {}, problem.labels, 4,
                                                  {.method = LabelAwareMethod::kr1, .target = target})
                                      .estimate);
  };
  const PairSmoother same = smoother(PairTarget::same);
  const PairSmoother sign = smoother(PairTarget::opposite);
  for (Index i = 0; i < 60; ++i) EXPECT_NEAR(sign(problem.k(0, i)), 2 * same(problem.k(0, i)) - 1, 1e-12);
}

TEST(LabelAwareKernel, ASketchIsNearlyAsGoodAsAllPairs) {
  const auto engine = make_engine("cpu");
  const Problem problem(120, 2, 6, 2);
  const auto explained = [&](LabelAwareMethod method) {
    const LabelAware aware = fit_label_aware({problem.k.view(), *engine}, problem.sources(), problem.labels, 2,
                                             {.method = method, .ratio = 1});
    AnyMatrix whole = copied(problem.k);
    (void)add_label_aware(aware, KernelPart::train, whole, problem.sources(), *engine);
    double rest = 0;
    for (Index i = 0; i < 120; ++i) {
      for (Index j = 0; j < 120; ++j) {
        const double z = (std::get<Matrix<double>>(whole)(i, j) - problem.k(i, j)) / aware.lambda;
        const double target = problem.labels[usize(i)] == problem.labels[usize(j)] ? 1 : -1;
        rest += (z - target) * (z - target);
      }
    }
    return 1 - rest / (120.0 * 120.0);
  };
  for (const auto& [exact, sketch] : {std::pair(LabelAwareMethod::linear1, LabelAwareMethod::fjlt1),
                                      std::pair(LabelAwareMethod::linear2, LabelAwareMethod::fjlt2)}) {
    const double best = explained(exact);
    EXPECT_GT(best, 0.3);
    const double found = explained(sketch);
    EXPECT_LE(found, best + 1e-9);
    // Residuals of a sketch of ε = 0.01 exceed the least by a factor of 1 + O(ε).
    EXPECT_LT(1 - found, 1.05 * (1 - best));
  }
}

TEST(HadamardSketch, IsTheProductOfItsThreeMatricesWhateverTheBlock) {
  constexpr Index length = 100;
  constexpr Index rows = 40;
  const auto sketched = [&](const std::vector<double>& v, Index most_block) {
    HadamardSketch sketch(length, rows, 0.1, 1, 5, most_block);
    for (Index s = 0; s < sketch.blocks(); ++s) {
      std::vector<double> block(usize(sketch.block()), 0.0);
      for (Index k = 0; k < sketch.block() && s * sketch.block() + k < length; ++k) {
        block[usize(k)] = v[usize(s * sketch.block() + k)];
      }
      sketch.add(s, 0, block.data());
    }
    return std::vector<double>(sketch.result().data(), sketch.result().data() + rows);
  };
  const auto unit = [](Index k) {
    std::vector<double> v(length, 0.0);
    v[usize(k)] = 1;
    return v;
  };
  std::vector<double> v(length);
  std::vector<double> expected(rows, 0.0);
  const Random random(3);
  for (Index k = 0; k < length; ++k) {
    v[usize(k)] = random.normal(static_cast<std::uint64_t>(k));
    const std::vector<double> whole = sketched(unit(k), 128);
    const std::vector<double> parts = sketched(unit(k), 16);
    // A column of PHD is that of another, with the signs of H: entries differ in sign and sum order alone.
    for (Index r = 0; r < rows; ++r) {
      EXPECT_NEAR(whole[usize(r)], parts[usize(r)], 1e-12);
      expected[usize(r)] += v[usize(k)] * whole[usize(r)];
    }
  }
  const std::vector<double> found = sketched(v, 32);
  for (Index r = 0; r < rows; ++r) EXPECT_NEAR(found[usize(r)], expected[usize(r)], 1e-11);
  // Lengths are kept on the mean: E‖PHDv‖² = rows·2^m·density·‖v‖².
  double mean = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    HadamardSketch sketch(length, rows, 0.1, 1, seed);
    std::vector<double> block(usize(sketch.block()), 0.0);
    std::copy(v.begin(), v.end(), block.begin());
    sketch.add(0, 0, block.data());
    for (Index r = 0; r < rows; ++r) mean += sketch.result()(0, r) * sketch.result()(0, r) / 200;
  }
  const double square = std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
  EXPECT_NEAR(mean / (rows * 128 * 0.1 * square), 1, 0.06);  // its standard error is below 0.015
}

TEST(AbsoluteDistances, AreSumsOfDifferences) {
  for (const auto& [m, n, d] : {std::tuple(1, 1, 1), std::tuple(3, 5, 7), std::tuple(9, 6, 1030)}) {
    const Matrix<double> a = normal_rows(m, d, 1);
    const Matrix<double> b = normal_rows(n, d, 2);
    Matrix<double> out(m, n);
    host::absolute_distances(a.view(), b.view(), out.view());
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j < n; ++j) {
        long double sum = 0;
        for (Index k = 0; k < d; ++k) sum += std::abs(static_cast<long double>(a(i, k)) - b(j, k));
        EXPECT_NEAR(out(i, j), static_cast<double>(sum), 1e-13 * static_cast<double>(sum));
      }
    }
  }
}

/// Unit rows make four of the features one and the same: the solution of least norm is found, and the rank told.
TEST(LabelAwareKernel, RedundantFeaturesDoNoHarm) {
  const auto engine = make_engine("cpu");
  Problem problem(50, 4, 6, 2);
  for (Index i = 0; i < 50; ++i) {
    double square = 0;
    for (Index k = 0; k < 6; ++k) square += problem.x(i, k) * problem.x(i, k);
    for (Index k = 0; k < 6; ++k) problem.x(i, k) /= std::sqrt(square);
  }
  const LabelAware aware =
      fit_label_aware({problem.k.view(), *engine}, problem.sources(), problem.labels, 2, {.ratio = 0.1});
  const auto& regression = std::get<PairRegression>(aware.estimate);
  EXPECT_LT(regression.rank, 10);
  EXPECT_GT(regression.rank, 4);
  EXPECT_GT(regression.explained, 0.3);
}

TEST(LabelAwareKernel, TakesFeaturesOfTheCaller) {
  const auto engine = make_engine("cpu");
  const Problem problem(140, 5, 4, 2);
  // The answer itself is one of the features: nothing is left to explain.
  const auto label = [&](Index i, bool test) { return test ? i % 2 : problem.labels[usize(i)]; };
  PairFunctions own{.count = 1, .evaluate = [&](const PairBlock& block, MatrixView<double> out) {
                      double* to = out.row(0);
                      for (Index i = block.rows.begin; i < block.rows.end; ++i) {
                        for (Index j = block.cols.begin; j < block.cols.end; ++j) {
                          *to++ = label(i, block.test) == label(j, false) ? 3 : -3;
                        }
                      }
                    }};
  PairSources sources = problem.sources();
  sources.own = &own;
  const LabelAware aware = fit_label_aware({problem.k.view(), *engine}, sources, problem.labels, 2, {});
  const auto& regression = std::get<PairRegression>(aware.estimate);
  EXPECT_NEAR(regression.explained, 1, 1e-9);
  EXPECT_NEAR(regression.coefficients.back(), 1.0 / 3, 1e-7);
  AnyMatrix test = copied(problem.k_test);
  (void)add_label_aware(aware, KernelPart::test, test, sources, *engine);
  EXPECT_NEAR(std::get<Matrix<double>>(test)(1, 1) - problem.k_test(1, 1), aware.lambda, 1e-6 * aware.lambda);

  own.evaluate = [](const PairBlock& block, MatrixView<double> out) {
    for (Index at = 0; at < out.cols; ++at) out(0, at) = static_cast<double>(at / block.cols.size());
  };
  EXPECT_THROW((void)fit_label_aware({problem.k.view(), *engine}, sources, problem.labels, 2, {}), Error);
}

TEST(LabelAwareKernel, CountsPairsBeyondTheTrainingRange) {
  const auto engine = make_engine("cpu");
  const Problem problem(40, 3, 4, 2);
  const LabelAware aware =
      fit_label_aware({problem.k.view(), *engine}, {}, problem.labels, 2, {.method = LabelAwareMethod::kr1});
  AnyMatrix far = copied(problem.k_test);
  auto& k = std::get<Matrix<double>>(far);
  for (Index j = 0; j < 40; ++j) k(1, j) = 1e6;
  EXPECT_EQ(add_label_aware(aware, KernelPart::test, far, {}, *engine), 40);
  AnyMatrix own = copied(problem.k);
  EXPECT_EQ(add_label_aware(aware, KernelPart::train, own, {}, *engine), 0);
}

TEST(LabelAwareKernel, RefusesWhatDoesNotFitTogether) {
  const auto engine = make_engine("cpu");
  const Problem problem(30, 3, 4, 2);
  const GramMatrix k(problem.k.view(), *engine);
  const auto complaint = [&](const PairSources& sources, std::vector<Index> labels, LabelAwareOptions options) {
    try {
      (void)fit_label_aware(k, sources, labels, 2, options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(complaint({}, problem.labels, {}).find("reads the samples"), std::string::npos);
  EXPECT_NE(complaint(problem.sources(), std::vector<Index>(30, 1), {}).find("one class"), std::string::npos);
  EXPECT_NE(complaint(problem.sources(), {0, 1}, {}).find("2 labels for 30"), std::string::npos);
  EXPECT_NE(complaint(problem.sources(), problem.labels, {.ratio = -1}).find("ratio"), std::string::npos);
  const Matrix<double> constant = [] {
    Matrix<double> ones(30, 30);
    std::fill_n(ones.data(), 900, 1.0);
    return ones;
  }();
  EXPECT_THROW((void)fit_label_aware(constant, {}, problem.labels, 2, {.method = LabelAwareMethod::kr1}), Error);
  EXPECT_THROW((void)fit_label_aware(constant, {}, problem.labels, 2, {.method = LabelAwareMethod::kr2}), Error);
}

/// A kernel with known eigenvalues.
class SpectrumRepairTest : public testing::TestWithParam<const char*> {
 protected:
  SpectrumRepairTest() : engine_(make_engine(GetParam())) {
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) {
        const double h = (i == j ? 1.0 : 0.0) - 2 * v_[usize(i)] * v_[usize(j)];
        householder_(i, j) = h;
      }
    }
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) {
        for (Index e = 0; e < 3; ++e) k_(i, j) += householder_(e, i) * values_[usize(e)] * householder_(e, j);
      }
    }
  }
  [[nodiscard]] Matrix<double> read(const EngineMatrix& a) const {
    Matrix<double> host(a.rows(), a.cols());
    engine_->algebra().read(a, host.view());
    return host;
  }
  std::unique_ptr<Engine> engine_;
  std::array<double, 3> v_{1.0 / 3, 2.0 / 3, 2.0 / 3};
  std::array<double, 3> values_{-2, 1, 5};
  Matrix<double> householder_{3, 3};
  Matrix<double> k_{3, 3};
};

TEST_P(SpectrumRepairTest, CountsSignsAndShifts) {
  const Algebra& algebra = engine_->algebra();
  EngineMatrix k = algebra.copy_of(k_.view());
  const SpectrumRepair seen = repair_spectrum(k, Psd::none, *engine_);
  EXPECT_EQ(seen.inertia, (Inertia{1, 0, 2}));
  EXPECT_NEAR(seen.smallest, -2, 1e-12);
  EXPECT_NEAR(seen.largest, 5, 1e-12);
  EXPECT_NEAR(read(k)(0, 0), k_(0, 0), 1e-15);
  EXPECT_NEAR(repair_spectrum(k, Psd::shift, *engine_).shift, 2, 1e-12);
  EXPECT_NEAR(read(k)(1, 1), k_(1, 1) + 2, 1e-12);
  EXPECT_NEAR(read(k)(0, 1), k_(0, 1), 1e-12);
  EngineMatrix again = algebra.copy_of(k_.view());
  EXPECT_THROW((void)repair_spectrum(again, Psd::refuse, *engine_), Error);
}

TEST_P(SpectrumRepairTest, ClipsTrainingRowsTestRowsAndCoefficientsAlike) {
  const Algebra& algebra = engine_->algebra();
  EngineMatrix k = algebra.copy_of(k_.view());
  const SpectrumRepair repair = repair_spectrum(k, Psd::clip, *engine_);
  const Matrix<double> clipped = read(k);
  EngineMatrix test = algebra.copy_of(k_.view());
  project_test(repair, test, *engine_);
  const Matrix<double> projected = read(test);
  Matrix<double> alpha(3, 1);
  alpha(0, 0) = 1;
  alpha(1, 0) = -4;
  alpha(2, 0) = 0.5;
  Matrix<double> moved = copied(alpha);
  project_coefficients(repair, moved.view(), *engine_);
  for (Index i = 0; i < 3; ++i) {
    double by_clipped = 0;
    double by_moved = 0;
    for (Index j = 0; j < 3; ++j) {
      const double expected = k_(i, j) + 2 * householder_(0, i) * householder_(0, j);
      EXPECT_NEAR(clipped(i, j), expected, 1e-12);
      EXPECT_NEAR(projected(i, j), expected, 1e-12);
      by_clipped += clipped(i, j) * alpha(j, 0);
      by_moved += k_(i, j) * moved(j, 0);
    }
    EXPECT_NEAR(by_clipped, by_moved, 1e-12);
  }
}
INSTANTIATE_TEST_SUITE_P(Engines, SpectrumRepairTest, testing::Values("cpu", "reference"));

}  // namespace
}  // namespace widelimit
