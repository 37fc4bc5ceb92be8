#include "widelimit/data/formats/cifar.hpp"

namespace widelimit {

Dataset parse_cifar(Bytes bytes, const std::string& source, const ReadLimits& limits) {
  constexpr Index pixels = cifar_side * cifar_side;
  constexpr Index channels = 3;
  const Index count = std::ssize(bytes) / cifar_record;
  if (count == 0 || std::ssize(bytes) % cifar_record != 0) {
    fail(Code::input, "{}: {} bytes are not whole CIFAR-10 records of {} bytes", source, bytes.size(), cifar_record);
  }
  Dataset data;
  data.name = source;
  data.shape = {cifar_side, cifar_side, channels};
  data.class_names.assign(cifar_classes.begin(), cifar_classes.end());
  limits.require(static_cast<double>(bytes.size()) + sizeof(float) * static_cast<double>(count * data.shape.size()),
                 source);
  Matrix<float> matrix(count, data.shape.size(), Content::unset);
  for (Index i = 0; i < count; ++i) {
    const std::byte* record = bytes.data() + i * cifar_record;
    const auto label = std::to_integer<Index>(record[0]);
    if (label >= std::ssize(cifar_classes)) {
      fail(Code::input, "{}: record {} has label {}; CIFAR-10 has 0 to 9", source, i, label);
    }
    data.labels.push_back(label);
    float* out = matrix.view().row(i);
    for (Index c = 0; c < channels; ++c) {
      for (Index p = 0; p < pixels; ++p) {
        out[p * channels + c] = static_cast<float>(std::to_integer<int>(record[1 + c * pixels + p]));
      }
    }
  }
  data.values = std::move(matrix);
  return data;
}

}  // namespace widelimit
