#include "tests/opaque/opaque_engine.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/engine/cpu/algebra/cpu_algebra.hpp"
#include "widelimit/engine/select.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>

namespace widelimit::test {

namespace {

/// Pages without access rights except during a call of the engine.
class LockedMemory final : public EngineMatrix::Memory {
 public:
  LockedMemory(Index rows, Index cols, Precision precision)
      : bytes_(std::max<std::size_t>(1, usize(rows * cols) * (precision == Precision::f32 ? 4 : 8))),
        pages_(::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (pages_ == MAP_FAILED) fail(Code::resource, "no pages for a matrix of {} by {}", rows, cols);
    const auto view = [&]<typename T>(T* first) { return AnyView(MatrixView<const T>{first, rows, cols, cols}); };
    entries_ = precision == Precision::f32 ? view(static_cast<float*>(pages_)) : view(static_cast<double*>(pages_));
  }
  LockedMemory(const LockedMemory&) = delete;
  LockedMemory& operator=(const LockedMemory&) = delete;
  ~LockedMemory() override { ::munmap(pages_, bytes_); }

  void open() {
    const std::lock_guard lock(guard_);
    if (users_++ == 0) ::mprotect(pages_, bytes_, PROT_READ | PROT_WRITE);
  }
  void close() {
    const std::lock_guard lock(guard_);
    if (--users_ == 0) ::mprotect(pages_, bytes_, PROT_NONE);
  }
  [[nodiscard]] const AnyView& entries() const { return entries_; }

 private:
  std::size_t bytes_;
  void* pages_;
  AnyView entries_;
  std::mutex guard_;
  int users_ = 0;
};

/// Opens a matrix for one call and wraps it as a matrix of the cpu algebra.
class Opened {
 public:
  explicit Opened(const EngineMatrix& a) : memory_(dynamic_cast<LockedMemory*>(a.memory())) {
    if (memory_ == nullptr) fail(Code::usage, "the opaque algebra needs a matrix of the opaque engine");
    memory_->open();
    auto host = std::make_shared<cpu::HostMemory>();
    host->entries = memory_->entries();
    host->writable = true;
    matrix_ = EngineMatrix(std::move(host), a.first_row() + a.rows(), a.first_col() + a.cols(), a.precision())
                  .block(a.first_row(), a.first_col(), a.rows(), a.cols());
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { memory_->close(); }
  [[nodiscard]] EngineMatrix& get() { return matrix_; }

 private:
  LockedMemory* memory_;
  EngineMatrix matrix_;
};

class OpaqueAlgebra final : public Algebra {
 public:
  explicit OpaqueAlgebra(int threads) : cpu_(threads) {}

  [[nodiscard]] EngineMatrix allocate(Index rows, Index cols, Precision precision) const override {
    return {std::make_shared<LockedMemory>(rows, cols, precision), rows, cols, precision};
  }
  [[nodiscard]] EngineMatrix hold(const AnyView& host) const override { return locked(cpu_.hold(host)); }
  [[nodiscard]] std::optional<EngineMatrix> over(const AnyView& /*host*/) const override { return std::nullopt; }
  [[nodiscard]] std::optional<AnyView> host_view(const EngineMatrix& /*a*/) const override { return std::nullopt; }
  void copy(const EngineMatrix& a, EngineMatrix& to) const override { cpu_.copy(Opened(a).get(), Opened(to).get()); }
  void read(const EngineMatrix& a, MatrixView<float> host) const override { cpu_.read(Opened(a).get(), host); }
  void read(const EngineMatrix& a, MatrixView<double> host) const override { cpu_.read(Opened(a).get(), host); }
  void write(MatrixView<const double> host, EngineMatrix& a) const override { cpu_.write(host, Opened(a).get()); }
  [[nodiscard]] EngineMatrix gather(const EngineMatrix& a, std::span<const Index> rows,
                                    std::span<const Index> cols) const override {
    return locked(cpu_.gather(Opened(a).get(), rows, cols));
  }
  [[nodiscard]] std::vector<double> diagonal(const EngineMatrix& a) const override {
    return cpu_.diagonal(Opened(a).get());
  }
  [[nodiscard]] Symmetry symmetry(const EngineMatrix& k, double allowed) const override {
    return cpu_.symmetry(Opened(k).get(), allowed);
  }
  [[nodiscard]] std::uint64_t checksum(const EngineMatrix& k) const override { return cpu_.checksum(Opened(k).get()); }
  void multiply(Transpose op, const EngineMatrix& a, MatrixView<const double> v,
                MatrixView<double> out) const override {
    cpu_.multiply(op, Opened(a).get(), v, out);
  }
  void multiply_single(Transpose op, const EngineMatrix& a, MatrixView<const double> v,
                       MatrixView<double> out) const override {
    cpu_.multiply_single(op, Opened(a).get(), v, out);
  }
  void multiply_precisely(const EngineMatrix& k, MatrixView<const double> v, MatrixView<double> out,
                          Progress* progress) const override {
    cpu_.multiply_precisely(Opened(k).get(), v, out, progress);
  }
  void multiply_lower(Transpose op, const EngineMatrix& l, MatrixView<double> b) const override {
    cpu_.multiply_lower(op, Opened(l).get(), b);
  }
  void solve_lower(Transpose op, const EngineMatrix& l, MatrixView<double> b) const override {
    cpu_.solve_lower(op, Opened(l).get(), b);
  }
  void product(double alpha, Transpose op_a, const EngineMatrix& a, Transpose op_b, const EngineMatrix& b, double beta,
               EngineMatrix& c) const override {
    cpu_.product(alpha, op_a, Opened(a).get(), op_b, Opened(b).get(), beta, Opened(c).get());
  }
  double scaled(const EngineMatrix& k, std::span<const double> scale, std::span<const double> shift, EngineMatrix& out,
                Progress* progress) const override {
    return cpu_.scaled(Opened(k).get(), scale, shift, Opened(out).get(), progress);
  }
  void inner_product(const EngineMatrix& x, std::span<const double> weights, bool whole,
                     EngineMatrix& out) const override {
    cpu_.inner_product(Opened(x).get(), weights, whole, Opened(out).get());
  }
  [[nodiscard]] std::vector<double> column_squares(const EngineMatrix& x,
                                                   std::span<const double> weights) const override {
    return cpu_.column_squares(Opened(x).get(), weights);
  }
  void scale_rows(EngineMatrix& a, std::span<const double> scale) const override {
    cpu_.scale_rows(Opened(a).get(), scale);
  }
  void add_to_diagonal(EngineMatrix& a, std::span<const double> shift) const override {
    cpu_.add_to_diagonal(Opened(a).get(), shift);
  }
  [[nodiscard]] double symmetric_norm(const EngineMatrix& a) const override {
    return cpu_.symmetric_norm(Opened(a).get());
  }
  [[nodiscard]] Index cholesky(EngineMatrix& a, Progress* progress) const override {
    return cpu_.cholesky(Opened(a).get(), progress);
  }
  void solve(Transpose op, const EngineMatrix& u, MatrixView<double> b) const override {
    cpu_.solve(op, Opened(u).get(), b);
  }
  void transpose_upper(EngineMatrix& a) const override { cpu_.transpose_upper(Opened(a).get()); }
  [[nodiscard]] Index pivoted_cholesky(EngineMatrix& a, double least, std::vector<Index>& order,
                                       Progress* progress) const override {
    return cpu_.pivoted_cholesky(Opened(a).get(), least, order, progress);
  }
  [[nodiscard]] Inertia inertia(const EngineMatrix& a) const override { return cpu_.inertia(Opened(a).get()); }
  [[nodiscard]] std::vector<double> eigenvalues(EngineMatrix a, Progress* progress) const override {
    return cpu_.eigenvalues(Opened(a).get(), progress);
  }
  [[nodiscard]] std::vector<double> eigenvectors(EngineMatrix a, EngineMatrix& vectors,
                                                 Progress* progress) const override {
    EngineMatrix found;
    std::vector<double> values = cpu_.eigenvectors(Opened(a).get(), found, progress);
    vectors = locked(found);
    return values;
  }
  [[nodiscard]] std::unique_ptr<ShiftedFamily> shifted_family(EngineMatrix a, Progress* progress) const override {
    return cpu_.shifted_family(Opened(a).get(), progress);
  }
  [[nodiscard]] std::unique_ptr<IndefiniteFactor> indefinite_factor(EngineMatrix a, Progress* progress) const override {
    return cpu_.indefinite_factor(Opened(a).get(), progress);
  }

 private:
  /// Returns a copy in locked memory.
  [[nodiscard]] EngineMatrix locked(const EngineMatrix& a) const {
    EngineMatrix result = allocate(a.rows(), a.cols(), a.precision());
    cpu_.copy(a, Opened(result).get());
    return result;
  }

  cpu::CpuAlgebra cpu_;
};

/// Kernels of the cpu engine; only `fill` accesses matrices of this engine.
class OpaqueKernels final : public Kernels {
 public:
  explicit OpaqueKernels(const Kernels& cpu) : cpu_(cpu) {}

  [[nodiscard]] std::string obstacle(const Recipe& recipe, Precision precision) const override {
    return cpu_.obstacle(recipe, precision);
  }
  [[nodiscard]] std::string route(const Recipe& recipe, Precision precision) const override {
    return cpu_.route(recipe, precision);
  }
  [[nodiscard]] std::unique_ptr<Loaded> load(const Recipe& recipe, const SampleView& x, Precision precision,
                                             const std::function<void(Index)>& after) const override {
    return cpu_.load(recipe, x, precision, after);
  }
  [[nodiscard]] std::size_t loaded_bytes(const Recipe& recipe, Precision precision,
                                         const SampleView& x) const override {
    return cpu_.loaded_bytes(recipe, precision, x);
  }
  void fill(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols, bool symmetric,
            std::span<const EngineMatrix> outputs, const std::function<void(Index)>& after) const override {
    std::vector<std::unique_ptr<Opened>> opened;
    std::vector<EngineMatrix> matrices;
    for (const EngineMatrix& output : outputs) {
      opened.push_back(std::make_unique<Opened>(output));
      matrices.push_back(opened.back()->get());
    }
    cpu_.fill(recipe, x1, rows, x2, cols, symmetric, matrices, after);
  }
  void tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
            std::span<const MatrixView<float>> outputs) const override {
    cpu_.tile(recipe, x1, rows, x2, cols, outputs);
  }
  void tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
            std::span<const MatrixView<double>> outputs) const override {
    cpu_.tile(recipe, x1, rows, x2, cols, outputs);
  }
  void diagonal(const Recipe& recipe, const Loaded& x, MatrixView<double> outputs,
                const std::function<void(Index)>& after) const override {
    cpu_.diagonal(recipe, x, outputs, after);
  }
  [[nodiscard]] Index tile_edge(const Recipe& recipe) const override { return cpu_.tile_edge(recipe); }

 private:
  const Kernels& cpu_;
};

class OpaqueEngine final : public Engine {
 public:
  explicit OpaqueEngine(int threads)
      : cpu_(make_engine("cpu", {.threads = threads})), kernels_(cpu_->kernels()), algebra_(threads) {}

  [[nodiscard]] std::string name() const override { return "opaque"; }
  [[nodiscard]] std::string description() const override { return "the processor behind locked pages"; }
  [[nodiscard]] int threads() const override { return cpu_->threads(); }
  [[nodiscard]] const Kernels& kernels() const override { return kernels_; }
  [[nodiscard]] const Algebra& algebra() const override { return algebra_; }

 private:
  std::unique_ptr<Engine> cpu_;
  OpaqueKernels kernels_;
  OpaqueAlgebra algebra_;
};

}  // namespace

std::unique_ptr<Engine> make_opaque_engine(int threads) { return std::make_unique<OpaqueEngine>(threads); }

}  // namespace widelimit::test
