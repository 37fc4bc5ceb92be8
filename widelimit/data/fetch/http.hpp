#pragma once

#include "widelimit/data/formats/bytes.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace widelimit {

/// A GET of a whole resource, or of what follows its first `offset` bytes.
struct HttpRequest {
  std::string url;
  std::uint64_t offset = 0;
  std::string validator;  ///< If-Range: the rest is sent only where the resource is still the same
  double stall = 30;      ///< seconds: a transfer that brings next to nothing for so long has stalled
};

/// What the head of the last response says, after redirects.
struct HttpAnswer {
  long status = 0;
  std::optional<std::uint64_t> length;  ///< of the body
  std::optional<std::uint64_t> first;   ///< of a partial body: its first byte
  std::optional<std::uint64_t> total;   ///< of a partial body: the length of the whole
  std::string validator;                ///< a strong entity tag, else the date of the last change, else empty
};

/// Receives a body. Errors thrown here end the transfer and reach the caller.
class HttpBody {
 public:
  virtual ~HttpBody() = default;
  /// Before the first piece.
  virtual void begin(const HttpAnswer& answer) = 0;
  virtual void take(Bytes piece) = 0;
  /// Several times a second, also where nothing comes.
  virtual void wait() = 0;
};

enum class HttpEnd : std::uint8_t {
  complete,     ///< as far as the server says
  unreachable,  ///< no connection: unknown host, no route, refused
  broken,       ///< the connection ended too early
  stalled,      ///< nothing came any more
  busy,         ///< the server asks to try later, or has a problem of its own
  refused,      ///< any other answer: trying again is no use
};

struct HttpOutcome {
  HttpEnd end = HttpEnd::complete;
  long status = 0;         ///< of the last response, 0 where there was none
  std::string reason;      ///< what happened, and what to do; empty where complete
  bool elsewhere = false;  ///< to be had from a mirror, if at all
};

/// Asks servers by http or https, and keeps connections for the next request.
class HttpClient {
 public:
  HttpClient();
  /// One attempt. Redirects are followed, a few and to no other protocol.
  [[nodiscard]] HttpOutcome get(const HttpRequest& request, HttpBody& body);

 private:
  struct Close {
    void operator()(void* handle) const noexcept;
  };
  std::unique_ptr<void, Close> connections_;  ///< a handle of libcurl's multi interface
};

}  // namespace widelimit
