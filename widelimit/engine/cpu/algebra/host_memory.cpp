#include "widelimit/engine/cpu/algebra/host_memory.hpp"

#include "widelimit/base/error.hpp"

#include <memory>
#include <typeinfo>
#include <utility>
#include <variant>

namespace widelimit::cpu {

namespace {

/// Compares typeid, since HostMemory is final: dynamic_cast is measurable for small products.
const HostMemory& memory_of(const EngineMatrix& a) {
  const EngineMatrix::Memory* memory = a.memory();
  if (memory == nullptr || typeid(*memory) != typeid(HostMemory)) {
    fail(Code::usage, "the matrix is empty or belongs to another engine; pass a matrix of the cpu engine");
  }
  return static_cast<const HostMemory&>(*memory);
}

}  // namespace

template <std::floating_point T>
EngineMatrix owned(Matrix<T> matrix) {
  auto memory = std::make_shared<HostMemory>();
  const Index rows = matrix.rows();
  const Index cols = matrix.cols();
  memory->entries = AnyView(MatrixView<const T>(matrix.view()));
  memory->owned = std::move(matrix);
  memory->writable = true;
  return {std::move(memory), rows, cols, precision_of<T>};
}

EngineMatrix lent(const AnyView& host, bool writable) {
  auto memory = std::make_shared<HostMemory>();
  memory->writable = writable;
  return std::visit(
      [&]<typename T>(MatrixView<const T> view) {
        if (view.rows == 1) view.stride = view.cols;  // any stride is valid for one row, but BLAS rejects small ones
        memory->entries = view;
        return EngineMatrix(std::move(memory), view.rows, view.cols, precision_of<T>);
      },
      host);
}

AnyView entries_of(const EngineMatrix& a) {
  return std::visit(
      [&](const auto& all) { return AnyView(all.block(a.first_row(), a.first_col(), a.rows(), a.cols())); },
      memory_of(a).entries);
}

template <std::floating_point T>
MatrixView<T> writable(const EngineMatrix& a) {
  if (!memory_of(a).writable)
    fail(Code::usage, "the matrix wraps read-only memory of the caller; copy it before writing to it");
  const MatrixView<const T> view = constant<T>(a);
  return {const_cast<T*>(view.data), view.rows, view.cols, view.stride};
}

template <std::floating_point T>
std::vector<MatrixView<T>> views_of(std::span<const EngineMatrix> matrices) {
  std::vector<MatrixView<T>> result;
  for (const EngineMatrix& matrix : matrices) result.push_back(writable<T>(matrix));
  return result;
}

template EngineMatrix owned(Matrix<float>);
template EngineMatrix owned(Matrix<double>);
template MatrixView<float> writable(const EngineMatrix&);
template MatrixView<double> writable(const EngineMatrix&);
template std::vector<MatrixView<float>> views_of(std::span<const EngineMatrix>);
template std::vector<MatrixView<double>> views_of(std::span<const EngineMatrix>);

}  // namespace widelimit::cpu
