#include "widelimit/kernel/file/known_gram.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/origin.hpp"

#include <nlohmann/json.hpp>

namespace widelimit {

namespace {

/// Whether both denote the same rows of the same source.
bool same_samples(const DataOrigin& a, const DataOrigin& b) {
  return a.samples == b.samples && a.checksum == b.checksum && a.label == b.label && a.classes == b.classes &&
         a.shuffle == b.shuffle && a.split == b.split && a.limit == b.limit;
}

/// Compares the network stored in a kernel file with that of the request; a mismatch would make predictions invalid.
void check_network(const nlohmann::ordered_json& settings, const std::string& path, const KernelRequest& request) {
  const auto* network = std::get_if<Network>(&request.kernel);
  if (!settings.is_object() || network == nullptr || !settings.contains("network")) return;
  const auto stored = settings["network"].get<std::string>();
  if (stored != network->to_text()) {
    fail(Code::input, "{} is the kernel of '{}', not of '{}'; compute it for this network", path, stored,
         network->to_text());
  }
}

/// The same for the samples.
void check_samples(const nlohmann::ordered_json& settings, const std::string& path, const DataOrigin& origin) {
  if (!settings.is_object() || !settings.contains("origin") || origin.samples == 0) return;
  if (same_samples(parse_origin_text(settings["origin"].get<std::string>()), origin)) return;
  fail(Code::input,
       "{} is the kernel of other samples: of another source, or of other rows of it (label, classes, shuffle, split, "
       "seed, limit); give the options it was computed with",
       path);
}

}  // namespace

std::string gram_name(const KernelRequest& request) {
  if (std::holds_alternative<ClassicalKernel>(request.kernel)) return "kernel";
  return request.kind == Kind::nngp ? "nngp" : "ntk";
}

GramFile open_known_gram(const std::string& path, const std::string& name, Index rows, Index cols,
                         const KernelRequest& request, const DataOrigin& origin) {
  GramFile gram(path, name);
  const auto settings = nlohmann::ordered_json::parse(gram.settings(), nullptr, false);
  check_network(settings, path, request);
  if (gram.rows() != rows || gram.cols() != cols) {
    fail(Code::input, "'{}' of {} is {} by {}; the data need {} by {}: give the options it was computed with", name,
         path, gram.rows(), gram.cols(), rows, cols);
  }
  check_samples(settings, path, origin);
  return gram;
}

}  // namespace widelimit
