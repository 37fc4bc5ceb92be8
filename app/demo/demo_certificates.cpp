#include "app/demo/demo_certificates.hpp"

#include "app/certify/certify_page.hpp"
#include "app/shell/interrupt.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/kernel/request.hpp"
#include "widelimit/machine/model.hpp"

#include <fmt/format.h>

namespace widelimit::app {

namespace {

constexpr const char* demo_certified_network = "fc:1(w_std=1.4142)";
constexpr double brightest_digit = 16;
constexpr Index demo_certified_images = 36;

/// Pixels in [0, 1] whatever the images hold, so that the box is that of all images.
TrainTest pixel_digits(std::uint64_t seed) {
  DataRequest request{.train = "digits"};
  request.classes = {"3", "8"};
  request.shuffle = seed;
  request.split = 0.8;
  request.test_limit = demo_certified_images;
  TrainTest data = load_train_test(request);
  const auto features = static_cast<std::size_t>(data.train.shape.size());
  const Scaler pixels(Scaling::minmax, std::vector<double>(features, 0.0),
                      std::vector<double>(features, brightest_digit));
  pixels.apply(data.train);
  pixels.apply(*data.test);
  return data;
}

Model demo_model(const TrainTest& data, const Engine& engine) {
  KernelRequest wanted{.kernel = Network::parse(demo_certified_network)};
  wanted.kind = Kind::ntk;
  const KernelAnswer answer = compute_kernel(wanted, data.train, std::nullopt, engine);
  const MachineOptions machine{.machine = Machine::ridge, .lambda = 1};
  const Trained trained =
      train_classes({view_of(answer.matrices.front().values), engine}, data.train.labels, 2, machine);
  if (!trained.fit.summary.converged()) fail(Code::numerical, "ridge on digits: {}", trained.fit.summary.message);
  return fitted_model(wanted.kernel, data.train, trained, machine.lambda);
}

}  // namespace

CertificateShow show_certificates(const CommonOptions& options, const Engine& engine) {
  stop_if_interrupted();
  ProgressBar bar(options);
  const TrainTest data = pixel_digits(options.seed);
  const Model model = demo_model(data, engine);
  CertifyOptions how;
  how.box = Box{};
  how.attack = AttackOptions{.seed = options.seed};
  how.keep_attacked = true;
  how.threads = options.threads;
  how.progress = &bar;
  const Dataset& test = *data.test;
  CertificateShow show{
      .certified = certify_by(certificate_methods(model), how,
                              [&](const CertifyOptions& own) { return certify(model, test.view(), test.labels, own); }),
      .train = data.train.count()};
  show.table = certified_table(show.certified, round_radii(show.certified.best(), 2));
  const Matrix<double> said = predict_decisions(model, {show.certified.best().attacked.view(), test.shape}, engine);
  const std::vector<Index> attacked_as = classes_of(model.scheme, 2, said.view());
  show.weakest = weakest_pictures({.title = {},
                                   .certified = show.certified,
                                   .table = show.table,
                                   .data = test,
                                   .names = model.classes,
                                   .labels = test.labels,
                                   .attacked_as = attacked_as,
                                   .box = how.box},
                                  weakest(show.certified.best(), 9));
  return show;
}

void add_certificate_section(Page& page, const CertificateShow& show) {
  const CertificateStatistics told = statistics(show.certified.best());
  page.section("Certificates").table(show.table);
  page.paragraph(fmt::format(
      "Ridge regression on the tangent kernel of one hidden layer tells 3 from 8; it learned from {} images and is "
      "right on {} of {} others. A certificate is a proof that no image within a distance, every pixel changed by that "
      "much at most and kept in [0, 1], is told otherwise; the attack is the nearest such image found. The published "
      "method (paper) proves little, the bound of second order (convex) most of what is true.",
      show.train, told.correct, told.samples));
  add_radius_figures(page, show.certified);
  if (show.weakest) page.figure(*show.weakest);
}

}  // namespace widelimit::app
