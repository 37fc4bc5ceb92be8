#pragma once

#include "widelimit/base/random.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/label_aware/label_aware.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

/// A small problem, and label-aware kernels computed directly from the definition.
namespace widelimit {

using Real = long double;
using Rows = std::vector<std::vector<Real>>;

/// Samples clustered around one centre per class and their kernel, for training and for test samples.
struct Problem {
  Matrix<double> x, x_test, k, k_test;
  std::vector<Index> labels;
  Index classes;

  Problem(Index n, Index tests, Index d, Index class_count, std::uint64_t seed = 1) : classes(class_count) {
    const Random random(seed);
    const auto draw = [&](Index count, std::uint64_t from) {
      Matrix<double> rows(count, d);
      for (Index i = 0; i < count; ++i) {
        for (Index j = 0; j < d; ++j) {
          const auto at = static_cast<std::uint64_t>(i * d + j);
          rows(i, j) =
              0.4 * random.normal(from + at) + 0.6 * random.normal(static_cast<std::uint64_t>((i % classes) * d + j));
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

/// Direct evaluation of the definition, pair by pair in long double, independent of the sums of the library.
namespace brute {

inline std::vector<Real> sample(const Matrix<double>& x, Index i) {
  std::vector<Real> row(x.data() + i * x.cols(), x.data() + (i + 1) * x.cols());
  row.push_back(1);
  return row;
}

inline Real inner(const std::vector<Real>& a, const std::vector<Real>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), Real{0});
}

struct Learned {
  Real mean_square = 0;
  Rows components;
  std::vector<Real> centre;
};

/// Principal components by orthogonal iteration on the scatter matrix.
inline Learned learn(const Matrix<double>& x, Index components) {
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

inline std::vector<Real> features(Real kernel, const std::vector<Real>& a, const std::vector<Real>& b,
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

/// Least squares by modified Gram–Schmidt on the design matrix, without normal equations.
inline std::vector<Real> least_squares(Rows columns, std::vector<Real> z) {
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
inline Rows label_aware(const Problem& problem, const Rows& z_train, const Rows& z_test, Real ratio) {
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
inline Rows linear(const Problem& problem, Index components, Real different, Real ratio) {
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

/// Nadaraya–Watson regression over all pairs, with the published weight σ² − (Θ − Θ_ij)².
inline Rows smoothed(const Problem& problem, const Rows& z, Real ratio) {
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

inline Rows targets(const Problem& problem, Real different) {
  Rows z;
  for (const Index a : problem.labels) {
    z.emplace_back();
    for (const Index b : problem.labels) z.back().push_back(a == b ? 1 : different);
  }
  return z;
}

/// H⁻¹ZH⁻¹ by Gaussian elimination.
inline Rows between_inverses(const Problem& problem, Rows z) {
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

}  // namespace widelimit
