#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace widelimit {

/// Runs `read` in a forked child first. HDF5 1.10 writes past its buffers on some damaged files, and after others
/// its tables never close; what suffers is a copy. Throws here the Error that `read` threw there, or Error{input}
/// where the child died. Does nothing where no child can be made. `bytes` of the file set how long the child may
/// compute.
void try_in_child(const std::function<void()>& read, std::size_t bytes, const std::string& source);

}  // namespace widelimit
