#include "experiments/experiments.hpp"

#include "experiments/la_table.hpp"
#include "widelimit/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace widelimit::experiment {

namespace {

constexpr std::array<const char*, 4> published_sizes{"2000", "5000", "10000", "20000"};

struct PublishedLine {
  const char* name;
  std::array<std::optional<double>, 4> percent;
};
constexpr PublishedLine table_2[]{
    {"CNTK", {44.01, 50.44, 55.18, 60.12}},    {"best", {46.31, 52.66, 56.96, 61.58}},
    {"KR-V1", {44.49, 51.39, 55.74, 60.87}},   {"KR-V2", {44.64, 51.38, 55.89, 60.87}},
    {"FJLT-V1", {46.31, 52.66, 56.96, 61.58}}, {"FJLT-V2", {45.72, 52.50, 56.26, std::nullopt}},  // failed for memory
    {"CNN", {45.30, 52.70, 60.23, 68.15}}};

std::optional<double> published(const std::string& line, const std::string& task) {
  for (const PublishedLine& one : table_2) {
    if (line != one.name) continue;
    const auto* const found = std::find(published_sizes.begin(), published_sizes.end(), task);
    if (found != published_sizes.end()) return one.percent[usize(found - published_sizes.begin())];
  }
  return std::nullopt;
}

std::string protocol_words(Index test, double ratio, const CnnOptions& cnn, Precision precision) {
  std::string words = fmt::format(
      "Ten classes, the first images of each, (byte/255 − 0.5)/0.5; {} test images, published 10,000. Kernel of the "
      "eight-layer network (`lantk_cnn8`), in {}; ridgeless regression on 0 and 1, the class of the largest output; "
      "the "
      "label-aware part estimates whether two images are of one class; ratio {:g}. \"best\" is the best of KR and FJLT "
      "at each size, chosen by test accuracy, as published: optimistic. The published FJLT-V2 failed for memory at "
      "20,000 images. linear1 and linear2 are the exact regressions that FJLT-V1 and FJLT-V2 sketch.",
      test, precision == Precision::f32 ? "float32" : "float64", ratio);
  if (cnn.epochs > 0) {
    words += fmt::format(
        " CNN: channels {}, {} epochs of Adam (rate 3·10⁻⁴, batches of 128) on the cross-entropy, PyTorch's "
        "initialisation; published: 16,128,128,256,256,512,512, 50 epochs.",
        fmt::join(cnn.channels, ","), cnn.epochs);
  }
  return words;
}

AnyView corner(const AnyMatrix& matrix, Index rows, Index cols) {
  return std::visit([&](const auto& m) { return AnyView(m.view().block(0, 0, rows, cols)); }, matrix);
}

Outcome run_table2(const Setting& setting) {
  std::vector<Index> sizes = setting.counts("train", 20);
  std::sort(sizes.begin(), sizes.end());
  const Index test = setting.count("test", 10);
  const double ratio = setting.positive("ratio");
  const CnnOptions cnn = asked_cnn(setting, LossKind::softmax);
  const auto grams = gram_folder(setting);
  const LaSource source(setting);
  // Classes take turns, so that the kernel of fewer images is a corner of that of more.
  const LaImages largest = source.images(std::vector<std::string>{}, sizes.back(), test);
  for (const Index size : sizes) (void)source.images(std::vector<std::string>{}, size, test);
  const TaskKernel kernel = la_kernel(setting, largest, "ten-classes", grams);
  std::vector<LaTask> tasks;
  for (const Index size : sizes) {
    const LaImages images = source.images(std::vector<std::string>{}, size, test);
    tasks.push_back(la_task(setting, fmt::format("{}", size), images, corner(kernel.k, size, size),
                            corner(kernel.k_test, test, size), ratio, cnn));
  }
  tasks.back().seconds = kernel.seconds;
  return la_outcome(setting, tasks, published, "Ten classes, by training images",
                    protocol_words(test, ratio, cnn, setting.precision));
}

}  // namespace

Experiment lantk_table2() {
  return {
      .name = "lantk-table2",
      .summary = "Label-aware kernels, their tangent kernel and a CNN on CIFAR-10, by training images",
      .work = "Chen, He and Su 2020, Label-Aware Neural Tangent Kernel, Table 2",
      .options = {{"train", "N,…", "Training images", "500,1000", "2000,5000,10000,20000"},
                  {"test", "N", "Test images", "2000", "10000"},
                  {"ratio", "R", "Mean size of the label-aware part beside the kernel", "0.0005", ""},
                  {"channels", "C1,…,C7", "Channels of the CNN", "8,16,16,32,32,64,64", "16,128,128,256,256,512,512"},
                  {"epochs", "N", "Epochs of the CNN; 0: no CNN", "10", "50"},
                  {"grams", "DIR", "The Gram matrix goes there tile by tile; what is there is not computed again", "",
                   ""}},
      .precision = Precision::f32,
      .run = run_table2};
}

}  // namespace widelimit::experiment
