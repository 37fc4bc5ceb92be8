#pragma once

#include "widelimit/engine/host/box_pass.hpp"
#include "widelimit/engine/host/compensated_pass.hpp"
#include "widelimit/kernel/gram_columns.hpp"
#include "widelimit/machine/gram/product_error.hpp"
#include "widelimit/machine/gram/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

namespace widelimit {

/// Ka from nothing but a, with a bound of its rounding.
template <std::floating_point T>
class FreshProduct {
 public:
  /// K stands for its symmetric part: |K_ij − K_ji| ≤ asymmetry·√(K_ii K_jj), and |K_ij| ≤ (1 + excess)√(K_ii K_jj).
  FreshProduct(GramColumns<T>& columns, double asymmetry, double excess)
      : columns_(columns), rounding_(lengths_of(columns), asymmetry, excess), low_(usize(columns.size())) {}

  /// From now on in twice the precision, which takes about five times as long.
  void make_precise() { precise_ = true; }
  [[nodiscard]] bool precise() const { return precise_; }
  [[nodiscard]] std::span<const double> lengths() const { return rounding_.lengths(); }

  /// O(n·support). `beat` is called often, and stops the work by throwing.
  void compute(std::span<const double> a, std::span<double> product, const std::function<void()>& beat) {
    std::fill(product.begin(), product.end(), 0.0);
    std::fill(low_.begin(), low_.end(), 0.0);
    Index support = 0;
    for (Index j = 0; j < columns_.size(); ++j) {
      const double by = a[usize(j)];
      if (by == 0) continue;
      if (support++ % columns_of_a_beat == 0) beat();
      const T* column = columns_.column(j);
      if (precise_) {
        host::accumulate(column, by, product.data(), low_.data(), columns_.size());
      } else {
        // The pass of the box solver; the working set it finds is not used here.
        (void)host::advance({column, by, column, 0.0}, low_.data(), product.data(), columns_.size());
      }
    }
    if (precise_) std::transform(product.begin(), product.end(), low_.begin(), product.begin(), std::plus<>());
    size_ = rounding_.size_of({a.data(), columns_.size(), 1, 1}, 0);
    error_ = rounding_.error(size_, support, precise_);
  }
  /// The product, and its error, of coefficients that were multiplied by t.
  void scale(double t, std::span<double> product) {
    std::for_each(product.begin(), product.end(), [&](double& value) { value *= t; });
    size_ *= t;
    error_.relative = error_.relative * t + 4 * unit_rounding * size_;
    error_.absolute = error_.absolute * std::max(t, 1.0) + 4 * underflow_unit;
  }
  /// Of the last product.
  [[nodiscard]] const ProductError& error() const { return error_; }
  /// The last product is that of a problem on the same columns before this one.
  void know(const ProductError& error) { error_ = {lengths(), error.relative, error.absolute}; }

 private:
  static constexpr Index columns_of_a_beat = 64;

  [[nodiscard]] static std::vector<double> lengths_of(const GramColumns<T>& columns) {
    std::vector<double> lengths;
    lengths.reserve(usize(columns.size()));
    for (Index k = 0; k < columns.size(); ++k) lengths.push_back(std::sqrt(std::max(0.0, columns.diagonal(k))));
    return lengths;
  }

  GramColumns<T>& columns_;
  ProductRounding rounding_;
  std::vector<double> low_;
  bool precise_ = false;
  double size_ = 0;  ///< Σ√K_jj|a_j|
  ProductError error_;
};

}  // namespace widelimit
