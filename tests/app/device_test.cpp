#include "tests/app/program.hpp"
#include "tests/paths.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

/// Tests of the program with the back end cuda:0 on the emulated device: every verb through the engine interface.
namespace widelimit::test {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

Words on_device(const Words& arguments, const std::string& memory = "64GiB") {
  const std::filesystem::path built = std::filesystem::path(program_path()).parent_path().parent_path();
  Words words{"env", "WIDELIMIT_PLUGINS=" + (built / "emulated").string(), "WIDELIMIT_EMULATED_MEMORY=" + memory,
              program_path()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--backend", "cuda:0"});
  return words;
}

/// Returns whether a value may differ between two runs of the same computation.
bool is_circumstance(const std::string& key) {
  return key.find("seconds") != std::string::npos || key.find("memory") != std::string::npos ||
         key.find("per_second") != std::string::npos || key == "route" || key == "backend" || key == "engine" ||
         key == "method" || key == "bytes" || key == "gap" || key == "gradient" || key == "condition" ||
         key == "iterations" || key == "checksum" || key == "threads" || key == "file";
}

/// Compares numbers up to rounding: solvers stop at different bits, with a relative tolerance of 1e-6.
void expect_close(const Json& found, const Json& expected, const std::string& place) {
  if (expected.is_number_float()) {
    ASSERT_TRUE(found.is_number()) << place;
    const auto value = expected.get<double>();
    EXPECT_NEAR(found.get<double>(), value, 1e-5 * std::abs(value) + 1e-7) << place;
  } else if (expected.is_object()) {
    for (const auto& [key, value] : expected.items()) {
      if (is_circumstance(key)) continue;
      ASSERT_TRUE(found.contains(key)) << place << "/" << key;
      expect_close(found[key], value, place + "/" + key);
    }
  } else if (expected.is_array()) {
    ASSERT_EQ(found.size(), expected.size()) << place;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      expect_close(found[k], expected[k], place + "/" + std::to_string(k));
    }
  } else {
    EXPECT_EQ(found, expected) << place;
  }
}

struct DeviceCase {
  std::string name;
  Words arguments;
};

void PrintTo(const DeviceCase& c, std::ostream* out) { *out << c.name; }

class DeviceVerb : public testing::TestWithParam<DeviceCase> {};

TEST_P(DeviceVerb, EqualsTheProcessor) {
  const Folder folder;
  Words arguments = GetParam().arguments;
  if (arguments.front() != "nth") arguments.insert(arguments.end(), {"--train", "digits", "--classes", "3,8"});
  arguments.insert(arguments.end(), {"--json", "--threads", "2"});
  const Finished expected = folder.widelimit(arguments);
  ASSERT_EQ(expected.status, 0) << expected.err;
  const Finished found = folder.run(on_device(arguments));
  ASSERT_EQ(found.status, 0) << found.err;
  EXPECT_EQ(found.record().at("backend").at("name"), "cuda:0");
  expect_close(found.record().at("results"), expected.record().at("results"), "");
}

INSTANTIATE_TEST_SUITE_P(
    Verbs, DeviceVerb,
    testing::Values(
        DeviceCase{"Kernel", {"kernel", "--network", "fc:2", "--limit", "60", "--out", "k.npz"}},
        DeviceCase{"Images", {"kernel", "--network", "cntk:2(readout=flatten)", "--limit", "12", "--out", "k.npz"}},
        DeviceCase{"MonteCarlo",
                   {"kernel", "--network", "dense relu dense", "--method", "monte-carlo", "--width", "32", "--draws",
                    "4", "--limit", "12", "--out", "k.npz"}},
        DeviceCase{"Rbf", {"kernel", "--classical", "rbf(gamma=0.01)", "--limit", "60", "--out", "k.npz"}},
        DeviceCase{"Laplace", {"kernel", "--classical", "laplace(gamma=0.01)", "--limit", "60", "--out", "k.npz"}},
        DeviceCase{"Polynomial", {"kernel", "--classical", "polynomial(degree=2)", "--limit", "60", "--out", "k.npz"}},
        DeviceCase{"LabelAware",
                   {"kernel", "--network", "fc:2", "--label-aware", "linear1", "--limit", "60", "--out", "k.npz"}},
        DeviceCase{"LabelAwareFile",
                   {"kernel", "--network", "fc:2", "--label-aware", "linear2", "--limit", "60", "--out", "k.h5"}},
        DeviceCase{"Ridge", {"fit", "--network", "fc:2", "--machine", "ridge", "--limit", "60", "--out", "m.h5"}},
        DeviceCase{"ClassicalMachine",
                   {"fit", "--classical", "rbf(gamma=0.01)", "--machine", "svm", "--limit", "60", "--out", "m.h5"}},
        DeviceCase{"LabelAwareMachine",
                   {"fit", "--network", "fc:2", "--machine", "svm", "--label-aware", "linear2", "--limit", "60",
                    "--out", "m.h5"}},
        DeviceCase{"Tune", {"tune", "--network", "fc:2", "--machine", "ridge", "--limit", "60", "--out", "m.h5"}},
        DeviceCase{"Compare", {"compare", "--kernels", "linear,rbf", "--networks", "fc:1", "--limit", "60"}},
        DeviceCase{"Bound", {"bound", "--network", "fc:2", "--machine", "svm", "--split", "0.7", "--limit", "80"}},
        DeviceCase{"Flow", {"flow", "--network", "fc:2", "--loss", "squared", "--times", "0.1,1", "--limit", "60"}},
        DeviceCase{"Hinge", {"flow", "--network", "fc:2", "--loss", "hinge", "--times", "0.01,0.1", "--limit", "30"}},
        DeviceCase{"Ensemble",
                   {"ensemble", "--network", "fc:2", "--split", "0.7", "--times", "0.1,1", "--limit", "60"}},
        DeviceCase{"Likelihood", {"likelihood", "--network", "fc:2", "--noise", "0.1", "--limit", "60"}},
        DeviceCase{"Spectrum", {"spectrum", "--network", "fc:2", "--limit", "60"}},
        DeviceCase{
            "SpectrumOfTraining",
            {"spectrum", "--network", "fc:1", "--limit", "30", "--steps", "20", "--width", "64", "--scale", "unit"}},
        DeviceCase{"Train",
                   {"train", "--network", "fc:2", "--width", "64", "--limit", "60", "--split", "0.7", "--scale", "unit",
                    "--loss", "softmax", "--batch", "16", "--steps", "40", "--out", "n.h5"}},
        DeviceCase{"Equivalence",
                   {"equivalence", "--network", "fc:1", "--widths", "32,64", "--seeds", "2", "--limit", "30", "--scale",
                    "unit", "--steps", "50"}},
        DeviceCase{"Evolution",
                   {"evolution", "--network", "fc:1", "--width", "64", "--limit", "40", "--scale", "unit", "--steps",
                    "40", "--checkpoints", "4", "--probe", "20"}},
        DeviceCase{"Nth",
                   {"nth", "--train", "digits", "--classes", "3,8", "--limit", "20", "--scale", "unit", "--width",
                    "1000", "--out", "k.npz"}}),
    [](const auto& test) { return test.param.name; });

/// A model fitted on the device can be used on the processor and vice versa.
TEST(DeviceProgram, PredictsWithModelsOfTheProcessor) {
  const Folder folder;
  const Words samples{"--train", "digits", "--limit", "80"};
  for (const Words& kernel : {Words{"--network", "fc:2"}, Words{"--classical", "rbf(gamma=0.01)"}}) {
    const std::string file = kernel.front().substr(2) + ".h5";
    Words fit{"fit", "--machine", "ridge", "--out", file};
    fit.insert(fit.end(), kernel.begin(), kernel.end());
    fit.insert(fit.end(), samples.begin(), samples.end());
    const Finished done = folder.run(on_device(fit));
    ASSERT_EQ(done.status, 0) << done.err;
    const Words predict{"predict", "--model", file, "--test", "digits", "--limit", "30", "--json"};
    const Finished expected = folder.widelimit(predict);
    const Finished found = folder.run(on_device(predict));
    ASSERT_EQ(expected.status, 0) << expected.err;
    ASSERT_EQ(found.status, 0) << found.err;
    expect_close(found.record().at("results"), expected.record().at("results"), "");
  }
}

/// Radii of networks with biases or frozen layers agree up to one grid point of the search.
TEST(DeviceProgram, CertifiesNetworksWithBiasesAndFrozenLayers) {
  const Folder folder;
  for (const char* network : {"fc:2(b_std=0.2)", "fc:2(frozen=2)"}) {
    const Finished fitted = folder.widelimit({"fit", "--network", network, "--train", "digits", "--classes", "3,8",
                                              "--limit", "60", "--machine", "ridge", "--out", "m.h5"});
    ASSERT_EQ(fitted.status, 0) << fitted.err;
    const Words certify{"certify", "--model", "m.h5", "--test", "digits", "--classes",
                        "3,8",     "--limit", "8",    "--box",  "0,16",   "--json"};
    const Finished expected = folder.widelimit(certify), found = folder.run(on_device(certify));
    ASSERT_EQ(expected.status, 0) << expected.err;
    ASSERT_EQ(found.status, 0) << found.err;
    const Json here = found.record().at("results").at("methods").at(0).at("radius");
    const Json there = expected.record().at("results").at("methods").at(0).at("radius");
    ASSERT_EQ(here.size(), there.size());
    for (std::size_t k = 0; k < here.size(); ++k) {
      EXPECT_NEAR(here[k].get<double>(), there[k].get<double>(), 0.005 * there[k].get<double>()) << network;
    }
  }
}

/// Radii of trained networks of finite width agree up to one grid point of the search; the record names the engine.
TEST(DeviceProgram, CertifiesTrainedNetworks) {
  const Folder folder;
  for (const char* loss : {"hinge", "softmax"}) {
    const Finished trained =
        folder.widelimit({"train", "--network", "fc:1", "--width", "40", "--train", "digits", "--classes", "3,8",
                          "--limit", "60", "--scale", "unit", "--loss", loss, "--steps", "30", "--out", "n.h5"});
    ASSERT_EQ(trained.status, 0) << trained.err;
    const Words certify{"certify", "--model", "n.h5", "--test",   "digits", "--classes",
                        "3,8",     "--limit", "8",    "--attack", "--json"};
    const Finished expected = folder.widelimit(certify), found = folder.run(on_device(certify));
    ASSERT_EQ(expected.status, 0) << expected.err;
    ASSERT_EQ(found.status, 0) << found.err;
    EXPECT_EQ(found.record().at("backend").at("name"), "cuda:0");
    const Json here = found.record().at("results").at("methods").at(0).at("radius");
    const Json there = expected.record().at("results").at("methods").at(0).at("radius");
    ASSERT_EQ(here.size(), there.size());
    for (std::size_t k = 0; k < here.size(); ++k) {
      EXPECT_NEAR(here[k].get<double>(), there[k].get<double>(), 0.0011 * there[k].get<double>()) << loss;
    }
  }
}

/// The matrix of 700 samples takes 3.9 MB, so the device holds only tiles of it.
TEST(DeviceProgram, MatricesLargerThanTheDevice) {
  const Folder folder;
  const Words kernel{"kernel", "--network", "fc:2", "--train", "digits", "--limit", "700", "--json", "--threads", "2"};
  const auto with = [&](const std::string& file) {
    Words words = kernel;
    words.insert(words.end(), {"--out", file});
    return words;
  };
  const Finished whole = folder.run(on_device(with("whole.npz")));
  ASSERT_EQ(whole.status, 0) << whole.err;
  for (const std::string file : {"tiles.npz", "tiles.h5"}) {
    const Finished tiles = folder.run(on_device(with(file), "5MB"));
    ASSERT_EQ(tiles.status, 0) << tiles.err;
    expect_close(tiles.record().at("results"), whole.record().at("results"), file);
  }
}

TEST(DeviceProgram, RunningOutEndsWithStatusFive) {
  const Folder folder;
  const Words fit{"fit", "--network", "fc:2", "--train", "digits", "--limit", "700", "--out", "m.h5"};
  const Finished done = folder.run(on_device(fit, "5MB"));
  EXPECT_EQ(done.status, 5) << done.err;
  EXPECT_NE(done.err.find("cannot allocate"), std::string::npos) << done.err;
  EXPECT_NE(done.err.find("of its 4.77 MiB are free"), std::string::npos) << done.err;
  EXPECT_TRUE(folder.names().empty());
  // The memory limit of the user applies to the device, too.
  const Words kernel{"kernel", "--network", "fc:2", "--train", "digits", "--limit", "700", "--threads", "1"};
  Words limited = kernel;
  limited.insert(limited.end(), {"--out", "k.h5", "--memory", "2MB"});
  const Finished refused = folder.run(on_device(limited));
  EXPECT_EQ(refused.status, 5) << refused.err;
  EXPECT_NE(refused.err.find("of the memory of cuda:0"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("but 1.91 MiB of 64 GiB may be used (--memory, --precision f32)"), std::string::npos)
      << refused.err;
  // A remedy that is in use already is not suggested.
  const Finished single =
      folder.run(on_device({"kernel", "--network", "fc:2", "--train", "spirals(n=1500)", "--threads", "1",
                            "--precision", "f32", "--memory", "2MB", "--out", "k.h5"}));
  EXPECT_EQ(single.status, 5) << single.err;
  EXPECT_NE(single.err.find("may be used (--memory)"), std::string::npos) << single.err;
  for (const std::string verb : {"tune", "spectrum", "flow"}) {
    Words words{verb, "--network", "fc:2", "--train", "digits", "--limit", "700", "--memory", "3MB"};
    if (verb == "tune") words.insert(words.end(), {"--machine", "ridge"});
    if (verb == "flow") words.insert(words.end(), {"--loss", "squared", "--times", "1"});
    const Finished run = folder.run(on_device(words));
    EXPECT_EQ(run.status, 5) << verb << ": " << run.err;
    EXPECT_NE(run.err.find("this kernel of 700 samples needs about 3.74 MiB"), std::string::npos) << run.err;
  }
  // What the limit on the device leaves.
  Words left = fit;
  left.insert(left.end(), {"--machine", "svm", "--memory", "3MB"});
  const Finished held = folder.run(on_device(left));
  EXPECT_EQ(held.status, 5) << held.err;
  EXPECT_NE(held.err.find("of which the limit leaves 2.86 MiB (--limit, --precision f32, --memory)"), std::string::npos)
      << held.err;
  EXPECT_TRUE(folder.names().empty());
}

TEST(DeviceProgram, RefusesChainsWithoutClosedForm) {
  const Folder folder;
  const std::string reason =
      "the activation 'relu tanh' is user-defined or composed of several; only cpu and reference";
  for (const std::string network : {"dense relu tanh dense", "conv relu tanh global_avg_pool dense"}) {
    for (const char* out : {"k.npz", "k.h5"}) {
      const Finished run =
          folder.run(on_device({"kernel", "--network", network, "--train", "digits", "--limit", "4", "--out", out}));
      EXPECT_EQ(run.status, 2) << run.err;
      EXPECT_NE(run.err.find("cuda:0 cannot compute this kernel: " + reason), std::string::npos) << run.err;
    }
    EXPECT_TRUE(folder.names().empty());
    const Finished shown = folder.run(on_device({"network", "show", network, "--input", "8x8x1", "--json"}));
    ASSERT_EQ(shown.status, 0) << shown.err;
    EXPECT_TRUE(shown.record().at("results").at("obstacle").get<std::string>().starts_with(reason)) << shown.out;
    EXPECT_FALSE(shown.record().at("results").contains("route")) << shown.out;
  }
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A run that was interrupted on a device smaller than the matrix is completed with other memory and threads.
TEST(DeviceProgram, ResumesOnASmallDevice) {
  const Folder folder;
  const auto kernel = [](const std::string& file) {
    return Words{"kernel", "--network", "fc:9", "--train", "spirals(n=1500)", "--progress", "--out", file};
  };
  ASSERT_EQ(folder.run(on_device(kernel("whole.h5"))).status, 0);
  Words words = on_device(kernel("k.h5"), "16MiB");
  const Finished stopped = folder.run_interrupted(words, std::chrono::milliseconds(0), "pairs/s");
  EXPECT_EQ(stopped.status, 130) << stopped.err;
  words = on_device(kernel("k.h5"), "24MiB");
  words.insert(words.end(), {"--resume", "--threads", "1"});
  const Finished resumed = folder.run(words);
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_TRUE(contents(folder.path("k.h5")) == contents(folder.path("whole.h5")));
  EXPECT_EQ(folder.names(), (Words{"k.h5", "whole.h5"}));
}

}  // namespace
}  // namespace widelimit::test
