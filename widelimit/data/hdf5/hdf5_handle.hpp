#pragma once

#include "widelimit/base/types.hpp"

#include <hdf5.h>

#include <filesystem>
#include <mutex>
#include <string>
#include <utility>

namespace widelimit {

/// RAII wrapper of an HDF5 identifier.
class Hdf5Handle {
 public:
  Hdf5Handle(hid_t id, herr_t (*closing)(hid_t)) : id_(id), close_(closing) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }
  [[nodiscard]] bool valid() const { return id_ >= 0; }
  /// Closes now and returns whether that succeeded; pending writes may fail only here.
  [[nodiscard]] bool close() { return close_(std::exchange(id_, H5I_INVALID_HID)) >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// Serialises access to HDF5, whose usual build has global state, and silences its error output.
class Hdf5Session {
 public:
  Hdf5Session() : lock_(mutex()) {
    H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Hdf5Session() { H5Eset_auto2(H5E_DEFAULT, print_, print_data_); }
  Hdf5Session(const Hdf5Session&) = delete;
  Hdf5Session& operator=(const Hdf5Session&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  std::lock_guard<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

/// Opens an HDF5 file for reading. If the system cannot open it, throws the system's error (no permission, too many
/// open files); if it is not an HDF5 file, throws Error{input}.
[[nodiscard]] Hdf5Handle open_hdf5(const std::filesystem::path& path);

/// Call after a failed HDF5 call. Throws Error{resource} if HDF5 failed to allocate memory, else Error{input}, since
/// the file may be damaged. `source` and `what` begin the message.
[[noreturn]] void fail_hdf5(const std::string& source, const char* what);

/// Returns how many rows of `columns` numbers to read at once. HDF5 cannot be interrupted, so data is read in pieces of
/// some tenths of a second. Pieces are whole chunks, so that no chunk is decompressed more than once.
[[nodiscard]] Index rows_at_once(hid_t dataset, Index columns);

}  // namespace widelimit
