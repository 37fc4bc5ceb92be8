#include "../data/fixture.hpp"
#include "tests/base/random_graphs.hpp"
#include "widelimit/data/hdf5/hdf5.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/machine/model_file.hpp"

namespace widelimit {
namespace {

using test::random_graphs;

Model graph_model(const Graphs& graphs) {
  Model model;
  model.kernel = Network::parse("gntk:3");
  model.machine = Machine::ridge;
  model.lambda = 0.1;
  Fit fit;
  fit.alpha = Matrix<double>(graphs.count(), 1);
  for (Index i = 0; i < graphs.count(); ++i) fit.alpha(i, 0) = i % 3 == 2 ? 0 : 0.1 * static_cast<double>(i + 1);
  fit.bias = {0.5};
  set_support(model, fit, SampleView(graphs));
  return model;
}

class GraphModel : public Folder {};

TEST_F(GraphModel, ComesBackWithItsGraphs) {
  for (const Index width : {Index{0}, Index{3}}) {
    const Graphs graphs = random_graphs(8, 9, 1, width);
    const Model model = graph_model(graphs);
    ASSERT_EQ(model.supports(), 6);
    save_model(path("m.h5"), model);
    const Model again = load_model(path("m.h5"));
    EXPECT_EQ(std::get<Graphs>(again.support), std::get<Graphs>(model.support));
    EXPECT_EQ(again.shape, graphs.shape());
    const Graphs test_graphs = random_graphs(5, 20, 2, width);
    const Matrix<double> g = predict_decisions(again, SampleView(test_graphs), *make_engine("cpu"));
    const Matrix<double> h = predict_decisions(model, SampleView(test_graphs), *make_engine("cpu"));
    EXPECT_TRUE(std::equal(g.data(), g.data() + g.rows(), h.data()));
    expect_error(Code::input, {"shape"},
                 [&] { (void)predict_decisions(again, SampleView(random_graphs(2, 5, 3, 7)), *make_engine("cpu")); });
  }
}

TEST_F(GraphModel, DamageIsFound) {
  save_model(path("m.h5"), graph_model(random_graphs(6, 9, 1)));
  ArrayFile file = read_hdf5_arrays(path("m.h5"));
  std::get<Matrix<double>>(file.arrays.at("support_neighbours").values)(0, 0) += 1;
  std::vector<NamedArray> arrays;
  for (const auto& entry : file.arrays) {
    std::visit([&](const auto& m) { arrays.push_back({entry.first, m.view(), {}}); }, entry.second.values);
  }
  write_hdf5(path("damaged.h5"), arrays, file.settings);
  expect_error(Code::input, {"checksum"}, [&] { (void)load_model(path("damaged.h5")); });
}

}  // namespace
}  // namespace widelimit
