#include "widelimit/data/formats/images/image_folder.hpp"

#include "fixture.hpp"
#include "widelimit/data/request.hpp"
#include "written_png.hpp"

namespace widelimit {
namespace {

class ImageFolder : public Folder {
 protected:
  [[nodiscard]] std::string photos() const { return path("photos").string(); }
  [[nodiscard]] Dataset load() const { return load_data(photos()); }
  static bool noted(const Dataset& data, std::string_view part) {
    return std::any_of(data.notes.begin(), data.notes.end(),
                       [&](const std::string& note) { return note.find(part) != std::string::npos; });
  }
};

TEST_F(ImageFolder, FoldersAreClassesInTheOrderOfNames) {
  put("photos/dog/2.png", grey_png(3, 2, 20));
  put("photos/dog/1.PNG", grey_png(3, 2, 10));
  put("photos/cat/9.png", grey_png(3, 2, 30));
  put("photos/cat/.hidden.png", "nothing");
  const Dataset data = load();
  EXPECT_EQ(data.shape, (Shape{2, 3, 1}));
  EXPECT_EQ(data.class_names, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(data.labels, (std::vector<Index>{0, 1, 1}));
  EXPECT_EQ(value(data, 0, 0), 30);
  EXPECT_EQ(value(data, 1, 5), 10);
  EXPECT_EQ(value(data, 2, 0), 20);
  EXPECT_TRUE(data.notes.empty());
  DataOptions unlabelled;
  unlabelled.label = "none";
  EXPECT_FALSE(load_data(photos(), unlabelled).labelled());
}

TEST_F(ImageFolder, ImagesAloneAreUnlabelled) {
  put("photos/b.png", grey_png(2, 2, 2));
  put("photos/a.png", grey_png(2, 2, 1));
  const Dataset data = load();
  EXPECT_FALSE(data.labelled());
  EXPECT_EQ(value(data, 0, 0), 1);
}

TEST_F(ImageFolder, GreyAmongColoursIsReadAsColour) {
  put("photos/a/1.png", grey_png(1, 2, 7));
  put("photos/a/2.png", written_png(1, 2, PNG_COLOR_TYPE_RGB, 8, {1, 2, 3, 4, 5, 6}));
  put("photos/a/3.png", grey_png(1, 2, 9));
  put("photos/a/4.png", written_png(1, 2, PNG_COLOR_TYPE_RGB_ALPHA, 8, {1, 2, 3, 0, 4, 5, 6, 255}));
  const Dataset data = load();
  EXPECT_EQ(data.shape, (Shape{2, 1, 3}));
  for (Index j = 0; j < 6; ++j) {
    EXPECT_EQ(value(data, 0, j), 7);
    EXPECT_EQ(value(data, 1, j), static_cast<double>(j + 1));
    EXPECT_EQ(value(data, 2, j), 9);
    EXPECT_EQ(value(data, 3, j), static_cast<double>(j + 1));
  }
  EXPECT_TRUE(noted(data, "2 of 4 images are grey"));
  EXPECT_TRUE(noted(data, "1 of 4 images have transparency"));
}

TEST_F(ImageFolder, WhatIsLeftOutIsNamed) {
  put("photos/a/1.png", grey_png(1, 1, 7));
  put("photos/a/readme.txt", "text");
  put("photos/top.png", grey_png(1, 1, 7));
  std::filesystem::create_directories(path("photos/empty"));
  const Dataset data = load();
  EXPECT_EQ(data.count(), 1);
  EXPECT_TRUE(noted(data, "folders without images are left out: empty"));
  EXPECT_TRUE(noted(data, "a/readme.txt"));
  EXPECT_TRUE(noted(data, "top.png"));
}

TEST_F(ImageFolder, BadImagesAreNamed) {
  put("photos/a/1.png", grey_png(4, 3, 7));
  put("photos/b/2.png", grey_png(3, 3, 7));
  expect_error(Code::input, {"b/2.png has 3 x 3", "a/1.png has 4 x 3", "resize"}, [&] { (void)load(); });
  put("photos/b/2.png", "no image");
  expect_error(Code::input, {"b/2.png", "PNG"}, [&] { (void)load(); });
  std::filesystem::remove(path("photos/b/2.png"));
  put("photos/b/2.jpeg", "no image");
  expect_error(Code::input, {"b/2.jpeg", "JPEG"}, [&] { (void)load(); });
  std::filesystem::create_directories(path("none/train/a"));
  expect_error(Code::input, {"none", ".png", "for each class"}, [&] { (void)load_data(path("none").string()); });
}

TEST_F(ImageFolder, NumbersAsNamesAreClasses) {
  for (int i = 0; i < 30; ++i) {
    put("photos/" + std::to_string(7 * i + 5) + "/1.png", grey_png(1, 2, static_cast<std::uint8_t>(i)));
  }
  DataRequest request;
  request.train = photos();
  const TrainTest parts = load_train_test(request);
  EXPECT_EQ(parts.train.class_names.size(), 30U);
  EXPECT_TRUE(parts.train.targets.empty());
  EXPECT_TRUE(parts.notes.empty());
}

TEST_F(ImageFolder, LimitsAreKept) {
  for (int i = 0; i < 4; ++i) put("photos/" + std::to_string(i) + ".png", grey_png(64, 64, 1));
  DataOptions options;
  options.limits.memory = 4 * 64 * 64 * sizeof(float) - 1;
  expect_error(Code::resource, {"photos"}, [&] { (void)load_data(photos(), options); });
  expect_error(Code::usage, {"not a table"}, [&] {
    DataOptions columns;
    columns.table.drop = {"a"};
    (void)load_data(photos(), columns);
  });
}

}  // namespace
}  // namespace widelimit
