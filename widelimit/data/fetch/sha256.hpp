#pragma once

#include "widelimit/data/formats/bytes.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

struct evp_md_ctx_st;

namespace widelimit {

/// SHA-256 of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  void add(Bytes piece);
  /// 64 hexadecimal digits, in lower case. Nothing can be added after it.
  [[nodiscard]] std::string finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* state) const noexcept;
  };
  std::unique_ptr<evp_md_ctx_st, Free> state_;
};

/// Of a whole file. `wait` is called after each piece and may throw.
[[nodiscard]] std::string file_sha256(const std::filesystem::path& path, const std::function<void()>& wait);

}  // namespace widelimit
