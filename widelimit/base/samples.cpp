#include "widelimit/base/samples.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace widelimit {

SampleView SampleView::part(Index begin, Index size) const {
  return std::visit([&](const auto& rows) { return SampleView(rows.block(begin, 0, size, rows.cols), shape); }, values);
}

std::size_t SampleView::bytes() const {
  return std::visit(
      [](const auto& rows) { return static_cast<std::size_t>(rows.rows * rows.cols) * sizeof(*rows.data); }, values);
}

bool SampleView::same_memory(const SampleView& other) const {
  return shape == other.shape && values.index() == other.values.index() &&
         std::visit(
             [&](const auto& mine) {
               const auto& theirs = std::get<std::decay_t<decltype(mine)>>(other.values);
               return mine.data == theirs.data && mine.rows == theirs.rows && mine.stride == theirs.stride;
             },
             values);
}

AnyMatrix gather(const SampleView& x, std::span<const Index> chosen) {
  return std::visit(
      [&]<typename T>(const MatrixView<const T>& rows) {
        Matrix<T> result(std::ssize(chosen), rows.cols, Content::unset);
        for (std::size_t i = 0; i < chosen.size(); ++i) {
          std::copy_n(rows.row(chosen[i]), rows.cols, result.view().row(static_cast<Index>(i)));
        }
        return AnyMatrix(std::move(result));
      },
      x.values);
}

}  // namespace widelimit
