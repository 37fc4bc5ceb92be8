#include "experiments/experiments.hpp"

#include "experiments/label_aware/la_table.hpp"

#include <fmt/format.h>

namespace widelimit::experiment {

namespace {

PublishedTable published_table1() {
  return {.tasks = {"deer/dog", "cat/deer", "cat/frog", "deer/frog", "bird/frog"},
          .lines = {{"CNTK", {85.15, 83.55, 86.95, 87.55, 86.35}},
                    {"best", {86.75, 84.85, 87.40, 88.30, 87.45}},
                    {"KR-V1", {85.65, 83.90, 87.20, 87.85, 87.45}},
                    {"KR-V2", {85.80, 83.90, 87.15, 87.90, 87.25}},
                    {"FJLT-V1", {86.75, 84.85, 87.40, 88.10, 86.40}},
                    {"FJLT-V2", {86.25, 84.55, 87.10, 88.30, 87.00}},
                    {"CNN", {89.00, 88.50, 89.00, 92.50, 90.15}}}};
}

constexpr PublishedCnn published_cnn1{"16,64,64,128,128,256,256", "300", "squared loss of 0 and 1"};

std::string table1_words(Index train, Index test, const LaOptions& options, Precision precision) {
  return fmt::format(
             "{} training and {} test images of each pair, half of each class, (byte/255 − 0.5)/0.5; published: 10,000 "
             "and 2,000. Kernel of the eight-layer network (`lantk_cnn8`), in {}; ridgeless regression on ±1; ratio "
             "{:g}. An accuracy of 85 % on 2,000 images has a standard error of 0.8 points. \"best\" is the best of KR "
             "and FJLT on each task, selected by test accuracy, as published, which is optimistic. ",
             train, test, precision == Precision::f32 ? "float32" : "float64", options.ratio) +
         la_remarks(options.cnn, published_cnn1);
}

Outcome run_table1(const Setting& setting) {
  const std::vector<LaPair> pairs = requested_pairs(setting);
  const Index train = setting.count("train", 4);
  const Index test = setting.count("test", 2);
  const LaOptions options = requested_la_options(setting, LossKind::squared);
  const auto grams = gram_folder(setting);
  const LaSource source(setting);
  std::vector<LaTask> tasks;
  for (const LaPair& pair : pairs) {
    const LaImages images = source.images(pair, train, test);
    const TaskKernel kernel =
        options.methods.empty() ? TaskKernel{} : la_kernel(setting, images, pair.first + "-" + pair.second, grams);
    tasks.push_back(la_task(setting, pair.name(), images, kernel, options));
    tasks.back().seconds = kernel.seconds;
  }
  return la_outcome(setting, tasks, published_table1(), "Pairs of classes",
                    table1_words(train, test, options, setting.precision));
}

}  // namespace

Experiment lantk_table1() {
  return {.name = "lantk-table1",
          .summary = "Label-aware kernels, their NTK and a CNN on pairs of classes of CIFAR-10",
          .work = "Chen, He and Su 2020, Label-Aware Neural Tangent Kernel, Table 1",
          .options =
              la_options({{"pairs", "A/B,…", "Pairs of classes", "deer/dog,cat/deer,cat/frog,deer/frog,bird/frog", ""},
                          {"train", "N", "Training images of a pair", "1000", "10000"},
                          {"test", "N", "Test images of a pair", "2000", ""}},
                         published_cnn1),
          .precision = Precision::f32,
          .run = run_table1};
}

}  // namespace widelimit::experiment
