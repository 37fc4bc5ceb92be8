#include "widelimit/data/fetch/sha256.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/formats/byte_stream.hpp"

#include <openssl/evp.h>

#include <array>

namespace widelimit {

namespace {

void require_digest(bool done) {
  if (!done) fail(Code::resource, "OpenSSL offers no SHA-256 here; check its configuration");
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* state) const noexcept { EVP_MD_CTX_free(state); }

Sha256::Sha256() : state_(EVP_MD_CTX_new()) {
  if (!state_) throw std::bad_alloc();
  require_digest(EVP_DigestInit_ex(state_.get(), EVP_sha256(), nullptr) == 1);
}

void Sha256::add(Bytes piece) { require_digest(EVP_DigestUpdate(state_.get(), piece.data(), piece.size()) == 1); }

std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  require_digest(EVP_DigestFinal_ex(state_.get(), digest.data(), &size) == 1);
  std::string text;
  for (const unsigned char byte : std::span(digest).first(size)) text += fmt::format("{:02x}", byte);
  return text;
}

std::string file_sha256(const std::filesystem::path& path, const std::function<void()>& wait) {
  Sha256 sum;
  const auto stream = file_stream(path, {});
  for (Bytes piece = stream->next(); !piece.empty(); piece = stream->next()) {
    sum.add(piece);
    wait();
  }
  return sum.finish();
}

}  // namespace widelimit
