#include "widelimit/analysis/hierarchy/replicates.hpp"

#include "widelimit/base/interruption.hpp"
#include "widelimit/base/progress.hpp"

#include <algorithm>

namespace widelimit {

Replicates::Replicates(FourthOrderSum& sum, const Directions& directions, Index points, Index samples, bool keep)
    : sum_(sum), directions_(directions), points_(points), samples_(samples) {
  if (!keep) return;
  for (Index replicate = 0; replicate < count; ++replicate) kept_.emplace_back(points, samples);
}

void Replicates::draw(Index replicate, Index first, Index last, Matrix<double>& total) {
  Matrix<double> w(last - first, directions_.features(), Content::unset);
  directions_.write(replicate, first, w.view());
  sum_.add(w.view());
  sum_.take(total);
}

/// Sums whole batches first, then the remaining directions, and keeps only sums of whole batches. The order of
/// summation, and with it the bits, depends on `size` alone; at most one batch per replicate is drawn again.
EntryMoments Replicates::lengthened_to(Index size, Progress* progress) {
  const Index whole = size / batch * batch;
  const Index entries = points_ * samples_;
  const double share = 1.0 / static_cast<double>(size);
  EntryMoments moments(points_, samples_);
  ProgressTicker ticker(progress, count * (size - drawn_), "directions");
  for (Index replicate = 0; replicate < count; ++replicate) {
    const auto draw_to = [&](Index first, Index last, Matrix<double>& total) {
      draw(replicate, first, last, total);
      ticker.at(replicate * (size - drawn_) + last - drawn_);
      stop_if_requested(progress);
    };
    Matrix<double> mean(points_, samples_);
    Matrix<double>& total = kept_.empty() ? mean : kept_[usize(replicate)];
    for (Index first = drawn_; first < whole; first += batch) draw_to(first, first + batch, total);
    if (!kept_.empty()) std::copy_n(total.data(), entries, mean.data());
    if (whole < size) draw_to(whole, size, mean);
    interruptible_rows(entries, 1, [&](Index i) { mean.data()[i] *= share; });
    moments.add(mean);
  }
  if (!kept_.empty()) drawn_ = whole;
  return moments;
}

}  // namespace widelimit
