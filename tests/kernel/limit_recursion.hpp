#pragma once

#include "widelimit/base/types.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

namespace widelimit {

/// The limit kernels of two images, implemented independently and as plainly as possible: one matrix Σ and one Θ over
/// all positions of both images (image 0 first); every layer maps such matrices.          [docs/theory/kernels.md]
struct LimitRecursion {
  Index height = 1;
  Index width = 1;
  std::vector<double> sigma;
  std::vector<double> theta;

  [[nodiscard]] Index positions() const { return height * width; }
  [[nodiscard]] Index side() const { return 2 * positions(); }
  [[nodiscard]] static double& at(std::vector<double>& m, Index n, Index p, Index q) {
    return m[static_cast<std::size_t>(p * n + q)];
  }

  /// Samples as rows of H·W·C values.
  LimitRecursion(const Shape& shape, const double* x0, const double* x1) : height(shape.height), width(shape.width) {
    const Index n = side();
    const Index pos = positions();
    sigma.assign(static_cast<std::size_t>(n * n), 0.0);
    theta.assign(sigma.size(), 0.0);
    const auto value = [&](Index p, Index c) {
      const double* image = p < pos ? x0 : x1;
      return image[p % pos * shape.channels + c];
    };
    for (Index p = 0; p < n; ++p) {
      for (Index q = 0; q < n; ++q) {
        for (Index c = 0; c < shape.channels; ++c) {
          at(sigma, n, p, q) += value(p, c) * value(q, c) / static_cast<double>(shape.channels);
        }
      }
    }
  }

  /// Sums of the form MΣMᵀ: new entry (p,q) = combine(m, p, q).
  void replace(Index new_height, Index new_width,
               const std::function<double(std::vector<double>&, Index, Index)>& combine) {
    const Index n = 2 * new_height * new_width;
    for (auto* m : {&sigma, &theta}) {
      std::vector<double> result(static_cast<std::size_t>(n * n));
      for (Index p = 0; p < n; ++p) {
        for (Index q = 0; q < n; ++q) at(result, n, p, q) = combine(*m, p, q);
      }
      *m = std::move(result);
    }
    height = new_height;
    width = new_width;
  }

  void weigh(double w, double b, bool trained = true) {
    for (std::size_t i = 0; i < sigma.size(); ++i) {
      sigma[i] = w * w * sigma[i] + b * b;
      theta[i] = (trained ? sigma[i] : 0) + w * w * theta[i];
    }
  }

  /// k×k windows, SAME: `before` rows and columns of zero padding in front; output ⌈n/stride⌉.
  void window_mean(Index k, Index stride, Index before) {
    const Index h = height, w = width, n = side();
    const Index oh = (h + stride - 1) / stride, ow = (w + stride - 1) / stride;
    const auto read = [=](Index p, Index r, Index c) {
      const Index local = p % (oh * ow);
      const Index i = local / ow * stride + r - before, j = local % ow * stride + c - before;
      return i < 0 || i >= h || j < 0 || j >= w ? Index{-1} : (p < oh * ow ? 0 : h * w) + i * w + j;
    };
    replace(oh, ow, [=](std::vector<double>& m, Index p, Index q) {
      double sum = 0;
      for (Index r = 0; r < k; ++r) {
        for (Index c = 0; c < k; ++c) {
          if (read(p, r, c) >= 0 && read(q, r, c) >= 0) sum += at(m, n, read(p, r, c), read(q, r, c));
        }
      }
      return sum / static_cast<double>(k * k);
    });
  }

  void flatten() {
    const Index pos = positions(), n = side();
    replace(1, 1, [=](std::vector<double>& m, Index s, Index t) {
      double sum = 0;
      for (Index p = 0; p < pos; ++p) sum += at(m, n, s * pos + p, t * pos + p);
      return sum / static_cast<double>(pos);
    });
  }

  void global_average() {
    const Index pos = positions(), n = side();
    replace(1, 1, [=](std::vector<double>& m, Index s, Index t) {
      double sum = 0;
      for (Index p = 0; p < pos; ++p) {
        for (Index q = 0; q < pos; ++q) sum += at(m, n, s * pos + p, t * pos + q);
      }
      return sum / static_cast<double>(pos * pos);
    });
  }

  /// dual(a, b, s): {E[φφ], E[φ'φ']} for variances a, b and covariance s.
  void activate(const std::function<std::pair<double, double>(double, double, double)>& dual) {
    const std::vector<double> before = sigma;
    const auto n = static_cast<std::size_t>(side());
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = 0; q < n; ++q) {
        const auto [value, slope] = dual(before[p * n + p], before[q * n + q], before[p * n + q]);
        sigma[p * n + q] = value;
        theta[p * n + q] *= slope;
      }
    }
  }
  void relu() {
    activate([](double a, double b, double s) {
      const double rho = std::clamp(s / std::sqrt(a * b), -1.0, 1.0);
      const double angle = std::numbers::pi - std::acos(rho);
      return std::pair(std::sqrt(a * b) * (std::sqrt(1 - rho * rho) + angle * rho) / (2 * std::numbers::pi),
                       angle / (2 * std::numbers::pi));
    });
  }
  void erf() {
    activate([](double a, double b, double s) {
      const double norm = (1 + 2 * a) * (1 + 2 * b);
      return std::pair(2 / std::numbers::pi * std::asin(2 * s / std::sqrt(norm)),
                       4 / std::numbers::pi / std::sqrt(norm - 4 * s * s));
    });
  }

  void layer_norm() {
    const std::vector<double> before = sigma;
    const auto n = static_cast<std::size_t>(side());
    for (std::size_t i = 0; i < n * n; ++i) {
      const double scale = std::sqrt(before[i / n * (n + 1)] * before[i % n * (n + 1)]);
      sigma[i] /= scale;
      theta[i] /= scale;
    }
  }

  void dropout(double rate) {
    for (Index p = 0; p < side(); ++p) {
      at(sigma, side(), p, p) /= rate;
      at(theta, side(), p, p) /= rate;
    }
  }

  void attention(bool trained = true) {
    const Index pos = positions(), n = side();
    std::vector<double> zeta(sigma.size(), 0.0);
    for (Index p = 0; p < n; ++p) {
      const Index first = p / pos * pos;
      double sum = 0;
      for (Index q = first; q < first + pos; ++q) sum += at(zeta, n, p, q) = std::exp(at(sigma, n, p, q));
      for (Index q = first; q < first + pos; ++q) at(zeta, n, p, q) /= sum;
    }
    replace(height, width, [&](std::vector<double>& m, Index p, Index q) {
      double sum = 0;
      for (Index r = 0; r < n; ++r) {
        for (Index s = 0; s < n; ++s) sum += at(zeta, n, p, r) * at(m, n, r, s) * at(zeta, n, q, s);
      }
      return sum;
    });
    for (std::size_t i = 0; trained && i < sigma.size(); ++i) theta[i] += 2 * sigma[i];
  }

  LimitRecursion& operator+=(const LimitRecursion& other) {
    for (std::size_t i = 0; i < sigma.size(); ++i) {
      sigma[i] += other.sigma[i];
      theta[i] += other.theta[i];
    }
    return *this;
  }
};

}  // namespace widelimit
