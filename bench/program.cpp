#include "bench/program.hpp"

#include "bench/measure.hpp"
#include "widelimit/engine/select.hpp"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <cstdio>

namespace widelimit::bench {

int run_benchmark(int argc, char** argv, const std::string& description, Settings settings,
                  const std::function<bool(const Benchmark&)>& body) {
  CLI::App app(description);
  app.add_option("--rows", settings.rows, "points")->check(CLI::Range(2, 20000))->capture_default_str();
  app.add_option("--cols", settings.cols, "features")->check(CLI::Range(1, 20000))->capture_default_str();
  if (settings.width > 0) {
    app.add_option("--width", settings.width, "width of hidden layers")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
  }
  if (settings.tests > 0) {
    app.add_option("--tests", settings.tests, "test points")->check(CLI::Range(1, 20000))->capture_default_str();
  }
  if (settings.sketches) {
    app.add_option("--sketches", *settings.sketches, "points of the sketches; 0: none")
        ->check(CLI::Range(0, 20000))
        ->capture_default_str();
  }
  if (settings.limit > 0) {
    app.add_option("--limit", settings.limit, "CPU seconds for the peer on one set")
        ->check(CLI::Range(1, 86400))
        ->capture_default_str();
    app.add_option("--only", settings.only, "comma-separated names of sets; default: all");
  }
  app.add_option("--repeats", settings.repeats, "rounds of timing")->check(CLI::Range(1, 100))->capture_default_str();
  app.add_flag("!--no-peer", settings.with_peer, "do not run the peer");
  CLI11_PARSE(app, argc, argv);
  try {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // print rows immediately, also to a file
    use_processors(settings.threads);
    const Scratch scratch;
    const Matrix<double> inputs = normal_inputs(settings.rows, settings.cols);
    write_raw(scratch / "x", inputs);
    const auto engine = make_engine("cpu", {.threads = settings.threads});
    return body({settings, inputs, scratch, *engine}) ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 1;
  }
}

}  // namespace widelimit::bench
