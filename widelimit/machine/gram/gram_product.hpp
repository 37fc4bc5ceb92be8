#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/samples.hpp"

#include <memory>
#include <span>
#include <vector>

namespace widelimit {

/// A Gram matrix that can be multiplied and looked at column by column, whether or not it exists in memory.
class GramProduct {
 public:
  virtual ~GramProduct() = default;
  [[nodiscard]] virtual Index samples() const = 0;
  [[nodiscard]] virtual std::vector<double> diagonal() const = 0;
  /// K(:, chosen): samples × chosen.
  [[nodiscard]] virtual Matrix<double> columns(std::span<const Index> chosen) const = 0;
  /// out = K·v; neither has gaps between rows. `progress` may stop it.
  virtual void apply(MatrixView<const double> v, MatrixView<double> out, Progress* progress) const = 0;
  /// Of its entries.
  [[nodiscard]] virtual Precision precision() const = 0;
  /// As check_gram says; 0 of a kernel that is computed symmetric.
  [[nodiscard]] virtual double asymmetry() const { return 0; }
  /// About how many multiply-adds an entry costs in a product with ten columns.
  [[nodiscard]] virtual double entry_cost() const = 0;
  /// Bytes held, besides what was handed over.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// Of a matrix in memory, which must outlive the product. Error{input} as check_gram says.
[[nodiscard]] std::unique_ptr<GramProduct> memory_product(const AnyView& k, int threads = 0);

}  // namespace widelimit
