#include "../data/fixture.hpp"
#include "tests/base/sparse_rows.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/data/hdf5/hdf5.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/machine/fit_data.hpp"
#include "widelimit/machine/model_file.hpp"

#include <nlohmann/json.hpp>

namespace widelimit {
namespace {

/// Ridge on sparse samples whose value is the sign of one feature.
Model sparse_model(const SparseMatrix& x, std::variant<Network, ClassicalKernel> kernel = Network::parse("fc:2")) {
  Model model;
  model.kernel = std::move(kernel);
  model.machine = Machine::ridge;
  model.lambda = 0.1;
  Fit fit;
  fit.alpha = Matrix<double>(x.rows(), 1);
  for (Index i = 0; i < x.rows(); ++i) fit.alpha(i, 0) = i % 3 == 2 ? 0 : 0.1 * static_cast<double>(i + 1);
  fit.bias = {0.5};
  set_support(model, fit, SampleView(x.view(), {1, 1, x.cols()}));
  return model;
}

class SparseModel : public Folder {};

TEST_F(SparseModel, ComesBackSparse) {
  const SparseMatrix x = text_rows(9, 100'000, 20, 1);
  const Model model = sparse_model(x);
  save_model(path("m.h5"), model);
  EXPECT_LT(std::filesystem::file_size(path("m.h5")), 100'000u);  // dense: 4.8 MB
  const Model again = load_model(path("m.h5"));
  const SampleView support_view = again.support_view();
  const SparseView* support = support_view.sparse();
  ASSERT_NE(support, nullptr);
  ASSERT_EQ(support->rows, 6);
  ASSERT_EQ(support->cols, 100'000);
  const SparseView expected = *model.support_view().sparse();
  for (Index i = 0; i < 6; ++i) {
    const auto a = support->row(i);
    const auto b = expected.row(i);
    EXPECT_TRUE(std::equal(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end()));
    EXPECT_TRUE(std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end()));
  }
  const SampleView all(x.view(), {1, 1, x.cols()});
  const Matrix<double> g = predict_decisions(again, all, *make_engine("cpu"));
  const Matrix<double> h = predict_decisions(model, all, *make_engine("cpu"));
  EXPECT_TRUE(std::equal(g.data(), g.data() + g.rows(), h.data()));
  // Format 2 only for sparse supports, so that older programs can still read all other models.
  const auto number = [&](const std::string& name) {
    return nlohmann::json::parse(read_hdf5_arrays(path(name)).settings)["format_number"].get<int>();
  };
  EXPECT_EQ(number("m.h5"), 2);
  Model dense = sparse_model(sparse_rows(9, 5, 0.5, 1));
  dense.support = dense_copy(*dense.support_view().sparse());
  save_model(path("d.h5"), dense);
  EXPECT_EQ(number("d.h5"), 1);
}

TEST_F(SparseModel, ScalingOfRowsTakesNoPlace) {
  Model model = sparse_model(text_rows(9, 100'000, 20, 1));
  const std::vector<double> zeros(100'000, 0.0);
  const std::vector<double> ones(100'000, 1.0);
  model.scaling.emplace(Scaling::unit, zeros, ones);
  save_model(path("unit.h5"), model);
  EXPECT_LT(std::filesystem::file_size(path("unit.h5")), 100'000u);
  EXPECT_EQ(load_model(path("unit.h5")).scaling->features(), 100'000);
  model.scaling.emplace(Scaling::maxabs, zeros, std::vector<double>(100'000, 2.0));
  save_model(path("maxabs.h5"), model);
  EXPECT_EQ(load_model(path("maxabs.h5")).scaling->scale()[99'999], 2.0);
}

TEST_F(SparseModel, DamageIsFound) {
  const SparseMatrix x = sparse_rows(9, 50, 0.2, 1);
  save_model(path("m.h5"), sparse_model(x));
  ArrayFile file = read_hdf5_arrays(path("m.h5"));
  std::get<Matrix<double>>(file.arrays.at("support_columns").values)(0, 0) += 1;
  std::vector<NamedArray> arrays;
  for (const auto& entry : file.arrays) {
    std::visit([&](const auto& m) { arrays.push_back({entry.first, m.view(), {}}); }, entry.second.values);
  }
  write_hdf5(path("damaged.h5"), arrays, file.settings);
  expect_error(Code::input, {"checksum"}, [&] { (void)load_model(path("damaged.h5")); });
}

TEST(SparsePrediction, IsThatOfDenseSamples) {
  const SparseMatrix x = sparse_rows(12, 60, 0.2, 3);
  const SparseMatrix test = sparse_rows(7, 60, 0.3, 4);
  const Matrix<double> dense_test = dense_copy(test.view());
  const Shape shape{1, 1, 60};
  for (const auto& kernel : {std::variant<Network, ClassicalKernel>(Network::parse("fc:2")),
                             std::variant<Network, ClassicalKernel>(ClassicalKernel::parse("rbf(gamma=0.1)"))}) {
    const Model model = sparse_model(x, kernel);
    Model dense = sparse_model(x, kernel);
    dense.support = dense_copy(*dense.support_view().sparse());
    const auto engine = make_engine("cpu");
    PredictOptions few;
    few.memory = 4000;  // several strips
    const Matrix<double> expected = predict_decisions(dense, {dense_test.view(), shape}, *engine);
    const auto compare = [&](const Matrix<double>& found) {
      for (Index i = 0; i < 7; ++i) EXPECT_NEAR(found(i, 0), expected(i, 0), 1e-12);
    };
    compare(predict_decisions(model, {test.view(), shape}, *engine, few));
    compare(predict_decisions(model, {dense_test.view(), shape}, *engine));
    compare(predict_decisions(dense, {test.view(), shape}, *engine, few));
  }
}

}  // namespace
}  // namespace widelimit
