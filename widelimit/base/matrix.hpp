#pragma once

#include "widelimit/base/error.hpp"
#include "widelimit/base/page_allocation.hpp"
#include "widelimit/base/types.hpp"

#include <algorithm>
#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace widelimit {

/// Non-owning row-major matrix view; row i starts at data + i·stride.
template <typename T>
struct MatrixView {
  T* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;

  [[nodiscard]] T* row(Index i) const { return data + i * stride; }
  [[nodiscard]] T& operator()(Index i, Index j) const { return data[i * stride + j]; }
  [[nodiscard]] MatrixView block(Index i, Index j, Index r, Index c) const {
    return {data + i * stride + j, r, c, stride};
  }
  operator MatrixView<const T>() const requires(!std::is_const_v<T>) { return {data, rows, cols, stride}; }
};

/// Owning row-major matrix, zero-initialized unless `content` is unset; movable, copied by copy() only.
template <std::floating_point T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(Index rows, Index cols, Content content = Content::zero)
      : data_(static_cast<T*>(allocate_pages(sizeof(T) * static_cast<std::size_t>(rows * cols), content)),
              Release{sizeof(T) * static_cast<std::size_t>(rows * cols)}),
        rows_(rows),
        cols_(cols) {}

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] T* data() { return data_.get(); }
  [[nodiscard]] const T* data() const { return data_.get(); }
  [[nodiscard]] T& operator()(Index i, Index j) { return data_[i * cols_ + j]; }
  [[nodiscard]] const T& operator()(Index i, Index j) const { return data_[i * cols_ + j]; }
  [[nodiscard]] MatrixView<T> view() { return {data(), rows_, cols_, cols_}; }
  [[nodiscard]] MatrixView<const T> view() const { return {data(), rows_, cols_, cols_}; }
  [[nodiscard]] Matrix copy() const {
    Matrix result(rows_, cols_, Content::unset);
    std::copy_n(data(), rows_ * cols_, result.data());
    return result;
  }

 private:
  struct Release {
    std::size_t bytes = 0;
    void operator()(T* memory) const noexcept { release_pages(memory, bytes); }
  };
  std::unique_ptr<T[], Release> data_;
  Index rows_ = 0;
  Index cols_ = 0;
};

}  // namespace widelimit
