#include "experiments/experiments.hpp"

#include "experiments/cntk_machines.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/report/drawing/pictures.hpp"
#include "widelimit/report/fit_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

enum class Readout : std::uint8_t { vanilla, pooled };

/// Test accuracies of Arora et al. (2019), Table 1, in percent: kernel regression with CNTK-V and CNTK-GAP, trained on
/// 2,000 and on all images.
struct PublishedDepth {
  Index depth;
  double vanilla_2000, pooled_2000, vanilla_50000, pooled_50000;

  [[nodiscard]] std::optional<double> accuracy(Readout readout, Index images) const {
    if (images == 2000) return readout == Readout::vanilla ? vanilla_2000 : pooled_2000;
    if (images == 50000) return readout == Readout::vanilla ? vanilla_50000 : pooled_50000;
    return std::nullopt;
  }
};
constexpr PublishedDepth published_depths[]{{3, 40.94, 49.71, 64.47, 70.47},
                                            {4, 42.54, 51.06, 65.52, 75.93},
                                            {6, 43.43, 51.73, 66.03, 76.73},
                                            {11, 43.42, 51.92, 65.90, 77.43},
                                            {21, 42.53, 52.22, 64.09, 77.08}};

std::optional<double> published(Readout readout, Index depth, Index images) {
  const auto* found = std::find_if(std::begin(published_depths), std::end(published_depths),
                                   [&](const PublishedDepth& line) { return line.depth == depth; });
  return found == std::end(published_depths) ? std::nullopt : found->accuracy(readout, images);
}

/// A depth of D has D − 1 convolutions and the readout. With pooling the work freezes the first and the last layer.
Network cntk(Readout readout, Index depth) {
  return Network::parse(
      fmt::format("cntk:{}({})", depth - 1, readout == Readout::vanilla ? "readout=flatten" : "frozen_ends=true"));
}

/// The options, all understood before any work.
struct CntkChoice {
  Index train = 0, test = 0;
  std::vector<Index> depths;
  Index pooled_train = 0, pooled_test = 0;
  std::vector<Index> pooled_depths;
  std::vector<std::pair<std::string, Network>> further;  ///< as asked for
  std::optional<std::filesystem::path> grams;
};

std::vector<std::pair<std::string, Network>> parsed_networks(const std::string& text) {
  std::vector<std::pair<std::string, Network>> networks;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    networks.emplace_back(one, Network::parse(one));
    begin = end + 1;
  }
  return networks;
}

CntkChoice choice_of(const Setting& setting) {
  // Two images of each class, so that folds and leaving one out have some of every class.
  CntkChoice choice{.train = setting.count("train", 20),
                    .test = setting.count("test", 1),
                    .depths = setting.counts("depths", 2),
                    .pooled_train = setting.count("pooled-train", 20),
                    .pooled_test = setting.count("pooled-test", 1),
                    .pooled_depths = setting.counts("pooled-depths", 3),
                    .further = parsed_networks(setting.text("further")),
                    .grams = std::nullopt};
  if (choice.pooled_train > choice.train || choice.pooled_test > choice.test) {
    fail(Code::usage, "--pooled-train {} --pooled-test {}: at most the {} and {} images of --train and --test",
         choice.pooled_train, choice.pooled_test, choice.train, choice.test);
  }
  if (const std::string& folder = setting.text("grams"); !folder.empty()) {
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) fail(Code::resource, "the folder '{}' cannot be made: {}", folder, failure.message());
    choice.grams = folder;
  }
  return choice;
}

/// A line of the tables: the machines of one kernel on so many images.
struct CntkRow {
  std::string kernel;
  std::optional<Readout> readout;  ///< of a CNTK
  Index depth = 0;                 ///< of a CNTK
  Index train = 0, test = 0;
  CntkMachines machines;
  double seconds = 0;  ///< of its kernel; 0 where it is part of another's

  [[nodiscard]] std::optional<double> published_percent() const {
    return readout ? published(*readout, depth, train) : std::nullopt;
  }
  [[nodiscard]] double percent() const { return 100 * machines.regression.score.accuracy(); }
};

/// Computes kernels and fits their machines.
class CntkRun {
 public:
  CntkRun(const Setting& setting, const CntkChoice& choice)
      : setting_(setting), choice_(choice), images_(cifar_images(setting, choice.train, choice.test)) {
    require_images("train", choice.train, images_.train.count());
    require_images("test", choice.test, images_.test.count());
  }

  void run() {
    for (const Index depth : choice_.depths) {
      const TaskKernel kernel =
          computed(cntk(Readout::vanilla, depth), fmt::format("vanilla-{}", depth), choice_.train, choice_.test);
      vanilla_.push_back(row("vanilla", Readout::vanilla, depth, kernel, choice_.train, choice_.test));
      vanilla_.back().seconds = kernel.seconds;
      compared_.push_back(row("vanilla", Readout::vanilla, depth, kernel, choice_.pooled_train, choice_.pooled_test));
    }
    for (const Index depth : choice_.pooled_depths) {
      add_pooled("pooled", Readout::pooled, depth, cntk(Readout::pooled, depth), fmt::format("pooled-{}", depth));
    }
    for (std::size_t i = 0; i < choice_.further.size(); ++i) {
      const auto& [text, network] = choice_.further[i];
      add_pooled(text, std::nullopt, 0, network, fmt::format("further-{}", i + 1));
    }
  }

  [[nodiscard]] const CifarImages& images() const { return images_; }
  [[nodiscard]] const std::vector<CntkRow>& vanilla() const { return vanilla_; }
  /// All kernels on the images of the pooled ones.
  [[nodiscard]] const std::vector<CntkRow>& compared() const { return compared_; }

 private:
  static void require_images(const char* option, Index asked, Index there) {
    if (asked > there) fail(Code::usage, "--{} {}: there are {} images", option, asked, there);
  }
  TaskKernel computed(const Network& network, const std::string& name, Index train, Index test) const {
    std::optional<std::filesystem::path> file;
    if (choice_.grams) {
      file = *choice_.grams / fmt::format("{}-{}-{}-{}.h5", name, train, test, to_string(setting_.precision));
    }
    return task_kernel(setting_, network, images_.train.view().part(0, train), images_.test.view().part(0, test), file);
  }
  CntkRow row(const std::string& name, std::optional<Readout> readout, Index depth, const TaskKernel& kernel,
              Index train, Index test) const {
    stop_if_asked(setting_.progress);
    return {.kernel = name,
            .readout = readout,
            .depth = depth,
            .train = train,
            .test = test,
            .machines = cntk_machines(setting_, images_, kernel, train, test)};
  }
  void add_pooled(const std::string& name, std::optional<Readout> readout, Index depth, const Network& network,
                  const std::string& file) {
    const TaskKernel kernel = computed(network, file, choice_.pooled_train, choice_.pooled_test);
    compared_.push_back(row(name, readout, depth, kernel, choice_.pooled_train, choice_.pooled_test));
    compared_.back().seconds = kernel.seconds;
  }

  const Setting& setting_;
  const CntkChoice& choice_;
  CifarImages images_;
  std::vector<CntkRow> vanilla_;
  std::vector<CntkRow> compared_;
};

std::string accuracy_text(const ToldImages& told) {
  if (!told.answered()) return text(told.summary.ending);
  return fmt::format("{:.2f} ± {:.2f}", 100 * told.score.accuracy(), 100 * told.standard_error());
}

std::string lambda_text(const ToldImages& told) { return fmt::format("{:.2g}", told.lambda); }

/// Ours minus theirs, in standard errors of ours.
std::optional<double> difference(const CntkRow& row) {
  const auto theirs = row.published_percent();
  if (!theirs || !row.machines.regression.answered()) return std::nullopt;
  return (row.percent() - *theirs) / (100 * row.machines.regression.standard_error());
}

Table table_of(const std::vector<CntkRow>& rows) {
  Table table{.columns = {"kernel", "depth", "regression %", "published %", "difference", "ridge %", "λ", "SVM %", "λ",
                          "condition", "kernel s"}};
  for (const CntkRow& row : rows) {
    const CntkMachines& m = row.machines;
    const auto theirs = row.published_percent();
    const auto off = difference(row);
    const auto condition = m.regression.summary.condition;
    table.rows.push_back({row.kernel, row.depth > 0 ? Cell(row.depth) : Cell(), accuracy_text(m.regression),
                          theirs ? fmt::format("{:.2f}", *theirs) : "–", off ? fmt::format("{:+.1f}", *off) : "–",
                          accuracy_text(m.ridge), lambda_text(m.ridge), accuracy_text(m.svm), lambda_text(m.svm),
                          condition ? fmt::format("{:.1e}", *condition) : "–",
                          row.seconds > 0 ? fmt::format("{:.3g}", row.seconds) : "–"});
  }
  return table;
}

Json told_json(const ToldImages& told) {
  Json json{{"lambda", told.lambda}};
  if (told.answered()) {
    json["accuracy"] = told.score.accuracy();
    json["standard_error"] = told.standard_error();
    json["correct"] = told.score.correct;
  }
  json["summary"] = summary_json(told.summary);
  return json;
}

Json rows_json(const std::vector<CntkRow>& rows) {
  Json json = Json::array();
  for (const CntkRow& row : rows) {
    Json entry{{"kernel", row.kernel}};
    if (row.depth > 0) entry["depth"] = row.depth;
    entry.update({{"train", row.train},
                  {"test", row.test},
                  {"regression", told_json(row.machines.regression)},
                  {"ridge", told_json(row.machines.ridge)},
                  {"svm", told_json(row.machines.svm)},
                  {"kernel_seconds", row.seconds}});
    if (const auto theirs = row.published_percent()) entry["published"] = *theirs / 100;
    json.push_back(std::move(entry));
  }
  return json;
}

/// Regression by depth, ours at both sizes and the published ones for 2,000 images.
Illustration accuracy_by_depth(const std::vector<CntkRow>& vanilla, const std::vector<CntkRow>& compared) {
  std::vector<Series> series;
  const auto add = [&](const std::vector<CntkRow>& rows, Readout readout, const std::string& name) {
    Series line{.name = name};
    for (const CntkRow& row : rows) {
      if (row.readout != readout || !row.machines.regression.answered()) continue;
      if (line.x.empty()) line.name = fmt::format("{}, {} images", name, row.train);
      line.x.push_back(static_cast<double>(row.depth));
      line.y.push_back(row.percent());
    }
    if (!line.x.empty()) series.push_back(std::move(line));
  };
  add(vanilla, Readout::vanilla, "vanilla");
  if (compared.front().train != vanilla.front().train || compared.front().test != vanilla.front().test) {
    add(compared, Readout::vanilla, "vanilla");
  }
  add(compared, Readout::pooled, "pooled");
  for (const Readout readout : {Readout::vanilla, Readout::pooled}) {
    Series line{.name = readout == Readout::vanilla ? "vanilla, published, 2000" : "pooled, published, 2000"};
    for (const PublishedDepth& one : published_depths) {
      line.x.push_back(static_cast<double>(one.depth));
      line.y.push_back(*one.accuracy(readout, 2000));
    }
    series.push_back(std::move(line));
  }
  Illustration shown;
  shown.figure = curves(series, {.title = "Accuracy by depth",
                                 .x_label = "depth",
                                 .y_label = "test accuracy, percent",
                                 .x_scale = AxisScale::log});
  shown.caption = "Ridgeless kernel regression. A depth of D has D − 1 convolutions and the readout.";
  return shown;
}

constexpr std::size_t hardest_shown = 12;

/// Test images that regression is wrong about, the most negative margin first.
std::vector<Index> hardest(const ToldImages& told) {
  std::vector<Index> order;
  for (Index i = 0; i < std::ssize(told.score.margins); ++i) {
    if (told.score.margins[usize(i)] < 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return told.score.margins[usize(a)] < told.score.margins[usize(b)]; });
  order.resize(std::min(order.size(), hardest_shown));
  return order;
}

/// The first of those with the best accuracy; null where none has an answer.
const CntkRow* best_of(const std::vector<CntkRow>& rows, Readout readout) {
  const CntkRow* best = nullptr;
  for (const CntkRow& row : rows) {
    if (row.readout != readout) continue;
    if (row.machines.regression.answered() && (best == nullptr || row.percent() > best->percent())) best = &row;
  }
  return best;
}

/// How many kernels of the same images and readout are wrong about an image.
std::string wrong_of(const std::vector<CntkRow>& rows, const CntkRow& like, Index image, Index label) {
  Index wrong = 0;
  Index all = 0;
  for (const CntkRow& row : rows) {
    if (row.readout != like.readout || !row.machines.regression.answered()) continue;
    ++all;
    wrong += row.machines.regression.told[usize(image)] != label ? 1 : 0;
  }
  return fmt::format("{} of {}", wrong, all);
}

Part hardest_part(const Setting& setting, const CntkRun& run, Json& json) {
  Part part{.heading = "The hardest test images",
            .table = {.columns = {"kernel", "image", "class", "taken for", "margin", "wrong depths"}}};
  const CifarImages& images = run.images();
  json = Json::array();
  for (const auto& [rows, readout] :
       {std::pair(&run.vanilla(), Readout::vanilla), std::pair(&run.compared(), Readout::pooled)}) {
    const CntkRow* best = best_of(*rows, readout);
    if (best == nullptr) continue;
    const ToldImages& told = best->machines.regression;
    const std::string kernel = fmt::format("{}, depth {}", best->kernel, best->depth);
    std::vector<Pictured> sheet;
    for (const Index image : hardest(told)) {
      const Index label = images.test.labels[usize(image)];
      const std::string& name = images.train.class_names[usize(label)];
      const std::string& taken = images.train.class_names[usize(told.told[usize(image)])];
      const double margin = told.score.margins[usize(image)];
      part.table.rows.push_back(
          {kernel, image, name, taken, fmt::format("{:.3f}", margin), wrong_of(*rows, *best, image, label)});
      json.push_back({{"kernel", best->kernel},
                      {"depth", best->depth},
                      {"image", image},
                      {"class", name},
                      {"taken_for", taken},
                      {"margin", margin}});
      if (setting.figures) sheet.push_back({fmt::format("{}: {}", name, taken), {images.picture(image)}});
    }
    if (!setting.figures) continue;
    Illustration shown;
    shown.figure = picture_sheet(sheet, images.test.shape, 0, 255, fmt::format("Hardest for {}", kernel));
    shown.caption =
        fmt::format("True class and the class that it is taken for, of {} test images by {} training images.",
                    best->test, best->train);
    part.pictures.push_back(std::move(shown));
  }
  part.words =
      "Smallest output of the true class less the largest of another, by ridgeless regression with the depth that is "
      "most accurate; images count from 0. Wrong depths: how many of the kernels of this readout are wrong about it.";
  return part;
}

/// The JPEG version of the images takes the classes in turn; the original ones are in random order.
std::string source_words(const Dataset& train) {
  for (Index i = 0; i < train.count(); ++i) {
    if (train.labels[usize(i)] != i % std::ssize(train.class_names)) return "in the order of the original files";
  }
  return "of the version that was stored as JPEG, which loses some detail, the same number of each class";
}

std::string protocol_words(const CntkRun& run, const CntkChoice& choice, Precision precision) {
  return fmt::format(
      "The first {} training and {} test images {}. Each channel is standardised on the training images. 3×3 filters, "
      "w_std = √2, no bias, mean over equal positions, all layers trained. Regression has λ = 0 and targets 0.9 and "
      "−0.1, as published; ridge has the same targets and the λ of the least leave-one-out error, SVM (one-vs-one) "
      "that "
      "of the least error of five folds, both among 10⁻⁶ … 10 times the mean of the diagonal, on at most 2,000 images. "
      "± is the binomial standard error on the test images; difference: ours less the published accuracy, in these "
      "standard errors. It does not count the choice of training images: the work does not say which 2,000 it took. "
      "Kernels in {}; published: float32.",
      choice.train, choice.test, source_words(run.images().train), precision == Precision::f32 ? "float32" : "float64");
}

std::string pooled_words(const CntkChoice& choice) {
  return fmt::format(
      "The first {} training and {} test images, for all kernels alike. Pooled: global average pooling, first and last "
      "layer frozen, as published; its published accuracies are for 2,000 and 50,000 training images, so that they "
      "stand "
      "here only at these sizes. All pairs of positions of two images take some milliseconds of a processor, more than "
      "a "
      "hundred times as long as equal positions.",
      choice.pooled_train, choice.pooled_test);
}

std::string sentence(const CntkRun& run) {
  std::string words = fmt::format("CIFAR-10, ridgeless regression, {} training images:", run.vanilla().front().train);
  double farthest = 0;
  Index compared = 0;
  for (const CntkRow& row : run.vanilla()) {
    if (!row.machines.regression.answered()) continue;
    words += fmt::format(" vanilla depth {} {:.2f} %,", row.depth, row.percent());
    if (const auto theirs = row.published_percent()) {
      ++compared;
      farthest = std::max(farthest, std::abs(row.percent() - *theirs));
    }
  }
  words.back() = ';';
  if (compared > 0) words += fmt::format(" within {:.2f} points of the {} published accuracies;", farthest, compared);
  if (const CntkRow* best = best_of(run.compared(), Readout::pooled)) {
    words += fmt::format(" pooled depth {} {:.2f} % with {};", best->depth, best->percent(), best->train);
  }
  words.back() = '.';
  return words;
}

/// The first machine without a solution.
std::string trouble(const std::vector<CntkRow>& rows) {
  for (const CntkRow& row : rows) {
    for (const auto& [name, told] : {std::pair("regression", &row.machines.regression),
                                     std::pair("ridge", &row.machines.ridge), std::pair("SVM", &row.machines.svm)}) {
      if (told->summary.converged()) continue;
      return fmt::format("{}, depth {}, {}: {}: {}", row.kernel, row.depth, name, text(told->summary.ending),
                         told->summary.message);
    }
  }
  return "";
}

Outcome run_cntk(const Setting& setting) {
  const CntkChoice choice = choice_of(setting);
  CntkRun run(setting, choice);
  run.run();
  Outcome outcome;
  Part vanilla{.heading = fmt::format("Vanilla kernels, {} training images", choice.train),
               .table = table_of(run.vanilla()),
               .words = protocol_words(run, choice, setting.precision)};
  if (setting.figures) vanilla.pictures.push_back(accuracy_by_depth(run.vanilla(), run.compared()));
  outcome.parts.push_back(std::move(vanilla));
  outcome.parts.push_back({.heading = fmt::format("Pooled kernels, {} training images", choice.pooled_train),
                           .table = table_of(run.compared()),
                           .words = pooled_words(choice)});
  Json hard;
  outcome.parts.push_back(hardest_part(setting, run, hard));
  outcome.results["vanilla"] = rows_json(run.vanilla());
  outcome.results["compared"] = rows_json(run.compared());
  outcome.results["hardest"] = std::move(hard);
  for (const auto* rows : {&run.vanilla(), &run.compared()}) {
    for (const CntkRow& row : *rows) {
      if (row.seconds == 0) continue;
      outcome.timings.emplace_back(row.depth > 0 ? fmt::format("{} {}", row.kernel, row.depth) : row.kernel,
                                   row.seconds);
    }
    if (outcome.trouble.empty()) outcome.trouble = trouble(*rows);
  }
  outcome.sentence = sentence(run);
  return outcome;
}

}  // namespace

Experiment cntk_cifar10() {
  return {
      .name = "cntk-cifar10",
      .summary = "Kernel regression, ridge and SVM on convolutional tangent kernels of CIFAR-10, by depth",
      .work = "Arora et al. 2019, On Exact Computation with an Infinitely Wide Neural Net, Table 1",
      .options = {{"train", "N", "Training images of the vanilla kernels", "2000", ""},
                  {"test", "N", "Test images of the vanilla kernels", "10000", ""},
                  {"depths", "D,…", "Depths of the vanilla kernels: convolutions and one more", "3,4,6,11",
                   "3,4,6,11,21"},
                  {"pooled-train", "N", "Training images of kernels that pool", "100", "2000"},
                  {"pooled-test", "N", "Test images of kernels that pool", "100", "10000"},
                  {"pooled-depths", "D,…", "Depths of the pooled kernels", "3,4,6", "3,4,6,11,21"},
                  {"further", "NET;…", "Further networks on the images of the pooled kernels", "lenet5;myrtle5",
                   "lenet5;myrtle5;myrtle7;myrtle10"},
                  {"grams", "DIR", "Gram matrices go there tile by tile; what is there is not computed again", "", ""}},
      .precision = Precision::f32,
      .run = run_cntk};
}

}  // namespace widelimit::experiment
