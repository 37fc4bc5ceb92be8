#include "experiments/kernels/cntk_rows.hpp"

#include "experiments/tasks/task_kernel.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/machine/ridge/ridge.hpp"
#include "widelimit/machine/ridge/ridge_path.hpp"
#include "widelimit/machine/tune.hpp"
#include "widelimit/report/csv.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace widelimit::experiment {

namespace {

constexpr PublishedDepth table_1[]{{3, 40.94, 49.71, 64.47, 70.47},
                                   {4, 42.54, 51.06, 65.52, 75.93},
                                   {6, 43.43, 51.73, 66.03, 76.73},
                                   {11, 43.42, 51.92, 65.90, 77.43},
                                   {21, 42.53, 52.22, 64.09, 77.08}};

/// Returns the network of depth D, with D − 1 convolutions and the readout. With pooling the first and the last layer
/// are frozen, as in the work.
Network cntk(Readout readout, Index depth) {
  return Network::parse(
      fmt::format("cntk:{}({})", depth - 1, readout == Readout::vanilla ? "readout=flatten" : "frozen_ends=true"));
}

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

/// Returns all rows as numbers; a machine without a solution has empty cells.
Table cells_of(const CntkRows& rows) {
  Table table{.columns = {"kernel", "depth", "train", "test", "kernel s", "condition", "published %"}};
  for (const char* machine : {"regression", "ridge", "SVM"}) {
    for (const char* what : {"lambda", "%", "standard error %"}) {
      table.columns.push_back(fmt::format("{} {}", machine, what));
    }
  }
  const auto number = [](std::optional<double> value) { return value ? Cell(*value) : Cell(); };
  for (const auto* some : {&rows.vanilla, &rows.compared}) {
    for (const CntkRow& row : *some) {
      std::vector<Cell> cells{row.kernel, row.depth > 0 ? Cell(row.depth) : Cell(), row.train, row.test};
      // Rows on a subset of the images of another row have no separate time.
      cells.push_back(row.seconds > 0 ? Cell(row.seconds) : Cell());
      cells.push_back(number(row.machines.regression.summary.condition));
      cells.push_back(number(row.published_percent()));
      for (const ImagePredictions* predictions : {&row.machines.regression, &row.machines.ridge, &row.machines.svm}) {
        cells.emplace_back(predictions->lambda);
        const bool solved = predictions->solved();
        cells.push_back(solved ? Cell(100 * predictions->score.accuracy()) : Cell());
        cells.push_back(solved ? Cell(100 * predictions->standard_error()) : Cell());
      }
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

/// Images used to select λ; the reduction for a path costs eight times a factorisation.
constexpr Index choosing_images = 2000;

/// The first images of a kernel with their labels.
struct Task {
  GramMatrix k;
  AnyView k_test;
  std::span<const Index> labels;
  std::span<const Index> test_labels;
  Index classes;
};

ImagePredictions predict(const Setting& setting, const Task& task, Scheme scheme, const Fit& fit, double lambda) {
  const Matrix<double> g = decision(fit, task.k_test, setting.engine);
  ImagePredictions result = image_predictions(fit, scheme, task.classes, g.view(), task.test_labels);
  result.lambda = lambda;
  return result;
}

std::vector<double> lambda_grid(const GramMatrix& k) {
  std::vector<double> lambdas = logarithmic_grid(1e-6, 10, 15);
  for (double& lambda : lambdas) lambda *= k.mean_diagonal();
  return lambdas;
}

/// Returns the λ of minimal leave-one-out error; without a solution the largest, whose summary gives the reason.
double ridge_lambda(const Setting& setting, const GramMatrix& chosen, MatrixView<const double> targets) {
  const std::vector<double> lambdas = lambda_grid(chosen);
  const RidgePath path =
      ridge_path(chosen, targets.block(0, 0, chosen.samples(), targets.cols), lambdas, {.progress = setting.progress});
  return lambdas[usize(path.best_classifier().value_or(std::ssize(lambdas) - 1))];
}

double svm_lambda(const Setting& setting, const GramMatrix& chosen, const Task& task, const MachineOptions& machine) {
  const TuneOptions tuning{.machine = machine, .lambdas = lambda_grid(chosen), .seed = setting.seed};
  const auto points = tune_classes(chosen, task.labels.first(usize(chosen.samples())), task.classes, tuning);
  return points[best_point(points).value_or(points.size() - 1)].lambda;
}

/// Returns the targets of Arora et al. 2019: 0.9 for the class of a sample, −0.1 for the others.
Matrix<double> cntk_targets(std::span<const Index> labels, Index classes) {
  Matrix<double> targets(std::ssize(labels), classes);
  for (Index i = 0; i < targets.rows(); ++i) {
    for (Index c = 0; c < classes; ++c) targets(i, c) = labels[usize(i)] == c ? 0.9 : -0.1;
  }
  return targets;
}

/// Fits all three to the first `train` images and scores them on the first `test` images of a kernel, which may be
/// larger.
CntkMachines cntk_machines(const Setting& setting, const CifarImages& images, const TaskKernel& kernel, Index train,
                           Index test) {
  const Task task{.k = GramMatrix(corner(kernel.k, train, train), setting.engine),
                  .k_test = corner(kernel.k_test, test, train),
                  .labels = std::span(images.train.labels).first(usize(train)),
                  .test_labels = std::span(images.test.labels).first(usize(test)),
                  .classes = images.classes()};
  const Index few = std::min(choosing_images, train);
  const GramMatrix chosen(corner(kernel.k, few, few), setting.engine);
  const Matrix<double> targets = cntk_targets(task.labels, task.classes);
  CntkMachines result;
  result.regression = predict(setting, task, Scheme::one_hot,
                              fit_regression(task.k, targets.view(), RidgeOptions{.progress = setting.progress}), 0);
  const double ridge = ridge_lambda(setting, chosen, targets.view());
  result.ridge =
      predict(setting, task, Scheme::one_hot,
              fit_ridge(task.k, targets.view(), RidgeOptions{.lambda = ridge, .progress = setting.progress}), ridge);
  // Kernels of ReLU networks are positive semi-definite by construction.
  MachineOptions svm{.machine = Machine::svm, .check_definite = false, .progress = setting.progress};
  svm.lambda = svm_lambda(setting, chosen, task, svm);
  const FittedMachine fitted = train_classes(task.k, task.labels, task.classes, svm);
  result.svm = predict(setting, task, fitted.scheme, fitted.fit, svm.lambda);
  return result;
}

/// Computes kernels and adds the rows of their machines.
class RowBuilder {
 public:
  RowBuilder(const Setting& setting, const CntkChoice& choice, CntkRows& rows)
      : setting_(setting), choice_(choice), rows_(rows) {}

  void vanilla(Index depth) {
    const Index train = choice_.train;
    const Index test = choice_.test;
    const TaskKernel kernel = computed(cntk(Readout::vanilla, depth), fmt::format("vanilla-{}", depth), train, test);
    rows_.vanilla.push_back(row("vanilla", Readout::vanilla, depth, kernel, train, test));
    rows_.vanilla.back().seconds = kernel.seconds;
    rows_.compared.push_back(
        row("vanilla", Readout::vanilla, depth, kernel, choice_.pooled_train, choice_.pooled_test));
    save();
  }
  void pooled(Index depth) {
    add("pooled", Readout::pooled, depth, cntk(Readout::pooled, depth), fmt::format("pooled-{}", depth));
  }
  void further(std::size_t i) {
    const auto& [text, network] = choice_.further[i];
    add(text, std::nullopt, 0, network, fmt::format("further-{}", i + 1));
  }

 private:
  [[nodiscard]] TaskKernel computed(const Network& network, const std::string& name, Index train, Index test) const {
    return task_kernel(setting_, network, rows_.images.train.view().part(0, train),
                       rows_.images.test.view().part(0, test),
                       gram_file(choice_.grams, name, train, test, setting_.precision));
  }
  [[nodiscard]] CntkRow row(const std::string& name, std::optional<Readout> readout, Index depth,
                            const TaskKernel& kernel, Index train, Index test) const {
    stop_if_requested(setting_.progress);
    return {.kernel = name,
            .readout = readout,
            .depth = depth,
            .train = train,
            .test = test,
            .machines = cntk_machines(setting_, rows_.images, kernel, train, test)};
  }
  void add(const std::string& name, std::optional<Readout> readout, Index depth, const Network& network,
           const std::string& file) {
    const TaskKernel kernel = computed(network, file, choice_.pooled_train, choice_.pooled_test);
    rows_.compared.push_back(row(name, readout, depth, kernel, choice_.pooled_train, choice_.pooled_test));
    rows_.compared.back().seconds = kernel.seconds;
    save();
  }
  void save() const {
    if (!choice_.csv.empty()) write_csv(cells_of(rows_), choice_.csv);
  }

  const Setting& setting_;
  const CntkChoice& choice_;
  CntkRows& rows_;
};

void require_images(const char* option, Index requested, Index available) {
  if (requested > available) fail(Code::usage, "--{} {}: there are only {} images", option, requested, available);
}

}  // namespace

std::optional<double> PublishedDepth::accuracy(Readout readout, Index images) const {
  if (images == 2000) return readout == Readout::vanilla ? vanilla_2000 : pooled_2000;
  if (images == 50000) return readout == Readout::vanilla ? vanilla_50000 : pooled_50000;
  return std::nullopt;
}

std::span<const PublishedDepth> published_depths() { return table_1; }

CntkChoice::CntkChoice(const Setting& setting)
    // At least two images per class, for cross-validation and leave-one-out.
    : train(setting.count("train", 20)),
      test(setting.count("test", 1)),
      depths(setting.counts("depths", 2)),
      pooled_train(setting.count("pooled-train", 20)),
      pooled_test(setting.count("pooled-test", 1)),
      pooled_depths(setting.counts("pooled-depths", 3)),
      further(parsed_networks(setting.text("further"))) {
  if (pooled_train > train || pooled_test > test) {
    fail(Code::usage, "--pooled-train {} --pooled-test {}: at most the {} and {} images of --train and --test",
         pooled_train, pooled_test, train, test);
  }
  grams = gram_folder(setting);
  csv = setting.text("csv");
}

std::optional<double> CntkRow::published_percent() const {
  const auto* found = std::find_if(std::begin(table_1), std::end(table_1),
                                   [&](const PublishedDepth& line) { return line.depth == depth; });
  return readout && found != std::end(table_1) ? found->accuracy(*readout, train) : std::nullopt;
}

CntkRows cntk_rows(const Setting& setting, const CntkChoice& choice) {
  CntkRows rows{.images = cifar_images(setting, choice.train, choice.test), .vanilla = {}, .compared = {}};
  require_images("train", choice.train, rows.images.train.count());
  require_images("test", choice.test, rows.images.test.count());
  RowBuilder builder(setting, choice, rows);
  for (const Index depth : choice.depths) builder.vanilla(depth);
  for (const Index depth : choice.pooled_depths) builder.pooled(depth);
  for (std::size_t i = 0; i < choice.further.size(); ++i) builder.further(i);
  return rows;
}

}  // namespace widelimit::experiment
