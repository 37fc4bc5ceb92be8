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

class DeviceArray::Held {
 public:
  Held(EngineMatrix matrix, const Engine& engine, std::shared_ptr<const void> owner)
      : owner_(std::move(owner)), matrix_(std::move(matrix)), engine_(engine) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  /// Kernels of another library may still read the memory that goes back.
  ~Held() {
    try {
      settle();
    } catch (const Error&) {
      return;  // a device that failed says so at its next call
    }
  }
  [[nodiscard]] const EngineMatrix& matrix() const { return matrix_; }
  [[nodiscard]] const Engine& engine() const { return engine_; }
  void settle() const {
    if (const DeviceMatrices* device = device_matrices(engine_)) device->settle();
  }

 private:
  std::shared_ptr<const void> owner_;
  EngineMatrix matrix_;
  const Engine& engine_;
};

DeviceArray::DeviceArray(EngineMatrix matrix, const Engine& engine, std::shared_ptr<const void> owner)
    : held_(std::make_shared<Held>(std::move(matrix), engine, std::move(owner))) {}

const EngineMatrix& DeviceArray::matrix() const { return held_->matrix(); }
const EngineMatrix& DeviceArray::settled() const {
  held_->settle();
  return held_->matrix();
}
const Engine& DeviceArray::engine() const { return held_->engine(); }
const Engine& DeviceArray::engine(std::optional<int> threads) const {
  return threads ? engine_of(held_->engine().name(), threads) : held_->engine();
}

namespace {

/// Any array that DLPack describes, on any device.
using ForeignArray = nb::ndarray<nb::ro>;

/// Of CUDA in DLPack.
constexpr int cuda_type = nb::device::cuda::value;
constexpr int managed_type = nb::device::cuda_managed::value;

/// N of "cuda:N".
int number_of(const Engine& engine) {
  const std::string name = engine.name();
  int number = -1;
  if (name.starts_with("cuda:")) std::from_chars(name.data() + 5, name.data() + name.size(), number);
  return number;
}

const DeviceMatrices& device_of(const Engine& engine) {
  const DeviceMatrices* const device = device_matrices(engine);
  if (device == nullptr || number_of(engine) < 0) {
    fail(Code::input, "arrays in the memory of a device are for the back ends cuda:N, not for {}", engine.name());
  }
  return *device;
}

std::string precision_text(Precision precision) { return precision == Precision::f32 ? "float32" : "float64"; }

/// An array N × … as a matrix of N rows. Error{input} where it cannot be one where it lies.
DeviceView view_of(const ForeignArray& x) {
  Precision precision = Precision::f64;
  if (x.dtype() == nb::dtype<float>()) {
    precision = Precision::f32;
  } else if (x.dtype() != nb::dtype<double>()) {
    fail(Code::input, "an array on a device must be float32 or float64; convert it there");
  }
  if (x.ndim() < 2) fail(Code::input, "an array on a device has {} dimensions; give a matrix", x.ndim());
  std::int64_t expected = 1;
  for (std::size_t axis = x.ndim() - 1; axis > 0; --axis) {
    if (x.shape(axis) > 1 && x.stride(axis) != expected) {
      fail(Code::input, "the numbers of a row do not lie side by side on the device; give a contiguous copy");
    }
    expected *= static_cast<std::int64_t>(x.shape(axis));
  }
  const auto cols = static_cast<Index>(expected);
  const auto rows = static_cast<Index>(x.shape(0));
  return {const_cast<void*>(x.data()), rows, cols, rows > 1 ? static_cast<Index>(x.stride(0)) : cols, precision};
}

/// A matrix of another library, of its DLPack capsule, where it lies; not to be written to.
DeviceArray adopt(const ForeignArray& x, const std::string& backend) {
  const Engine& engine = engine_of(backend, std::nullopt);
  const DeviceMatrices& device = device_of(engine);
  const bool here = x.device_type() == cuda_type ? x.device_id() == number_of(engine) : x.device_type() == managed_type;
  if (!here) fail(Code::input, "an array lies on another device than {}", engine.name());
  const DeviceView view = view_of(x);
  // Its deleter may be code of Python, which must not see an exception that is under way.
  const std::shared_ptr<const ForeignArray> owner(new ForeignArray(x), [](const ForeignArray* borrowed) {
    const nb::gil_scoped_acquire lock;
    const nb::error_scope pending;
    delete borrowed;
  });
  EngineMatrix matrix = unlocked([&](Progress*) { return device.adopt(view, owner); });
  return {std::move(matrix), engine};
}

/// A matrix of the host in the memory of an engine, which may be that of the host.
DeviceArray hold(const DenseArray& k, const std::string& backend, std::optional<int> threads) {
  const Engine& engine = engine_of(backend, threads);
  EngineMatrix matrix = unlocked([&](Progress*) { return engine.algebra().hold(view_kernel(k)); });
  return {std::move(matrix), engine, std::make_shared<const DenseArray>(k)};
}

nb::object to_numpy(const DeviceArray& array) {
  return as_array(unlocked([&](Progress*) {
    const EngineMatrix& from = array.settled();
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

/// All work on the entries is done, so that every stream may read them.
nb::object to_dlpack(const DeviceArray& array, std::optional<std::int64_t> stream, const nb::object& max_version,
                     std::optional<std::pair<int, int>> dl_device, std::optional<bool> copy) {
  if (stream && (*stream == 0 || *stream < -1)) {
    fail(Code::input, "stream = {} names no stream of CUDA; the legacy default stream is 1", *stream);
  }
  if (copy.value_or(false)) throw nb::buffer_error("widelimit.DeviceArray: copy=True is not supported");
  if (dl_device && *dl_device != dlpack_device(array)) {
    throw nb::buffer_error("widelimit.DeviceArray: dl_device is another device; numpy() gives a copy of the host");
  }
  const DeviceView view = device_of(array.engine()).lend(array.matrix());
  const std::size_t shape[]{static_cast<std::size_t>(view.rows), static_cast<std::size_t>(view.cols)};
  const std::int64_t strides[]{view.stride, 1};
  auto owned = std::make_unique<DeviceArray>(array);
  const nb::capsule owner(owned.release(), [](void* held) noexcept { delete static_cast<DeviceArray*>(held); });
  const nb::dlpack::dtype type = view.precision == Precision::f32 ? nb::dtype<float>() : nb::dtype<double>();
  const nb::ndarray<nb::array_api> lent(view.data, 2, shape, owner, strides, type, cuda_type,
                                        number_of(array.engine()));
  return nb::cast(lent).attr("__dlpack__")("max_version"_a = max_version);
}

nb::dict cuda_interface(const DeviceArray& array) {
  const DeviceView view = device_of(array.engine()).lend(array.matrix());
  nb::dict result;
  result["shape"] = nb::make_tuple(view.rows, view.cols);
  result["typestr"] = view.precision == Precision::f32 ? "<f4" : "<f8";
  result["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(view.data), false);
  result["strides"] = nb::none();  // rows without gaps, as kernels are made
  result["version"] = 3;
  result["stream"] = nb::none();  // nothing to wait for
  return result;
}

}  // namespace

void bind_device_array(nb::module_& module) {
  nb::class_<DeviceArray>(module, "DeviceArray", R"(A matrix in the memory of a device, made by kernel(…, out="device").

Machines take it where it lies. Other libraries do, too: torch.from_dlpack(k), cupy.asarray(k), jax.dlpack.from_dlpack(k)
share its memory, which lives until the last of them lets it go. numpy() is a copy of the host.)")
      .def_prop_ro(
          "shape", [](const DeviceArray& a) { return std::pair(a.matrix().rows(), a.matrix().cols()); },
          "Rows and columns.")
      .def_prop_ro(
          "dtype",
          [](const DeviceArray& a) {
            return nb::module_::import_("numpy").attr("dtype")(precision_text(a.matrix().precision()));
          },
          "The dtype of its entries, as NumPy writes it.")
      .def_prop_ro("ndim", [](const DeviceArray&) { return 2; })
      .def_prop_ro("nbytes", [](const DeviceArray& a) { return a.matrix().bytes(); })
      .def_prop_ro(
          "device", [](const DeviceArray& a) { return a.engine().name(); }, "The back end that holds it: 'cuda:0'.")
      .def("numpy", &to_numpy, "A copy in host memory.")
      .def("__dlpack__", &to_dlpack, nb::kw_only(), "stream"_a.none() = nb::none(), "max_version"_a.none() = nb::none(),
           "dl_device"_a.none() = nb::none(), "copy"_a.none() = nb::none(),
           "Its memory as a DLPack capsule. Work on it is done, whatever the stream.")
      .def("__dlpack_device__", &dlpack_device, "(2, N): CUDA device N.")
      .def_prop_ro("__cuda_array_interface__", &cuda_interface)
      .def("__array__",
           [](const DeviceArray& a, const nb::args&, const nb::kwargs&) -> nb::object {
             throw nb::type_error(
                 fmt::format("a matrix on {} is no array of the host; numpy() copies it", a.engine().name()).c_str());
           })
      .def("__len__", [](const DeviceArray& a) { return a.matrix().rows(); })
      .def("__repr__", [](const DeviceArray& a) {
        return fmt::format("<DeviceArray: {} × {}, {}, {}>", a.matrix().rows(), a.matrix().cols(),
                           precision_text(a.matrix().precision()), a.engine().name());
      });
  module.def("adopt", &adopt, "x"_a, "backend"_a, "A matrix of another library, where it lies on a device.");
  module.def("hold", &hold, "k"_a, "backend"_a, "threads"_a.none(), "A matrix of the host in the memory of an engine.");
}

}  // namespace widelimit::python
