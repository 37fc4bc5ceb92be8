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
  Index width = 0;                ///< of hidden layers, where the benchmark has some
  Index tests = 0;                ///< test points, where the benchmark has some
  std::optional<Index> sketches;  ///< points of sketches, where the benchmark has some; 0: none
  int limit = 0;                  ///< seconds of processor time for a peer that may not end
  std::string only;  ///< names of data sets with commas between them, where the benchmark has several; empty: all
  int repeats = 7;
  int threads = 2;
  bool with_peer = true;
};

/// What every benchmark is given: inputs in memory and, for the peer, in a file.
struct Benchmark {
  const Settings& settings;
  const Matrix<double>& inputs;
  const Scratch& scratch;  ///< holds "x", the inputs
  const Engine& engine;
};

/// Reads the options, makes inputs and back end, and runs `body`, which returns false where answers differ. The exit
/// status: 0 done (a missed target is no failure), 1 answers differ or something broke.
int run_benchmark(int argc, char** argv, const std::string& description, Settings settings,
                  const std::function<bool(const Benchmark&)>& body);

}  // namespace widelimit::bench
