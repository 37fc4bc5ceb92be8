#include "widelimit/base/choice.hpp"
#include "widelimit/machine/machine.hpp"

#include <array>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 7> machines{"regression", "ridge", "hard-svm", "svm", "svm2", "svr", "logistic"};
constexpr std::array<std::string_view, 7> schemes{"values",     "sign",    "one-hot",         "one-vs-rest",
                                                  "one-vs-one", "softmax", "one-vs-one-first"};

}  // namespace

std::string_view to_string(Machine machine) { return machines[static_cast<std::size_t>(machine)]; }
Machine parse_machine(std::string_view text) { return parse_choice<Machine>("machine", machines, text); }
std::string_view to_string(Scheme scheme) { return schemes[static_cast<std::size_t>(scheme)]; }
Scheme parse_scheme(std::string_view text) { return parse_choice<Scheme>("scheme", schemes, text); }

Index output_count(Scheme scheme, Index classes) {
  if (scheme == Scheme::sign) return 1;
  return is_pairwise(scheme) ? classes * (classes - 1) / 2 : classes;
}

}  // namespace widelimit
