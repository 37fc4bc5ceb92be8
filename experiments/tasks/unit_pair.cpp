#include "experiments/tasks/unit_pair.hpp"

#include "experiments/tasks/digit_pair.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/kernel/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace widelimit::experiment {

namespace {

constexpr std::array<std::string_view, 2> known_sets{"mnist", "cifar10"};

void check_set(const std::string& set) {
  if (std::find(known_sets.begin(), known_sets.end(), set) == known_sets.end()) {
    fail(Code::usage, "--sets {}: choose mnist, cifar10 or both", set);
  }
}

}  // namespace

std::vector<std::string> requested_sets(const Setting& setting) {
  std::vector<std::string> sets = setting.words("sets");
  for (const std::string& set : sets) check_set(set);
  return sets;
}

UnitPair unit_pair(const Setting& setting, const std::string& set, const std::string& activation, Index samples,
                   Index tests) {
  check_set(set);
  UnitPair pair{.set = set,
                .data = first_two_classes(setting, set, Scaling::unit, samples, tests),
                .network = {},
                .k = {},
                .k_test = {}};
  // w_std² = d cancels the 1/d of ⟨x, x'⟩/d, as in the lecture.
  const double w_std = std::sqrt(static_cast<double>(pair.data.train.shape.size()));
  pair.network = Network::parse(fmt::format("dense(w_std={}) {} dense(frozen=true)", w_std, activation));
  KernelRequest request{.kernel = pair.network};
  request.kind = Kind::ntk;
  request.precision = setting.precision;
  request.memory = setting.memory;
  request.progress = setting.progress;
  const auto test = pair.data.test ? std::optional(pair.data.test->view()) : std::nullopt;
  KernelResult result = compute_kernel(request, pair.data.train.view(), test, setting.engine);
  for (NamedMatrix& matrix : result.matrices) {
    (matrix.name == "ntk" ? pair.k : pair.k_test) = std::move(matrix.values);
  }
  pair.seconds = result.seconds;
  return pair;
}

}  // namespace widelimit::experiment
