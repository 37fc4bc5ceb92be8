#include "widelimit/finite/training/train_record.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/training/train.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

using Steps = std::vector<Index>;

/// Returns the steps from 0 to `steps` at which a schedule is due.
Steps due_steps(RecordSchedule schedule, Index steps) {
  Steps due;
  for (Index step = 0; step <= steps; ++step) {
    if (schedule.due(static_cast<double>(step))) due.push_back(step);
  }
  EXPECT_TRUE(schedule.done());
  return due;
}

TEST(RecordSchedule, TakesChosenStepsAndBothEnds) {
  EXPECT_EQ(due_steps(RecordSchedule(20, Steps{1, 10}), 20), (Steps{0, 1, 10, 20}));
  EXPECT_EQ(due_steps(RecordSchedule(20, Steps{0, 7, 20}), 20), (Steps{0, 7, 20}));
  EXPECT_EQ(due_steps(RecordSchedule(1, Steps{1}), 1), (Steps{0, 1}));
  EXPECT_EQ(due_steps(RecordSchedule(0, Steps{0}), 0), (Steps{0}));
  EXPECT_EQ(due_steps(RecordSchedule(20.0, 3), 20), (Steps{0, 10, 20}));
}

TEST(RecordSchedule, StaysWithinMemory) {
  const Index too_many = Index{1} << 30;
  EXPECT_EQ(record_schedule({.steps = 3, .record_at = {1}}, 1).count(), 3);
  EXPECT_EQ(record_schedule({.steps = 3, .records = 101}, too_many).count(), 2);
  EXPECT_THROW((void)record_schedule({.steps = 3, .record_at = {1}}, too_many), Error);
}

TEST(RecordSchedule, RefusesStepsThatDoNotRise) {
  for (const Steps& wrong : {Steps{6}, Steps{2, 2}, Steps{3, 1}, Steps{-1}}) {
    EXPECT_THROW(TrainOptions({.steps = 5, .record_at = wrong}).validate(), Error);
  }
  EXPECT_THROW(TrainOptions({.flow_time = 1, .record_at = {1}}).validate(), Error);
  EXPECT_NO_THROW(TrainOptions({.steps = 5, .record_at = {0, 5}}).validate());
}

TEST(RecordSchedule, DecidesWhatATrainingShows) {
  const Matrix<double> x(2, 3);
  const Matrix<double> y(2, 1);
  const TrainData data{SampleView(x.view(), Shape{.channels = 3}), y.view()};
  const TrainOptions options{.width = 4, .steps = 30, .batch = 1, .record_at = {1, 10}};
  const TrainingRecord record = train(Network::parse("dense relu dense"), data, options).record;
  EXPECT_EQ(record.steps, (Steps{0, 1, 10, 30}));
  EXPECT_EQ(record.outputs.size(), 8U);
}

/// Evaluation of all samples is only for the record: without it the weights are bit-identical.
TEST(Train, WithoutLooksTakesTheSameSteps) {
  Matrix<double> x(12, 3);
  Matrix<double> y(12, 1);
  const Random random(3);
  random.normals(0, 36, 1.0, x.data());
  for (Index i = 0; i < 12; ++i) y(i, 0) = x(i, 0) > 0 ? 1.0 : -1.0;
  TrainOptions options;
  options.width = 16;
  options.loss.kind = LossKind::hinge;
  options.batch = 4;
  options.steps = 9;
  const TrainData data{.x = SampleView(x.view(), {1, 1, 3}), .y = y.view()};
  const TrainedNetwork recorded = train(Network::parse("eq2"), data, options);
  options.keep_record = false;
  const TrainedNetwork unrecorded = train(Network::parse("eq2"), data, options);
  EXPECT_TRUE(unrecorded.summary.finished());
  EXPECT_EQ(unrecorded.summary.steps, 9);
  EXPECT_TRUE(unrecorded.record.loss.empty());
  EXPECT_FALSE(recorded.record.loss.empty());
  const auto& w = std::get<Parameters<double>>(recorded.parameters);
  const auto& v = std::get<Parameters<double>>(unrecorded.parameters);
  for (std::size_t l = 0; l < w.slots.size(); ++l) EXPECT_EQ(w.slots[l].w, v.slots[l].w);
}

}  // namespace
}  // namespace widelimit
