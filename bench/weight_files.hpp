#pragma once

#include "bench/peer.hpp"
#include "widelimit/finite/parameters.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string>
#include <vector>

namespace widelimit::bench {

/// Writes the weights of each layer to a file for the peer, as raw numbers, and returns the names of the files.
template <typename T>
std::vector<std::string> write_weights(const Scratch& scratch, const Parameters<T>& parameters) {
  std::vector<std::string> files;
  for (std::size_t l = 0; l < parameters.slots.size(); ++l) {
    files.push_back((scratch / fmt::format("w{}", l)).string());
    const Values<T>& w = parameters.slots[l].w;
    std::ofstream file(files.back(), std::ios::binary);
    file.write(reinterpret_cast<const char*>(w.data()), static_cast<std::streamsize>(w.size() * sizeof(T)));
  }
  return files;
}

}  // namespace widelimit::bench
