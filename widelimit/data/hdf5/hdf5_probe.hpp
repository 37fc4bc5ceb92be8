#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace widelimit {

/// Runs `read` in a forked child first: HDF5 1.10 corrupts memory on some damaged files, and leaves its tables
/// unclosable after others. Rethrows an Error that `read` threw in the child; throws Error{input} if the child crashed.
/// Does nothing if no child can be created. The CPU time limit of the child depends on the file size `bytes`.
void try_in_child(const std::function<void()>& read, std::size_t bytes, const std::string& source);

}  // namespace widelimit
