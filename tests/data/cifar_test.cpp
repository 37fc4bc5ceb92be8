#include "widelimit/data/formats/images/cifar.hpp"

#include "fixture.hpp"

namespace widelimit {
namespace {

TEST(Cifar, PlanesBecomeChannels) {
  std::string records(2 * cifar_record, '\0');
  records[0] = 9;
  for (Index c = 0; c < 3; ++c) {
    records[static_cast<std::size_t>(1 + c * 1024 + 33)] = static_cast<char>(100 + c);  // row 1, column 1
  }
  records[static_cast<std::size_t>(2 * cifar_record - 1)] = '\xFF';
  const Dataset data = parse_cifar(as_bytes(records), "test");
  EXPECT_EQ(data.shape, (Shape{32, 32, 3}));
  EXPECT_EQ(data.labels, (std::vector<Index>{9, 0}));
  EXPECT_EQ(data.class_names[9], "truck");
  for (Index c = 0; c < 3; ++c) EXPECT_EQ(value(data, 0, 33 * 3 + c), static_cast<double>(100 + c));
  EXPECT_EQ(value(data, 1, 3071), 255);
}

TEST(Cifar, DamageIsAnError) {
  std::string record(cifar_record, '\0');
  record[0] = 10;
  expect_error(Code::input, {"label 10"}, [&] { (void)parse_cifar(as_bytes(record), "test"); });
  record.pop_back();
  expect_error(Code::input, {"3072"}, [&] { (void)parse_cifar(as_bytes(record), "test"); });
  expect_error(Code::input, {"0 bytes"}, [&] { (void)parse_cifar({}, "test"); });
}

}  // namespace
}  // namespace widelimit
