#include "widelimit/data/formats/images/cifar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/data/formats/archive.hpp"
#include "widelimit/data/formats/images/jpeg.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

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

namespace {

constexpr Index classes = std::ssize(cifar_classes);
constexpr Index pixels = cifar_side * cifar_side;

/// One of the two splits, filled record by record.
struct CifarPart {
  std::string_view prefix;
  Index per_class;
  Blob records{};
  std::vector<bool> present{};

  [[nodiscard]] Index count() const { return classes * per_class; }
};

/// Returns the record index of `member`, given without the prefix of the split ("frog/0042.jpg"); −1 if it is invalid.
Index record_of(std::string_view member, const CifarPart& split) {
  const auto slash = member.find('/');
  if (slash == std::string_view::npos || !member.ends_with(".jpg")) return -1;
  const auto label = std::find(cifar_classes.begin(), cifar_classes.end(), member.substr(0, slash));
  Index number = -1;
  const char* const end = member.data() + member.size() - std::strlen(".jpg");
  const auto result = std::from_chars(member.data() + slash + 1, end, number);
  if (label == cifar_classes.end() || result.ptr != end || number < 0 || number >= split.per_class) return -1;
  return number * classes + (label - cifar_classes.begin());
}

void store_record(const Image& image, Index record, CifarPart& split, const std::string& source) {
  if (image.height != cifar_side || image.width != cifar_side) {
    fail(Code::input, "{}: {} x {} pixels, CIFAR-10 has 32 x 32", source, image.height, image.width);
  }
  std::byte* out = split.records.data() + record * cifar_record;
  *out++ = static_cast<std::byte>(record % classes);
  for (Index channel = 0; channel < 3; ++channel) {
    for (Index p = 0; p < pixels; ++p) {
      *out++ = static_cast<std::byte>(image.rgb[static_cast<std::size_t>(3 * p + channel)]);
    }
  }
  split.present[static_cast<std::size_t>(record)] = true;
}

}  // namespace

CifarRecords decode_cifar_archive(const std::filesystem::path& archive, const ReadLimits& limits) {
  CifarPart splits[] = {{"train/", 5000}, {"test/", 1000}};
  Index total = 0;
  for (const CifarPart& split : splits) total += split.count();
  limits.require(static_cast<double>(total * cifar_record), archive.string());
  for (CifarPart& split : splits) {
    split.records.resize(static_cast<std::size_t>(split.count() * cifar_record));
    split.present.resize(static_cast<std::size_t>(split.count()), false);
  }
  // Progress is reported per image, not per archive byte.
  const ReadLimits silent{limits.memory, nullptr};
  ProgressTicker ticker(limits.progress, total, "images");
  Index done = 0;
  for (Archive members(archive, silent); members.next();) {
    const std::string source = archive.string() + "/" + members.member();
    for (CifarPart& split : splits) {
      if (!members.member().starts_with(split.prefix)) continue;
      const Index record = record_of(std::string_view(members.member()).substr(split.prefix.size()), split);
      if (record < 0) fail(Code::input, "{}: unexpected member name; expected CLASS/NNNN.jpg", source);
      store_record(decode_jpeg(members.read(), source, pixels), record, split, source);
      ticker.at(++done);
    }
  }
  for (const CifarPart& split : splits) {
    const auto missing = std::count(split.present.begin(), split.present.end(), false);
    if (missing > 0) fail(Code::input, "{}: {} images of {} are missing", archive.string(), missing, split.prefix);
  }
  return {std::move(splits[0].records), std::move(splits[1].records)};
}

}  // namespace widelimit
