#pragma once

#include "widelimit/certificate/statistics.hpp"
#include "widelimit/report/figures/certificate_figures.hpp"
#include "widelimit/report/table.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

namespace widelimit::app {

/// Certificates of the same samples by one or more methods, the weakest first.
struct Certified {
  std::vector<CertificateMethod> methods;
  std::vector<Certificates> runs;  ///< one per method; the last has the attack, if any

  [[nodiscard]] const Certificates& best() const { return runs.back(); }
  [[nodiscard]] bool attacked() const { return !best().attack.empty(); }
};

/// Returns the methods for "paper", "interval", "convex" or "all". Throws Error{usage} with the list of choices.
[[nodiscard]] std::vector<CertificateMethod> parse_methods(const std::string& text);

/// Runs `call` for each method; the attack, which is the same for all, only with the last. Throws Error{interrupted}
/// between the calls.
[[nodiscard]] Certified certify_with_methods(const std::vector<CertificateMethod>& methods,
                                             const CertifyOptions& options,
                                             const std::function<Certificates(const CertifyOptions&)>& call);

/// Returns a row per method and one for the attack: statistics of the radii, and the fraction of samples with at least
/// each of the radii `at`.
[[nodiscard]] Table certified_table(const Certified& certified, const std::vector<double>& at);
/// Returns the number of samples certified at the single radius of --radius.
[[nodiscard]] Table verdict_table(const Certified& certified, double radius);

/// Returns "accuracy 0.9667 (29 of 30); …" and the remarks of the methods.
[[nodiscard]] std::string certified_summary(const Certified& certified);

/// Returns "samples", "accuracy", …, and "methods" and "attack" with one number per sample.
[[nodiscard]] nlohmann::ordered_json certified_json(const Certified& certified, const std::vector<double>& at);

/// Returns the named curves of all methods and of the attack.
[[nodiscard]] std::vector<RadiusSeries> radius_series(const Certified& certified);
/// Returns whether any radius is positive and finite, i.e. can be plotted.
[[nodiscard]] bool has_radii(const Certified& certified);

}  // namespace widelimit::app
