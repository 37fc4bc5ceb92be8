#include "widelimit/data/formats/images/image_folder.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/formats/images/jpeg.hpp"
#include "widelimit/data/formats/images/png.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <system_error>

namespace widelimit {

namespace fs = std::filesystem;

namespace {

constexpr Index most_pixels = Index{1} << 24;

enum class Kind : std::uint8_t { png, jpeg, other };

Kind kind_of(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (ending == ".png") return Kind::png;
  return ending == ".jpg" || ending == ".jpeg" ? Kind::jpeg : Kind::other;
}

/// Contents of a folder, each list sorted by name.
struct Listing {
  std::vector<fs::path> images;
  std::vector<fs::path> folders;
  std::vector<fs::path> others;
};

Listing list_folder(const fs::path& folder) {
  Listing found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const fs::path& path = at->path();
    if (path.filename().string().starts_with('.')) continue;
    std::error_code ignored;
    if (at->is_directory(ignored)) {
      found.folders.push_back(path);
    } else {
      (kind_of(path) == Kind::other ? found.others : found.images).push_back(path);
    }
  }
  if (error) fail(Code::input, "cannot read the folder '{}': {}", folder.string(), error.message());
  for (auto* paths : {&found.images, &found.folders, &found.others}) std::sort(paths->begin(), paths->end());
  return found;
}

/// The images of a data set in order.
struct Chosen {
  std::vector<fs::path> images;
  std::vector<Index> labels;  ///< empty if the images are in the folder itself
  std::vector<std::string> classes;
  std::vector<std::string> notes;
};

void note_left_out(Chosen& chosen, const std::vector<fs::path>& left_out, const std::string& source,
                   std::string_view what) {
  if (left_out.empty()) return;
  constexpr std::size_t shown = 3;
  std::vector<std::string> names;
  for (const fs::path& path : left_out) names.push_back(path.lexically_relative(source).string());
  const std::size_t more = names.size() > shown ? names.size() - shown : 0;
  names.resize(std::min(names.size(), shown));
  chosen.notes.push_back(fmt::format("{}: {} left out: {}{}", source, what, fmt::join(names, ", "),
                                     more > 0 ? fmt::format(" and {} more", more) : ""));
}

Chosen choose_images(const fs::path& folder, const std::string& source) {
  const Listing top = list_folder(folder);
  Chosen chosen;
  std::vector<fs::path> others = top.others;
  std::vector<fs::path> empty;
  for (const fs::path& path : top.folders) {
    const Listing inside = list_folder(path);
    others.insert(others.end(), inside.others.begin(), inside.others.end());
    if (inside.images.empty()) {
      empty.push_back(path);
      continue;
    }
    others.insert(others.end(), inside.folders.begin(), inside.folders.end());
    chosen.labels.insert(chosen.labels.end(), inside.images.size(), std::ssize(chosen.classes));
    chosen.classes.push_back(path.filename().string());
    chosen.images.insert(chosen.images.end(), inside.images.begin(), inside.images.end());
  }
  if (chosen.images.empty()) {
    chosen.images = top.images;
  } else {
    others.insert(others.end(), top.images.begin(), top.images.end());
  }
  if (chosen.images.empty()) {
    fail(Code::input,
         "'{}': no .png, .jpg or .jpeg in this folder or the folders in it; give a folder that has one folder of "
         "images for each class, or images without labels",
         source);
  }
  note_left_out(chosen, empty, source, "folders without images are");
  note_left_out(chosen, others, source, "files that are not images of a class are");
  return chosen;
}

Picture decode(const fs::path& path, const ReadLimits& limits) {
  const ReadLimits silent{limits.memory, nullptr};
  const Blob bytes = read_file(path, silent);
  if (kind_of(path) == Kind::png) return decode_png(bytes, path.string(), most_pixels, silent);
  const Image image = decode_jpeg(bytes, path.string(), most_pixels, silent);
  Picture picture{image.height, image.width, image.grey ? 1 : 3, {}, false};
  const std::size_t step = image.grey ? 3 : 1;
  for (std::size_t i = 0; i < image.rgb.size(); i += step) picture.values.push_back(image.rgb[i]);
  return picture;
}

/// Repeats the grey values of `rows` rows in three channels.
Matrix<float> as_colours(const Matrix<float>& grey, Index rows) {
  Matrix<float> colours(grey.rows(), 3 * grey.cols());
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < grey.cols(); ++j) std::fill_n(&colours(i, 3 * j), 3, grey(i, j));
  }
  return colours;
}

/// Collects images into one matrix.
class Collector {
 public:
  Collector(Index count, const std::string& source, const ReadLimits& limits)
      : count_(count), source_(source), limits_(limits) {}

  void add(const fs::path& path, const Picture& picture) {
    if (done_ == 0) begin(path, picture);
    if (picture.height != shape_.height || picture.width != shape_.width) {
      fail(Code::input,
           "{} has {} x {} pixels, {} has {} x {}; all images must have the same size: resize them first "
           "(with ImageMagick: mogrify -resize '{}x{}!' FILES)",
           path.string(), picture.width, picture.height, first_, shape_.width, shape_.height, shape_.width,
           shape_.height);
    }
    if (picture.channels > shape_.channels) {
      require(4);  // old and new matrix coexist during the conversion
      values_ = as_colours(values_, done_);
      shape_.channels = 3;
    }
    const Index copies = shape_.channels / picture.channels;
    float* into = values_.view().row(done_);
    for (const float value : picture.values) into = std::fill_n(into, copies, value);
    grey_ += picture.channels == 1 ? 1 : 0;
    transparent_ += picture.transparent ? 1 : 0;
    ++done_;
  }

  void give(Dataset& data) {
    if (shape_.channels == 3 && grey_ > 0) {
      data.notes.push_back(fmt::format("{}: {} of {} images are grey, the others colour; all are read as colour",
                                       source_, grey_, count_));
    }
    if (transparent_ > 0) {
      data.notes.push_back(
          fmt::format("{}: {} of {} images have transparency, which is ignored: pixels keep their colour", source_,
                      transparent_, count_));
    }
    data.shape = shape_;
    data.values = std::move(values_);
  }

 private:
  void begin(const fs::path& path, const Picture& picture) {
    first_ = path.string();
    shape_ = {picture.height, picture.width, picture.channels};
    require(picture.channels);
    values_ = Matrix<float>(count_, shape_.size());
  }
  void require(Index channels) const {
    limits_.require(sizeof(float) * static_cast<double>(count_) * static_cast<double>(shape_.height) *
                        static_cast<double>(shape_.width * channels),
                    source_);
  }

  Index count_;
  std::string source_;
  ReadLimits limits_;
  std::string first_;
  Shape shape_;
  Matrix<float> values_;
  Index done_ = 0;
  Index grey_ = 0;
  Index transparent_ = 0;
};

}  // namespace

Dataset read_image_folder(const fs::path& folder, const ReadOptions& options) {
  Chosen chosen = choose_images(folder, options.source);
  const auto count = std::ssize(chosen.images);
  Dataset data;
  data.name = options.source;
  data.notes = std::move(chosen.notes);
  Collector collector(count, options.source, options.limits);
  ProgressTicker ticker(options.limits.progress, count, "images");
  for (Index i = 0; i < count; ++i) {
    const fs::path& path = chosen.images[usize(i)];
    collector.add(path, decode(path, options.limits));
    ticker.at(i + 1);
  }
  collector.give(data);
  if (options.label != "none") {
    data.labels = std::move(chosen.labels);
    data.class_names = std::move(chosen.classes);
  }
  return data;
}

}  // namespace widelimit
