#include "widelimit/machine/gram/submatrix.hpp"

#include <type_traits>

namespace widelimit {

AnyMatrix submatrix(const AnyView& k, std::span<const Index> rows, std::span<const Index> cols) {
  return std::visit(
      [&](const auto& full) {
        using T = std::remove_const_t<std::remove_pointer_t<decltype(full.data)>>;
        Matrix<T> part(std::ssize(rows), std::ssize(cols), Content::unset);
        for (Index i = 0; i < part.rows(); ++i) {
          const auto* row = full.row(rows[static_cast<std::size_t>(i)]);
          for (Index j = 0; j < part.cols(); ++j) part(i, j) = row[cols[static_cast<std::size_t>(j)]];
        }
        return AnyMatrix(std::move(part));
      },
      k);
}

}  // namespace widelimit
