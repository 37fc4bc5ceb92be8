#include "experiments/experiments.hpp"

#include "experiments/label_aware/la_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace widelimit::experiment {

namespace {

PublishedTable published_table2() {
  return {.tasks = {"2000", "5000", "10000", "20000"},
          .lines = {{"CNTK", {44.01, 50.44, 55.18, 60.12}},
                    {"best", {46.31, 52.66, 56.96, 61.58}},
                    {"KR-V1", {44.49, 51.39, 55.74, 60.87}},
                    {"KR-V2", {44.64, 51.38, 55.89, 60.87}},
                    {"FJLT-V1", {46.31, 52.66, 56.96, 61.58}},
                    {"FJLT-V2", {45.72, 52.50, 56.26, std::nullopt}},  // out of memory
                    {"CNN", {45.30, 52.70, 60.23, 68.15}}}};
}

constexpr PublishedCnn published_cnn2{"16,128,128,256,256,512,512", "50", "cross-entropy"};

std::string table2_words(Index test, const LaOptions& options, Precision precision) {
  return fmt::format(
             "Ten classes, the first images of each, (byte/255 − 0.5)/0.5; {} test images, published 10,000. Kernel of "
             "the eight-layer network (`lantk_cnn8`), in {}; ridgeless regression on one-hot targets; the label-aware "
             "part estimates whether two images have the same class; ratio {:g}. \"best\" is the best of KR and FJLT "
             "at each size, selected by test accuracy, as published, which is optimistic. The published FJLT-V2 ran "
             "out of memory at 20,000 images. ",
             test, precision == Precision::f32 ? "float32" : "float64", options.ratio) +
         la_remarks(options.cnn, published_cnn2);
}

Outcome run_table2(const Setting& setting) {
  std::vector<Index> sizes = setting.counts("train", 20);
  std::sort(sizes.begin(), sizes.end());
  const Index test = setting.count("test", 10);
  const LaOptions options = requested_la_options(setting, LossKind::softmax);
  const auto grams = gram_folder(setting);
  const LaSource source(setting);
  // Images cycle through the classes, so that the kernel of fewer images is a leading block of that of more.
  const LaImages largest = source.images(std::vector<std::string>{}, sizes.back(), test);
  for (const Index size : sizes) (void)source.images(std::vector<std::string>{}, size, test);
  const TaskKernel kernel = options.methods.empty() ? TaskKernel{} : la_kernel(setting, largest, "ten-classes", grams);
  std::vector<LaTask> tasks;
  for (const Index size : sizes) {
    const LaImages images = source.images(std::vector<std::string>{}, size, test);
    tasks.push_back(la_task(setting, fmt::format("{}", size), images, kernel, options));
  }
  tasks.back().seconds = kernel.seconds;
  return la_outcome(setting, tasks, published_table2(), "Ten classes, by training images",
                    table2_words(test, options, setting.precision));
}

}  // namespace

Experiment lantk_table2() {
  return {.name = "lantk-table2",
          .summary = "Label-aware kernels, their NTK and a CNN on CIFAR-10, by number of training images",
          .work = "Chen, He and Su 2020, Label-Aware Neural Tangent Kernel, Table 2",
          .options = la_options({{"train", "N,…", "Training images", "500,1000", "2000,5000,10000,20000"},
                                 {"test", "N", "Test images", "2000", "10000"}},
                                published_cnn2),
          .precision = Precision::f32,
          .run = run_table2};
}

}  // namespace widelimit::experiment
