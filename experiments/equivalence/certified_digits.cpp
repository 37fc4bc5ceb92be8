#include "experiments/equivalence/certified_digits.hpp"

#include <algorithm>
#include <limits>

namespace widelimit::experiment {

namespace {

template <typename T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// Appends certificates without attack; their attack distance is infinite.
void append_unattacked(Certificates& all, const Certificates& more) {
  append(all.correct, more.correct);
  append(all.margin, more.margin);
  append(all.radius, more.radius);
  append(all.method, more.method);
  if (!all.attack.empty()) all.attack.resize(all.radius.size(), std::numeric_limits<double>::infinity());
  all.seconds += more.seconds;
}

}  // namespace

Certificates certify_digits(const Model& model, const MnistTask& task, Index tests, Index attacks,
                            const CertifyOptions& options, const Engine& engine) {
  const SampleView samples = task.test.view();
  const std::span<const Index> labels(task.test.labels);
  const Index first = options.attack ? std::min(attacks, tests) : tests;
  Certificates all = certify(model, samples.part(0, first), labels.first(usize(first)), options, engine);
  if (first == tests) return all;
  CertifyOptions rest = options;
  rest.attack.reset();
  rest.keep_attacked = false;
  append_unattacked(all, certify(model, samples.part(first, tests - first),
                                 labels.subspan(usize(first), usize(tests - first)), rest, engine));
  return all;
}

}  // namespace widelimit::experiment
