#include "widelimit/base/error.hpp"
#include "widelimit/machine/machine.hpp"

#include <fmt/ranges.h>

#include <array>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 7> machines{"regression", "ridge", "hard-svm", "svm", "svm2", "svr", "logistic"};
constexpr std::array<std::string_view, 6> schemes{"values", "sign", "one-hot", "one-vs-rest", "one-vs-one", "softmax"};

template <typename Value, std::size_t Count>
Value parse(std::string_view what, const std::array<std::string_view, Count>& names, std::string_view text) {
  for (std::size_t k = 0; k < Count; ++k) {
    if (names[k] == text) return static_cast<Value>(k);
  }
  fail(Code::usage, "unknown {} '{}'; choose one of {}", what, text, fmt::join(names, ", "));
}

}  // namespace

std::string_view to_string(Machine machine) { return machines[static_cast<std::size_t>(machine)]; }
Machine parse_machine(std::string_view text) { return parse<Machine>("machine", machines, text); }
std::string_view to_string(Scheme scheme) { return schemes[static_cast<std::size_t>(scheme)]; }
Scheme parse_scheme(std::string_view text) { return parse<Scheme>("scheme", schemes, text); }

Index output_count(Scheme scheme, Index classes) {
  if (scheme == Scheme::sign) return 1;
  return scheme == Scheme::one_vs_one ? classes * (classes - 1) / 2 : classes;
}

}  // namespace widelimit
