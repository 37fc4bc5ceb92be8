#pragma once

#include "widelimit/data/formats/bytes.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace widelimit {

/// GET request for a whole resource, or for the part after its first `offset` bytes.
struct HttpRequest {
  std::string url;
  std::uint64_t offset = 0;
  std::string validator;  ///< If-Range: the rest is sent only if the resource has not changed
  double stall = 30;      ///< seconds: a transfer that receives less than 1 KiB in this time has stalled
};

/// Header of the last response, after redirects.
struct HttpResponse {
  long status = 0;
  std::optional<std::uint64_t> length;  ///< of the body
  std::optional<std::uint64_t> first;   ///< of a partial body: offset of its first byte
  std::optional<std::uint64_t> total;   ///< of a partial body: length of the whole resource
  std::string validator;                ///< strong entity tag, else date of the last change, else empty
};

/// Receives a body. Exceptions thrown here abort the transfer and propagate to the caller.
class HttpBody {
 public:
  virtual ~HttpBody() = default;
  /// Called before the first piece.
  virtual void begin(const HttpResponse& response) = 0;
  virtual void take(Bytes piece) = 0;
  /// Called several times a second, also if no data arrives.
  virtual void wait() = 0;
};

enum class HttpEnd : std::uint8_t {
  complete,     ///< all that the server announced was received
  unreachable,  ///< no connection: unknown host, no route, refused
  broken,       ///< the connection was closed too early
  stalled,      ///< no data arrived for too long
  busy,         ///< temporary failure of the server
  refused,      ///< any other response: retrying is useless
};

struct HttpOutcome {
  HttpEnd end = HttpEnd::complete;
  long status = 0;         ///< of the last response, 0 if there was none
  std::string reason;      ///< cause and remedy; empty if complete
  bool elsewhere = false;  ///< only a mirror could have it
};

/// HTTP and HTTPS client that reuses connections between requests.
class HttpClient {
 public:
  HttpClient();
  /// Performs one attempt. Follows a limited number of redirects within http and https.
  [[nodiscard]] HttpOutcome get(const HttpRequest& request, HttpBody& body);

 private:
  struct Close {
    void operator()(void* handle) const noexcept;
  };
  std::unique_ptr<void, Close> connections_;  ///< a handle of libcurl's multi interface
};

}  // namespace widelimit
