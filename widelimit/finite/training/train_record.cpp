#include "widelimit/finite/training/train_record.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {
constexpr Index most_numbers = (Index{256} << 20) / static_cast<Index>(sizeof(double));
}  // namespace

RecordSchedule::RecordSchedule(double total, Index records) : total_(total), records_(std::max<Index>(records, 2)) {}

RecordSchedule::RecordSchedule(Index total, const std::vector<Index>& steps)
    : total_(static_cast<double>(total)), records_(0), chosen_(steps) {
  if (chosen_.empty() || chosen_.front() != 0) chosen_.insert(chosen_.begin(), 0);
  if (chosen_.back() != total) chosen_.push_back(total);
  records_ = std::ssize(chosen_);
}

double RecordSchedule::next() const {
  if (!chosen_.empty()) return static_cast<double>(chosen_[static_cast<std::size_t>(std::min(taken_, records_ - 1))]);
  return total_ * static_cast<double>(std::min(taken_, records_ - 1)) / static_cast<double>(records_ - 1);
}

bool RecordSchedule::due(double at) {
  if (done() || at < next()) return false;
  while (!done() && next() <= at) ++taken_;
  return true;
}

Index bounded_records(Index records, Index numbers) {
  return std::max<Index>(2, std::min(records, most_numbers / std::max<Index>(numbers, 1)));
}

}  // namespace widelimit
