#pragma once

#include "fixture.hpp"
#include "tests/data/test_server.hpp"
#include "widelimit/data/fetch/download.hpp"
#include "widelimit/data/fetch/sha256.hpp"

#include <vector>

namespace widelimit::test {

/// A file of the test server, and a data folder to which it is fetched.
class FetchFolder : public Folder {
 public:
  static std::string sum_of(std::string_view text) {
    Sha256 sum;
    sum.add(as_bytes(text));
    return sum.finish();
  }

 protected:
  FetchFolder() {
    options_.folder = path("data");
    options_.pause = 0;
    options_.retries = 3;
    options_.stall = 20;
  }

  /// Returns aperiodic bytes.
  static std::string noise(std::size_t size) {
    std::string text(size, '\0');
    std::uint32_t state = 1;
    for (char& c : text) c = static_cast<char>((state = state * 1664525U + 1013904223U) >> 24U);
    return text;
  }
  static std::string contents(const std::filesystem::path& file) { return std::string(as_text(read_file(file))); }

  std::vector<FetchedFile> fetch(const TestServer& server) {
    options_.mirror = server.address();
    return fetch_files({file_}, options_);
  }
  [[nodiscard]] std::filesystem::path target() const { return path("data/x/file.bin"); }
  [[nodiscard]] std::uint64_t part_size() const {
    std::error_code absent;
    const auto size = std::filesystem::file_size(path("data/x/file.bin.part"), absent);
    return absent ? 0 : size;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path("data/x"))) {
      found.push_back(entry.path().filename().string());
    }
    return found;
  }
  /// Checks that the folder has the complete file and nothing else.
  void expect_complete() const {
    EXPECT_EQ(names(), std::vector<std::string>{"file.bin"});
    EXPECT_TRUE(contents(target()) == body_);
  }
  void expect_nothing() const { EXPECT_TRUE(names().empty()) << names().front(); }

  static std::string range_head(std::size_t first, std::size_t total) {
    return Line::length(total - first) + "Content-Range: bytes " + std::to_string(first) + "-" +
           std::to_string(total - 1) + "/" + std::to_string(total) + "\r\n" + tag;
  }
  /// Answers as a valid server with range support, but truncates the body after `most` bytes.
  void serve(const Request& request, const Line& line, std::size_t most = std::string::npos) const {
    const std::size_t first = request.if_range == "\"one\"" ? request.first.value_or(0) : 0;
    const std::string_view rest = std::string_view(body_).substr(first, most);
    if (first > 0) {
      line.reply("206 Partial Content", range_head(first, body_.size()), rest);
    } else {
      line.reply("200 OK", Line::length(body_.size()) + tag, rest);
    }
  }

  static constexpr const char* tag = "ETag: \"one\"\r\n";
  std::string body_ = noise(100'003);
  SourceFile file_{"x", "http://127.0.0.1:1/never", "x/file.bin", body_.size(), sum_of(body_), {}};
  FetchOptions options_;
};

}  // namespace widelimit::test
