#pragma once

#include "tests/engine/golden_file.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/data/catalogue/catalogue.hpp"
#include "widelimit/data/formats/npz.hpp"

#include <string>
#include <utility>
#include <vector>

namespace widelimit {

/// Kernels computed by the program of Arora et al. for the UCI data sets (tests/golden/open_uci.npz): i hidden layers,
/// the first j weight layers frozen, on the first n samples of a data set. Its input covariance is ⟨x,x'⟩, d times
/// ours.
struct PublishedSweep {
  std::string set;
  Dataset data;
  Matrix<double> values;
  Index n = 0;
  Index depths = 0;

  [[nodiscard]] SampleView samples() const { return data.view().part(0, n); }
  [[nodiscard]] double features() const { return static_cast<double>(data.shape.size()); }
  [[nodiscard]] double at(Index i, Index j, Index row, Index col) const {
    return values.data()[((i * depths + j) * n + row) * n + col];
  }
};

/// Returns all of them; if the UCI data sets are missing, returns none and sets `absent` to the reason.
inline std::vector<PublishedSweep> published_sweeps(std::string& absent) {
  std::vector<PublishedSweep> all;
  for (auto& [name, array] : read_npz_arrays(test::golden_file("open_uci.npz")).arrays) {
    try {
      all.push_back({name, load_data("uci:" + name), std::get<Matrix<double>>(std::move(array.values)),
                     array.dims.back(), array.dims.front()});
    } catch (const Error& error) {
      absent = error.what();
      if (absent.find("was not found") == std::string::npos) throw;
      return {};
    }
  }
  return all;
}

}  // namespace widelimit
