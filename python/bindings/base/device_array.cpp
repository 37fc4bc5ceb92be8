#include "python/bindings/base/device_array.hpp"

#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/engine/device_matrices.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <charconv>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

class DeviceArray::Storage {
 public:
  Storage(EngineMatrix matrix, const Engine& engine, std::shared_ptr<const void> owner)
      : owner_(std::move(owner)), matrix_(std::move(matrix)), engine_(engine) {}
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  /// Synchronises first, since kernels of another library may still read the memory that is freed.
  ~Storage() {
    try {
      synchronize();
    } catch (const Error&) {
      return;  // the next call to the device reports the failure
    }
  }
  [[nodiscard]] const EngineMatrix& matrix() const { return matrix_; }
  [[nodiscard]] const Engine& engine() const { return engine_; }
  void synchronize() const {
    if (const DeviceMatrices* device = device_matrices(engine_)) device->synchronize();
  }

 private:
  std::shared_ptr<const void> owner_;
  EngineMatrix matrix_;
  const Engine& engine_;
};

DeviceArray::DeviceArray(EngineMatrix matrix, const Engine& engine, std::shared_ptr<const void> owner)
    : storage_(std::make_shared<Storage>(std::move(matrix), engine, std::move(owner))) {}

const EngineMatrix& DeviceArray::matrix() const { return storage_->matrix(); }
const EngineMatrix& DeviceArray::synchronized() const {
  storage_->synchronize();
  return storage_->matrix();
}
const Engine& DeviceArray::engine() const { return storage_->engine(); }
const Engine& DeviceArray::engine(std::optional<int> threads) const {
  return threads ? engine_of(storage_->engine().name(), threads) : storage_->engine();
}

namespace {

/// Any array that DLPack describes, on any device.
using ForeignArray = nb::ndarray<nb::ro>;

/// DLPack device types of CUDA.
constexpr int cuda_type = nb::device::cuda::value;
constexpr int managed_type = nb::device::cuda_managed::value;

/// Returns N of "cuda:N", or −1.
int number_of(const Engine& engine) {
  const std::string name = engine.name();
  int number = -1;
  if (name.starts_with("cuda:")) std::from_chars(name.data() + 5, name.data() + name.size(), number);
  return number;
}

const DeviceMatrices& device_of(const Engine& engine) {
  const DeviceMatrices* const device = device_matrices(engine);
  if (device == nullptr || number_of(engine) < 0) {
    fail(Code::input, "device arrays need a back end cuda:N, got {}", engine.name());
  }
  return *device;
}

std::string precision_text(Precision precision) { return precision == Precision::f32 ? "float32" : "float64"; }

/// Returns a view of an array N × … as a matrix with N rows. Throws Error{input} if this needs a copy or a conversion.
DeviceView view_of(const ForeignArray& x) {
  Precision precision = Precision::f64;
  if (x.dtype() == nb::dtype<float>()) {
    precision = Precision::f32;
  } else if (x.dtype() != nb::dtype<double>()) {
    fail(Code::input, "a device array must be float32 or float64; convert it on the device");
  }
  if (x.ndim() < 2) fail(Code::input, "a device array has {} dimensions; pass a matrix", x.ndim());
  std::int64_t expected = 1;
  for (std::size_t axis = x.ndim() - 1; axis > 0; --axis) {
    if (x.size() > 0 && x.shape(axis) > 1 && x.stride(axis) != expected) {
      fail(Code::input, "the rows of a device array are not contiguous in memory; pass a contiguous copy");
    }
    expected *= static_cast<std::int64_t>(x.shape(axis));
  }
  const auto cols = static_cast<Index>(expected);
  const auto rows = static_cast<Index>(x.shape(0));
  return {const_cast<void*>(x.data()), rows, cols, rows > 1 ? static_cast<Index>(x.stride(0)) : cols, precision};
}

/// Wraps a matrix of another library without a copy, through DLPack; read-only.
DeviceArray adopt(const ForeignArray& x, const std::string& backend) {
  const Engine& engine = engine_of(backend, std::nullopt);
  const DeviceMatrices& device = device_of(engine);
  const bool on_device =
      x.device_type() == cuda_type ? x.device_id() == number_of(engine) : x.device_type() == managed_type;
  if (!on_device) fail(Code::input, "the array is not on device {}", engine.name());
  const DeviceView view = view_of(x);
  // The deleter may run Python code, which must not see a pending exception.
  const std::shared_ptr<const ForeignArray> owner(new ForeignArray(x), [](const ForeignArray* borrowed) {
    const nb::gil_scoped_acquire lock;
    const nb::error_scope pending;
    delete borrowed;
  });
  EngineMatrix matrix = unlocked([&](Progress*) { return device.adopt(view, owner); });
  return {std::move(matrix), engine};
}

/// Copies a host matrix into the memory of an engine; a host engine borrows it instead.
DeviceArray hold(const DenseArray& k, const std::string& backend, std::optional<int> threads) {
  const Engine& engine = engine_of(backend, threads);
  EngineMatrix matrix = unlocked([&](Progress*) { return engine.algebra().hold(view_kernel(k)); });
  return {std::move(matrix), engine, std::make_shared<const DenseArray>(k)};
}

nb::object to_numpy(const DeviceArray& array) {
  return as_array(unlocked([&](Progress*) {
    const EngineMatrix& from = array.synchronized();
    AnyMatrix copy;
    if (from.precision() == Precision::f32) {
      copy = Matrix<float>(from.rows(), from.cols(), Content::unset);
    } else {
      copy = Matrix<double>(from.rows(), from.cols(), Content::unset);
    }
    std::visit([&](auto& to) { array.engine().algebra().read(from, to.view()); }, copy);
    return copy;
  }));
}

std::pair<int, int> dlpack_device(const DeviceArray& array) {
  (void)device_of(array.engine());
  return {cuda_type, number_of(array.engine())};
}

/// All work on the entries has completed, so that any stream can read them.
nb::object to_dlpack(const DeviceArray& array, std::optional<std::int64_t> stream, const nb::object& max_version,
                     std::optional<std::pair<int, int>> dl_device, std::optional<bool> copy) {
  if (stream && (*stream == 0 || *stream < -1)) {
    fail(Code::input, "stream = {} names no CUDA stream; the legacy default stream is 1", *stream);
  }
  if (copy.value_or(false)) throw nb::buffer_error("widelimit.DeviceArray: copy=True is not supported");
  if (dl_device && *dl_device != dlpack_device(array)) {
    throw nb::buffer_error("widelimit.DeviceArray: dl_device is another device; numpy() copies to the host");
  }
  const DeviceView view = device_of(array.engine()).device_view(array.matrix());
  const std::size_t shape[]{static_cast<std::size_t>(view.rows), static_cast<std::size_t>(view.cols)};
  const std::int64_t strides[]{view.stride, 1};
  auto owned = std::make_unique<DeviceArray>(array);
  const nb::capsule owner(owned.release(), [](void* object) noexcept { delete static_cast<DeviceArray*>(object); });
  const nb::dlpack::dtype type = view.precision == Precision::f32 ? nb::dtype<float>() : nb::dtype<double>();
  const nb::ndarray<nb::array_api> exported(view.data, 2, shape, owner, strides, type, cuda_type,
                                            number_of(array.engine()));
  return nb::cast(exported).attr("__dlpack__")("max_version"_a = max_version);
}

nb::dict cuda_interface(const DeviceArray& array) {
  const DeviceView view = device_of(array.engine()).device_view(array.matrix());
  nb::dict result;
  result["shape"] = nb::make_tuple(view.rows, view.cols);
  result["typestr"] = view.precision == Precision::f32 ? "<f4" : "<f8";
  const bool empty = view.rows == 0 || view.cols == 0;  // the interface requires address 0 then
  result["data"] = nb::make_tuple(empty ? 0 : reinterpret_cast<std::uintptr_t>(view.data), false);
  result["strides"] = nb::none();  // row-major without padding
  result["version"] = 3;
  result["stream"] = nb::none();  // no stream to synchronise with
  return result;
}

}  // namespace

void bind_device_array(nb::module_& module) {
  nb::class_<DeviceArray>(module, "DeviceArray", R"(A matrix in the memory of a device, made by kernel(…, out="device").

Machines use it without a copy. torch.from_dlpack(k), cupy.asarray(k) and jax.dlpack.from_dlpack(k) share its memory,
which is freed with the last reference. numpy() copies it to host memory.)")
      .def_prop_ro(
          "shape", [](const DeviceArray& a) { return std::pair(a.matrix().rows(), a.matrix().cols()); },
          "Rows and columns.")
      .def_prop_ro(
          "dtype",
          [](const DeviceArray& a) {
            return nb::module_::import_("numpy").attr("dtype")(precision_text(a.matrix().precision()));
          },
          "NumPy dtype of the entries.")
      .def_prop_ro("ndim", [](const DeviceArray&) { return 2; })
      .def_prop_ro("nbytes", [](const DeviceArray& a) { return a.matrix().bytes(); })
      .def_prop_ro(
          "device", [](const DeviceArray& a) { return a.engine().name(); }, "Name of its back end, e.g. 'cuda:0'.")
      .def("numpy", &to_numpy, "A copy in host memory.")
      .def("__dlpack__", &to_dlpack, nb::kw_only(), "stream"_a.none() = nb::none(), "max_version"_a.none() = nb::none(),
           "dl_device"_a.none() = nb::none(), "copy"_a.none() = nb::none(),
           "DLPack capsule of its memory. All work on it has completed, for any stream.")
      .def("__dlpack_device__", &dlpack_device, "(2, N): CUDA device N.")
      .def_prop_ro("__cuda_array_interface__", &cuda_interface)
      .def("__array__",
           [](const DeviceArray& a, const nb::args&, const nb::kwargs&) -> nb::object {
             throw nb::type_error(
                 fmt::format("a matrix on {} is not in host memory; numpy() copies it", a.engine().name()).c_str());
           })
      .def("__len__", [](const DeviceArray& a) { return a.matrix().rows(); })
      .def("__repr__", [](const DeviceArray& a) {
        return fmt::format("<DeviceArray: {} × {}, {}, {}>", a.matrix().rows(), a.matrix().cols(),
                           precision_text(a.matrix().precision()), a.engine().name());
      });
  module.def("adopt", &adopt, "x"_a, "backend"_a, "Wraps a device matrix of another library without a copy.");
  module.def("hold", &hold, "k"_a, "backend"_a, "threads"_a.none(),
             "Copies a host matrix into the memory of an engine.");
}

}  // namespace widelimit::python
