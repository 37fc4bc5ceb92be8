#pragma once

#include "widelimit/data/formats/bytes.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

struct evp_md_ctx_st;

namespace widelimit {

/// Incremental SHA-256.
class Sha256 {
 public:
  Sha256();
  void add(Bytes piece);
  /// Returns 64 lower-case hexadecimal digits. add() must not be called afterwards.
  [[nodiscard]] std::string finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* state) const noexcept;
  };
  std::unique_ptr<evp_md_ctx_st, Free> state_;
};

/// Returns the SHA-256 of a whole file. Calls `wait` after each piece, which may throw.
[[nodiscard]] std::string file_sha256(const std::filesystem::path& path, const std::function<void()>& wait);

}  // namespace widelimit
