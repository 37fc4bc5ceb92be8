#include "experiments/tasks/digit_samples.hpp"

#include "experiments/tasks/digit_pair.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/data/preparation/preprocess.hpp"

#include <array>
#include <utility>

namespace widelimit::experiment {

DigitSamples digit_samples(const Setting& setting, Index samples, Index tests) {
  DataRequest request{.train = "digits"};
  request.classes = two_digits(setting);
  request.progress = setting.progress;
  const Dataset all = load_train_test(request).train;
  std::array<std::vector<Index>, 2> of;
  for (Index i = 0; i < all.count(); ++i) of[usize(all.labels[usize(i)])].push_back(i);
  const Index wanted = samples + tests;
  if (wanted > 2 * std::min(std::ssize(of[0]), std::ssize(of[1]))) {
    fail(Code::usage, "--samples {} --tests {}: there are only {} digits of these classes", samples, tests,
         all.count());
  }
  std::vector<Index> rows;
  for (Index i = 0; i < wanted; ++i) rows.push_back(of[usize(i % 2)][usize(i / 2)]);
  DigitSamples result;
  result.data.train = take_rows(all, std::span(rows).first(usize(samples)));
  const Scaler scaler(Scaling::standard, result.data.train);
  scaler.apply(result.data.train);
  if (tests > 0) {
    result.data.test = take_rows(all, std::span(rows).subspan(usize(samples)));
    scaler.apply(*result.data.test);
  }
  for (const Index label : result.data.train.labels) result.y.push_back(label == 1 ? 1 : -1);
  return result;
}

}  // namespace widelimit::experiment
