#include "widelimit/data/labels/split.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/data/preparation/preprocess.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 2> split_order_names{"stratified", "file"};
/// Separate stream, so that a split is independent of a shuffle with the same seed.
constexpr std::uint64_t split_stream = 2;

/// Returns the number of training samples per class, `train` in total: fraction·n_c rounded down, plus one for the
/// classes with the largest remainders. A class of two or more has at least one sample in each part, as far as
/// possible.
std::vector<Index> quotas(const std::vector<Index>& sizes, double fraction, Index train) {
  std::vector<Index> quota(sizes.size());
  std::vector<double> remainder(sizes.size());
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    const double share = fraction * static_cast<double>(sizes[c]);
    const Index least = sizes[c] > 0 ? 1 : 0;
    const Index most = sizes[c] > 1 ? sizes[c] - 1 : sizes[c];
    quota[c] = std::clamp(static_cast<Index>(std::floor(share)), least, most);
    remainder[c] = share - static_cast<double>(quota[c]);
  }
  // Adjusts the class with the largest deviation first, keeping one sample in each part, then without that constraint.
  for (const bool both_sides : {true, false}) {
    while (true) {
      const Index sum = std::accumulate(quota.begin(), quota.end(), Index{0});
      const Index step = sum < train ? 1 : -1;
      if (sum == train) return quota;
      std::size_t chosen = sizes.size();
      for (std::size_t c = 0; c < sizes.size(); ++c) {
        const Index next = quota[c] + step;
        const Index reserved = both_sides && sizes[c] > 1 ? 1 : 0;
        const bool free = next >= (both_sides ? std::min<Index>(1, sizes[c]) : 0) && next <= sizes[c] - reserved;
        const auto gain = [&](std::size_t k) { return static_cast<double>(step) * remainder[k]; };
        if (free && (chosen == sizes.size() || gain(c) > gain(chosen))) chosen = c;
      }
      if (chosen == sizes.size()) break;
      quota[chosen] += step;
      remainder[chosen] -= static_cast<double>(step);
    }
  }
  return quota;
}

SplitRows stratified(const Dataset& data, const Split& split, Index train) {
  const std::vector<Index> order = permutation(data.count(), split.seed, split_stream);
  const bool classes = !data.labels.empty();
  const auto class_of = [&](Index i) { return classes ? usize(data.labels[usize(i)]) : 0; };
  std::vector<Index> sizes(classes ? data.class_names.size() : 1);
  for (const Index i : order) ++sizes[class_of(i)];
  std::vector<Index> left = classes ? quotas(sizes, split.fraction, train) : std::vector{train};
  SplitRows rows;
  for (const Index i : order) {
    Index& quota = left[class_of(i)];
    (quota > 0 ? rows.train : rows.test).push_back(i);
    --quota;
  }
  return rows;
}

}  // namespace

std::string_view to_string(SplitOrder order) { return split_order_names[static_cast<std::size_t>(order)]; }

SplitOrder parse_split_order(std::string_view text) {
  return parse_choice<SplitOrder>("order of a split", split_order_names, text);
}

void Split::validate() const {
  if (!(fraction > 0 && fraction < 1)) {
    fail(Code::usage, "a split of {} is not between 0 and 1; 0.8 trains on four fifths", fraction);
  }
}

SplitRows split_rows(const Dataset& data, const Split& split) {
  split.validate();
  const Index count = data.count();
  const auto train = static_cast<Index>(std::llround(split.fraction * static_cast<double>(count)));
  if (train == 0 || train == count) {
    fail(Code::input, "{}: a split of {} leaves one part empty for {} samples", data.name, split.fraction, count);
  }
  if (split.order == SplitOrder::stratified) return stratified(data, split, train);
  SplitRows rows{std::vector<Index>(usize(train)), std::vector<Index>(usize(count - train))};
  std::iota(rows.train.begin(), rows.train.end(), Index{0});
  std::iota(rows.test.begin(), rows.test.end(), train);
  return rows;
}

}  // namespace widelimit
