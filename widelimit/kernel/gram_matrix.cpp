#include "widelimit/kernel/gram_matrix.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>

namespace widelimit {

namespace {

/// Sums of larger entries may overflow float64.
constexpr double largest_entry = 1e300;

/// Formats an entry in the precision of its matrix.
std::string entry_text(const Algebra& algebra, const EngineMatrix& k, Index i, Index j) {
  if (k.precision() == Precision::f32) {
    float value = 0;
    algebra.read(k.block(i, j, 1, 1), MatrixView<float>{&value, 1, 1, 1});
    return fmt::format("{}", value);
  }
  double value = 0;
  algebra.read(k.block(i, j, 1, 1), MatrixView<double>{&value, 1, 1, 1});
  return fmt::format("{}", value);
}

[[noreturn]] void refuse(const Algebra& algebra, const EngineMatrix& k, Index i, Index j) {
  const auto finite = [&](Index row, Index col) {
    double value = 0;
    algebra.read(k.block(row, col, 1, 1), MatrixView<double>{&value, 1, 1, 1});
    return std::isfinite(value);
  };
  if (finite(i, j) && finite(j, i)) {
    fail(Code::input, "the Gram matrix is not symmetric: entry ({}, {}) is {}, entry ({}, {}) is {}", i, j,
         entry_text(algebra, k, i, j), j, i, entry_text(algebra, k, j, i));
  }
  if (finite(i, j)) std::swap(i, j);
  fail(Code::input, "entry ({}, {}) of the Gram matrix is {}", i, j, entry_text(algebra, k, i, j));
}

double asymmetry_of(const Algebra& algebra, const EngineMatrix& k, const std::vector<double>& diagonal,
                    double epsilon) {
  for (Index i = 0; i < k.rows(); ++i) {
    if (!std::isfinite(diagonal[usize(i)])) refuse(algebra, k, i, i);
  }
  const Symmetry found = algebra.symmetry(k, asymmetry_ulps * epsilon);
  if (found.invalid_entry) refuse(algebra, k, found.invalid_entry->first, found.invalid_entry->second);
  return found.equal ? 0 : asymmetry_ulps * epsilon;
}

bool consecutive(std::span<const Index> samples) {
  const auto gap = [](Index a, Index b) { return b != a + 1; };
  return !samples.empty() && std::adjacent_find(samples.begin(), samples.end(), gap) == samples.end();
}

}  // namespace

struct GramMatrix::Shared {
  const Engine* engine = nullptr;
  AnyMatrix copied;               ///< data of `held`, if this is a copy in host memory
  std::shared_ptr<Shared> whole;  ///< matrix of which this is a submatrix, keeps shared memory alive
  EngineMatrix held;
  std::shared_ptr<const GramSource> source;

  std::mutex guard;
  std::optional<std::vector<double>> diagonal;
  std::optional<double> asymmetry;
  bool checked = false;  ///< check() has passed: samples exist, diagonal is in range
};

GramMatrix::GramMatrix(const AnyView& host, const Engine& engine) : GramMatrix(engine.algebra().hold(host), engine) {}

GramMatrix::GramMatrix(EngineMatrix k, const Engine& engine) : shared_(std::make_shared<Shared>()) {
  shared_->engine = &engine;
  shared_->held = std::move(k);
}

GramMatrix::GramMatrix(std::shared_ptr<const GramSource> source) : shared_(std::make_shared<Shared>()) {
  shared_->engine = &source->engine();
  shared_->asymmetry = 0;
  shared_->source = std::move(source);
}

const Engine& GramMatrix::engine() const { return *shared_->engine; }
bool GramMatrix::held() const { return shared_->source == nullptr; }
Index GramMatrix::samples() const { return held() ? shared_->held.rows() : shared_->source->samples(); }
Precision GramMatrix::precision() const { return held() ? shared_->held.precision() : shared_->source->precision(); }

double GramMatrix::epsilon() const { return epsilon_of(precision()); }

const EngineMatrix& GramMatrix::matrix() const {
  if (!held())
    fail(Code::usage, "this method needs the whole Gram matrix in memory; use ridge with conjugate gradients instead");
  return shared_->held;
}

double GramMatrix::asymmetry() const {
  if (held() && shared_->held.rows() != shared_->held.cols()) {
    fail(Code::input, "a Gram matrix is square; this one is {} by {}", shared_->held.rows(), shared_->held.cols());
  }
  const std::vector<double>& own = diagonal();
  const std::lock_guard lock(shared_->guard);
  if (!shared_->asymmetry) shared_->asymmetry = asymmetry_of(algebra(), shared_->held, own, epsilon());
  return *shared_->asymmetry;
}

double GramMatrix::check() const {
  const double result = asymmetry();
  const std::vector<double>& own = diagonal();
  const std::lock_guard lock(shared_->guard);
  if (shared_->checked) return result;
  if (own.empty()) fail(Code::input, "the Gram matrix is empty; there are no samples to fit");
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (std::abs(own[i]) > largest_entry) {
      fail(Code::input, "entry ({}, {}) of the Gram matrix is {:.3g}; divide the kernel by a constant", i, i, own[i]);
    }
  }
  shared_->checked = true;
  return result;
}

const std::vector<double>& GramMatrix::diagonal() const {
  const std::lock_guard lock(shared_->guard);
  if (!shared_->diagonal) shared_->diagonal = held() ? algebra().diagonal(matrix()) : shared_->source->diagonal();
  return *shared_->diagonal;
}

double GramMatrix::mean_diagonal() const {
  double sum = 0;
  for (const double own : diagonal()) sum += own / static_cast<double>(samples());
  return sum;
}

Matrix<double> GramMatrix::columns(std::span<const Index> chosen) const {
  if (!held()) return shared_->source->columns(chosen);
  std::vector<Index> all(usize(samples()));
  for (Index i = 0; i < samples(); ++i) all[usize(i)] = i;
  Matrix<double> result(samples(), std::ssize(chosen), Content::unset);
  algebra().read(algebra().gather(matrix(), all, chosen), result.view());
  return result;
}

/// The rows of a source are its columns transposed: K is symmetric.
Matrix<double> GramMatrix::rows(Index begin, Index count, Index first) const {
  Matrix<double> result(count, samples() - first, Content::unset);
  if (held()) {
    algebra().read(matrix().block(begin, first, count, result.cols()), result.view());
    return result;
  }
  std::vector<Index> chosen(usize(count));
  std::iota(chosen.begin(), chosen.end(), begin);
  const Matrix<double> turned = shared_->source->columns(chosen);
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < result.cols(); ++j) result(i, j) = turned(first + j, i);
  }
  return result;
}

void GramMatrix::multiply(MatrixView<const double> v, MatrixView<double> out, Progress* progress) const {
  if (!held()) return shared_->source->multiply(v, out, progress);
  algebra().multiply(Transpose::no, matrix(), v, out);
}

void GramMatrix::multiply(const double* v, double* out, Index columns) const {
  multiply({v, samples(), columns, columns}, {out, samples(), columns, columns});
}

void GramMatrix::multiply_precisely(MatrixView<const double> v, MatrixView<double> out, Progress* progress) const {
  algebra().multiply_precisely(matrix(), v, out, progress);
}

/// Asymmetry and diagonal of the whole matrix are reused: each pair of the submatrix is a pair of the whole.
GramMatrix GramMatrix::part(std::span<const Index> chosen) const {
  GramMatrix result(part(chosen, chosen), engine());
  result.shared_->whole = shared_;
  const std::vector<double>& own = diagonal();
  result.shared_->diagonal.emplace();
  for (const Index i : chosen) result.shared_->diagonal->push_back(own[usize(i)]);
  const std::lock_guard lock(shared_->guard);
  result.shared_->asymmetry = shared_->asymmetry;
  return result;
}

EngineMatrix GramMatrix::part(std::span<const Index> rows, std::span<const Index> cols) const {
  if (!consecutive(rows) || !consecutive(cols)) return algebra().gather(matrix(), rows, cols);
  return matrix().block(rows.front(), cols.front(), std::ssize(rows), std::ssize(cols));
}

std::optional<GramMatrix> GramMatrix::in_host_memory() const {
  if (algebra().host_view(matrix())) return *this;
  const Index n = samples();
  const std::size_t bytes = usize(n * n) * size_of(precision());
  if (const auto free = available_memory(); !free || bytes > *free / 8) return std::nullopt;
  const Engine& host = all_processors();
  GramMatrix result(EngineMatrix(), host);
  Shared& own = *result.shared_;
  const auto fetch = [&]<typename T>(Matrix<T> all) {
    algebra().read(matrix(), all.view());
    own.copied = std::move(all);
  };
  if (precision() == Precision::f32) {
    fetch(Matrix<float>(n, n, Content::unset));
  } else {
    fetch(Matrix<double>(n, n, Content::unset));
  }
  own.held = host.algebra().hold(view_of(own.copied));
  own.diagonal = diagonal();
  const std::lock_guard lock(shared_->guard);
  own.asymmetry = shared_->asymmetry;
  own.checked = shared_->checked;
  return result;
}

double GramMatrix::entry_cost() const { return held() ? 10 : shared_->source->entry_cost(); }
std::size_t GramMatrix::bytes() const { return held() ? 0 : shared_->source->bytes(); }

}  // namespace widelimit
