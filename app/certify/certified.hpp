#pragma once

#include "widelimit/certificate/statistics.hpp"
#include "widelimit/report/figures/certificate_figures.hpp"
#include "widelimit/report/table.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

namespace widelimit::app {

/// Certificates of the same samples by one method or several, the weakest first.
struct Certified {
  std::vector<CertificateMethod> methods;
  std::vector<Certificates> runs;  ///< one for each method; the last has the attack, where there is one

  [[nodiscard]] const Certificates& best() const { return runs.back(); }
  [[nodiscard]] bool attacked() const { return !best().attack.empty(); }
};

/// The methods that "paper", "interval", "convex" or "all" means. Error{usage} lists the choices.
[[nodiscard]] std::vector<CertificateMethod> parse_methods(const std::string& text);

/// `call` once for each method; the attack, which is the same for all, only beside the last. Hears Ctrl-C between them.
[[nodiscard]] Certified certify_by(const std::vector<CertificateMethod>& methods, const CertifyOptions& options,
                                   const std::function<Certificates(const CertifyOptions&)>& call);

/// A row for each method, and one for the attack: what radii there are, and the fraction of samples that have at least
/// each of the radii `at`.
[[nodiscard]] Table certified_table(const Certified& certified, const std::vector<double>& at);
/// The same where one radius was asked for: how many samples have it.
[[nodiscard]] Table verdict_table(const Certified& certified, double radius);

/// "accuracy 0.9667 (29 of 30); …" and what the methods remark.
[[nodiscard]] std::string certified_words(const Certified& certified);

/// "samples", "accuracy", …, and "methods" and "attack" with a number for each sample.
[[nodiscard]] nlohmann::ordered_json certified_json(const Certified& certified, const std::vector<double>& at);

/// The curves of all methods and of the attack, by name.
[[nodiscard]] std::vector<RadiusSeries> radius_series(const Certified& certified);
/// Whether there is a radius to draw.
[[nodiscard]] bool has_radii(const Certified& certified);

}  // namespace widelimit::app
