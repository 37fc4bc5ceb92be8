#include "tests/app/program.hpp"
#include "tests/paths.hpp"
#include "widelimit/base/utf8.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace widelimit::test {
namespace {

using Words = std::vector<std::string>;

const std::vector<Words> all_verbs = {{},
                                      {"doctor"},
                                      {"data"},
                                      {"data", "list"},
                                      {"data", "show"},
                                      {"network"},
                                      {"network", "list"},
                                      {"network", "show"},
                                      {"kernel"},
                                      {"compare"},
                                      {"nth"},
                                      {"likelihood"},
                                      {"ensemble"},
                                      {"spectrum"},
                                      {"evolution"},
                                      {"equivalence"},
                                      {"bound"},
                                      {"experiment"},
                                      {"experiment", "list"},
                                      {"demo"}};

/// Expects exactly one message on standard error.
void expect_error(const Finished& run, int status, const std::vector<std::string>& said) {
  EXPECT_EQ(run.status, status) << run.err;
  EXPECT_TRUE(run.out.empty()) << run.out;
  EXPECT_TRUE(run.err.starts_with("widelimit: error: ")) << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  for (const std::string& part : said) EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
}

/// Returns the last line of the help, after "Example:".
std::string example_of(const std::string& help) {
  const auto at = help.rfind("Example:\n  ");
  if (at == std::string::npos) return "";
  const std::string rest = help.substr(at + 11);
  return rest.substr(0, rest.find('\n'));
}

TEST(Usage, WrongWordsGetASuggestion) {
  const Folder folder;
  expect_error(folder.widelimit({"kernal"}), 2, {"unknown verb 'kernal'", "'kernel'", "--help"});
  expect_error(folder.widelimit({"data", "shw", "digits"}), 2, {"'shw'", "'show'", "widelimit data --help"});
  expect_error(folder.widelimit({"kernel", "--newtork", "fc:3", "--train", "digits", "--out", "k.npz"}), 2,
               {"'--newtork'", "'--network'", "widelimit kernel --help"});
  expect_error(folder.widelimit({"doctor", "--jsom"}), 2, {"'--jsom'", "'--json'"});
  expect_error(folder.widelimit({"doctor", "now"}), 2, {"'now'"});
}

TEST(Usage, NearMissesOfNamesGetASuggestion) {
  const Folder folder;
  const auto kernel = [&](const std::string& network, const std::string& data, const Words& more = {}) {
    Words words{"kernel", "--network", network, "--train", data, "--limit", "5", "--out", "k.npz"};
    words.insert(words.end(), more.begin(), more.end());
    return folder.widelimit(words);
  };
  expect_error(kernel("fc3", "digits"), 3, {"did you mean 'fc:3'"});
  expect_error(kernel("FC12(w_std=2)", "digits"), 3, {"did you mean 'fc:12'"});
  expect_error(kernel("fc:1", "digit"), 3, {"did you mean 'digits'"});
  expect_error(kernel("fc:1", "spiral"), 3, {"did you mean 'spirals'"});
  expect_error(kernel("fc:1", "digits", {"--backend", "referense"}), 2, {"cpu, reference", "did you mean 'reference'"});
  for (const std::string device : {"CUDA:0", "cuda0", "cuda:-1", "cuda:x", "cuda:", "cuda:0.5", "gpu", "gpu:1"}) {
    expect_error(kernel("fc:1", "digits", {"--backend", device}), 2, {"'" + device + "'", "cuda:0"});
  }
  expect_error(
      folder.widelimit({"fit", "--network", "fc:1", "--train", "digits", "--machine", "logstic", "--out", "m.h5"}), 2,
      {"did you mean 'logistic'"});
}

// Also by verbs that compute nothing on a back end.
TEST(Usage, EveryVerbRefusesAnUnknownBackEnd) {
  const Folder folder;
  for (const Words& verb : {Words{"doctor"}, Words{"data", "list"}, Words{"network", "list"}}) {
    Words words = verb;
    words.insert(words.end(), {"--backend", "cuda:x"});
    expect_error(folder.widelimit(words), 2, {"'cuda:x' names no device"});
  }
}

TEST(Usage, HelpListsTheBackEndsThatAreBuilt) {
  const Folder folder;
  const std::string help = folder.widelimit({"kernel", "--help"}).out;
  EXPECT_NE(help.find("cpu, reference; 'widelimit doctor'"), std::string::npos) << help;
  EXPECT_EQ(help.find("cuda"), std::string::npos) << help;
  EXPECT_NE(folder.widelimit({"doctor"}).out.find("cuda"), std::string::npos);
}

// On any machine: a plug-in named by WIDELIMIT_PLUGINS takes precedence, and a program without plug-ins has none.
TEST(Usage, CudaSaysWhyItIsAbsent) {
  const Folder folder;
  const Words kernel{"kernel", "--network", "fc:1", "--train", "digits", "--out", "k.npz", "--backend", "cuda:0"};
  const auto with_plugins = [&](const std::string& program) {
    Words words{"env", "WIDELIMIT_PLUGINS=" + folder.path("plugins").string(), program};
    words.insert(words.end(), kernel.begin(), kernel.end());
    return folder.run(words);
  };
  std::filesystem::copy_file(program_path(), folder.path("alone"));
  expect_error(with_plugins(folder.path("alone").string()), 2,
               {"libwidelimit_cuda.so was not found", "WIDELIMIT_PLUGINS"});
  std::filesystem::create_directory(folder.path("plugins"));
  folder.write("plugins/libwidelimit_cuda.so", "no library");
  expect_error(with_plugins(program_path()), 2, {"CUDA plug-in cannot be loaded"});
}

TEST(Usage, NumbersOutOfRangeAreNamed) {
  const Folder folder;
  for (const char* lambda : {"-1", "nan", "inf"}) {
    for (const Words& verb :
         {Words{"flow"}, Words{"flow", "--steps", "5"}, Words{"flow", "--times", "1"}, Words{"train", "--steps", "1"},
          Words{"equivalence", "--widths", "4", "--steps", "1"}, Words{"fit", "--out", "m.h5"}, Words{"bound"}}) {
      Words words = verb;
      for (const char* word :
           {"--network", "fc:1", "--train", "digits", "--classes", "0,1", "--limit", "6", "--lambda"}) {
        words.emplace_back(word);
      }
      words.emplace_back(lambda);
      const Finished run = folder.widelimit(words);
      EXPECT_TRUE(run.status == 2 || run.status == 3) << verb.front() << ' ' << run.err;
      const bool named = run.err.find("lambda") != std::string::npos || run.err.find("λ") != std::string::npos;
      EXPECT_TRUE(named) << verb.front() << ' ' << lambda << ' ' << run.err;
    }
  }
}

TEST(Usage, WhatIsMissingIsNamed) {
  const Folder folder;
  expect_error(folder.widelimit({}), 2, {"doctor, data, network, kernel"});
  expect_error(folder.widelimit({"data"}), 2, {"list, show"});
  expect_error(folder.widelimit({"kernel", "--network", "fc:1", "--out", "k.npz"}), 2, {"--train"});
  expect_error(folder.widelimit({"kernel", "--network", "fc:1", "--train", "digits"}), 2, {"--out"});
  expect_error(folder.widelimit({"kernel", "--train", "digits", "--out", "k.npz"}), 2, {"--network", "--classical"});
}

TEST(Usage, WrongValuesAreUsage) {
  const Folder folder;
  const auto kernel = [&](const Words& more) {
    Words words{"kernel", "--network", "fc:1", "--train", "spirals", "--out", "k.npz"};
    words.insert(words.end(), more.begin(), more.end());
    return folder.widelimit(words);
  };
  expect_error(kernel({"--kind", "kntk"}), 2, {"kntk", "nngp"});
  expect_error(kernel({"--method", "magic"}), 2, {"magic", "monte-carlo"});
  expect_error(kernel({"--scale", "big"}), 2, {"big"});
  expect_error(kernel({"--precision", "f16"}), 2, {"f16"});
  expect_error(kernel({"--backend", "cuda:0"}), 2, {"cuda:0 is absent"});
  expect_error(kernel({"--backend", "tpu"}), 2, {"tpu"});
  expect_error(kernel({"--threads", "many"}), 2, {"--threads many: expected a number"});
  expect_error(kernel({"--limit", "1.5"}), 2, {"--limit 1.5: expected an integer"});
  expect_error(kernel({"--limit", "1", "--limit", "2"}), 2, {"--limit is given more than once"});
  expect_error(kernel({"--limit"}), 2, {"--limit has no value"});
  expect_error(folder.widelimit({"doctor", "--precision", "f16"}), 2, {"f16", "f32 or f64"});
  expect_error(folder.widelimit({"doctor", "--memory", "lots"}), 2, {"lots", "4GiB"});
  expect_error(folder.widelimit({"experiment", "certificates-table"}), 2,
               {"'certificates-table'", "certificates-table3"});
  expect_error(kernel({"--memory", "lots"}), 2, {"lots", "4GiB"});
  expect_error(kernel({"--sweep", "--layers"}), 2, {"--sweep"});
  expect_error(kernel({"--sweep", "--split", "0.5"}), 2, {"test"});
  expect_error(kernel({"--test", "spirals", "--split", "0.5"}), 2, {"split"});
  expect_error(kernel({"--classical", "rbf"}), 2, {"--classical"});
  expect_error(kernel({"--limit", "0"}), 2, {"limit"});
  EXPECT_TRUE(folder.names().empty());
}

TEST(Usage, OutputMustHaveAKnownEnding) {
  const Folder folder;
  expect_error(folder.widelimit({"kernel", "--network", "fc:1", "--train", "spirals", "--out", "k.mat"}), 2,
               {".npz", ".h5"});
}

TEST(Usage, EveryHelpEndsInAnExampleThatRuns) {
  const Folder folder;
  for (Words words : all_verbs) {
    words.push_back("--help");
    const Finished help = folder.widelimit(words);
    EXPECT_EQ(help.status, 0) << help.err;
    const std::string example = example_of(help.out);
    ASSERT_TRUE(example.starts_with("widelimit ")) << help.out;
    if (example.find(" demo") != std::string::npos) continue;  // has its own test
    const Finished run = folder.run({"bash", "-c", program_path() + example.substr(9)});
    EXPECT_EQ(run.status, 0) << example << "\n" << run.err;
  }
}

/// Descriptions begin in one column, also behind types with characters of several bytes.
TEST(Usage, HelpIsInColumns) {
  const Folder folder;
  for (const Words& words : {Words{"data", "show", "--help"}, Words{"experiment", "lantk-table3", "--help"}}) {
    const std::string help = folder.widelimit(words).out;
    EXPECT_EQ(help.find("… ..."), std::string::npos) << help;
    for (const auto& [type, blanks] :
         {std::pair{"  --classes A,B,…", 17}, std::pair{"  --pairs A/B,…", 19}, std::pair{"  --limit N", 23}}) {
      const auto at = help.find(type);
      if (at == std::string::npos) continue;
      const std::string rest = help.substr(at + std::string_view(type).size());
      EXPECT_EQ(rest.find_first_not_of(' '), static_cast<std::size_t>(blanks)) << type;
    }
  }
}

/// Only the usage line of long names and the example, which is to be copied, may exceed a terminal of 80 columns.
TEST(Usage, HelpFitsIntoATerminal) {
  const Folder folder;
  std::vector<Words> verbs = all_verbs;
  for (const char* verb : {"fit", "tune", "predict", "certify", "train", "flow"}) verbs.push_back({verb});
  verbs.push_back({"experiment", "uci-90"});
  for (Words words : verbs) {
    words.emplace_back("--help");
    std::istringstream help(folder.widelimit(words).out);
    for (std::string line; std::getline(help, line) && line != "Example:";) {
      EXPECT_LE(count_characters(line), 80U) << line;
    }
  }
}

/// A record names the back end that computed the result.
TEST(Usage, ABackEndThatCannotDoTheWorkIsRefused) {
  const Folder folder;
  const Words small{"--train", "spirals", "--limit", "9", "--out", "k.npz"};
  for (const Words& begin :
       {Words{"certify", "--model", "m.h5", "--test", "digits"}, Words{"kernel", "--classical", "rbf(gamma=0.5)"},
        Words{"kernel", "--network", "fc:1", "--method", "monte-carlo"}}) {
    Words words = begin;
    if (words[0] == "kernel") words.insert(words.end(), small.begin(), small.end());
    words.insert(words.end(), {"--backend", "reference"});
    const Finished run = folder.widelimit(words);
    EXPECT_EQ(run.status, 2) << run.err;
    EXPECT_NE(run.err.find("instead of reference"), std::string::npos) << run.err;
  }
  EXPECT_EQ(folder.names(), Words{});
}

}  // namespace
}  // namespace widelimit::test
