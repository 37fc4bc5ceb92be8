#pragma once

#include "bench/peer.hpp"
#include "widelimit/engine/engine.hpp"

#include <functional>
#include <optional>
#include <string>

namespace widelimit::bench {

struct Settings {
  Index rows = 0;
  Index cols = 784;
  Index width = 0;                ///< of hidden layers, if the benchmark has any
  Index tests = 0;                ///< test points, if the benchmark has any
  std::optional<Index> sketches;  ///< points of sketches, if the benchmark has any; 0: none
  int limit = 0;                  ///< CPU seconds for a peer that may not terminate
  std::string only;               ///< comma-separated names of data sets, if the benchmark has several; empty: all
  int repeats = 7;
  int threads = 2;
  bool with_peer = true;
};

/// Arguments of every benchmark: inputs in memory and, for the peer, in a file.
struct Benchmark {
  const Settings& settings;
  const Matrix<double>& inputs;
  const Scratch& scratch;  ///< contains "x", the inputs
  const Engine& engine;
};

/// Parses the options, creates inputs and back end, and runs `body`, which returns false if results differ. Returns the
/// exit status: 0 if done (a missed target is not a failure), 1 if results differ or an error occurred.
int run_benchmark(int argc, char** argv, const std::string& description, Settings settings,
                  const std::function<bool(const Benchmark&)>& body);

}  // namespace widelimit::bench
