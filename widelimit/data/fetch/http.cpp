#include "widelimit/data/fetch/http.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/version.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <exception>
#include <memory>
#include <string_view>

namespace widelimit {

namespace {

constexpr long most_redirects = 8;
constexpr std::size_t longest_validator = 200;
constexpr int poll_milliseconds = 100;
/// Fewer bytes than this within the stall time count as no data.
constexpr std::uint64_t least_bytes = 1024;

void initialise_curl() {
  static const CURLcode done = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (done != CURLE_OK) fail(Code::resource, "libcurl cannot start: {}", curl_easy_strerror(done));
}

struct FreeCurl {
  void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
  void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, FreeCurl>;
using HeaderList = std::unique_ptr<curl_slist, FreeCurl>;

/// Transfer on the connections of a client. libcurl's own event loop would report only once a second.
class RunningTransfer {
 public:
  RunningTransfer(CURLM* connections, CURL* easy) : easy_(easy), handle_(connections) {
    check(curl_multi_add_handle(handle_, easy_));
  }
  ~RunningTransfer() { curl_multi_remove_handle(handle_, easy_); }
  RunningTransfer(const RunningTransfer&) = delete;
  RunningTransfer& operator=(const RunningTransfer&) = delete;

  /// Returns std::nullopt while the transfer runs, then its result.
  std::optional<CURLcode> perform() {
    int running = 0;
    check(curl_multi_perform(handle_, &running));
    int left = 0;
    const CURLMsg* message = curl_multi_info_read(handle_, &left);
    if (message != nullptr && message->msg == CURLMSG_DONE) return message->data.result;
    return running > 0 ? std::nullopt : std::optional(CURLE_RECV_ERROR);
  }
  void poll() { check(curl_multi_poll(handle_, nullptr, 0, poll_milliseconds, nullptr)); }

 private:
  static void check(CURLMcode code) {
    if (code == CURLM_OUT_OF_MEMORY) throw std::bad_alloc();
    if (code != CURLM_OK) fail(Code::resource, "libcurl cannot continue: {}", curl_multi_strerror(code));
  }

  CURL* easy_;
  CURLM* handle_;
};

/// Parses "bytes 100-999/1000" as {100, 1000}.
void read_content_range(std::string_view text, HttpResponse& response) {
  constexpr std::string_view unit = "bytes ";
  if (!text.starts_with(unit)) return;
  text.remove_prefix(unit.size());
  std::uint64_t first = 0, total = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), first).ec != std::errc()) return;
  response.first = first;
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return;
  text.remove_prefix(slash + 1);
  if (std::from_chars(text.data(), text.data() + text.size(), total).ec == std::errc()) response.total = total;
}

void read_header(std::string_view name, std::string_view text, HttpResponse& response) {
  const bool strong_tag = name == "etag" && text.starts_with('"');  // a weak tag W/"…" does not ensure equal bytes
  const bool date = name == "last-modified" && response.validator.empty();
  if (name == "content-length") {
    std::uint64_t length = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), length).ec == std::errc()) response.length = length;
  } else if (name == "content-range") {
    read_content_range(text, response);
  } else if ((strong_tag || date) && text.size() <= longest_validator) {
    response.validator = text;
  }
}

/// State of the libcurl callbacks. Exceptions must not pass through C frames: they are stored and rethrown by the
/// caller.
struct Transfer {
  HttpBody& body;
  HttpResponse response;
  bool begun = false;
  std::uint64_t received = 0;
  std::exception_ptr failure;

  template <typename Work>
  std::size_t guarded(std::size_t size, const Work& work) {
    try {
      work();
      return size;
    } catch (...) {
      failure = std::current_exception();
      return size == 0 ? 1 : 0;  // any value other than `size` aborts the transfer
    }
  }

  static std::size_t header(char* data, std::size_t unit, std::size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    std::string_view line(data, unit * count);
    return transfer.guarded(line.size(), [&] { transfer.read_line(line); });
  }
  static std::size_t write(char* data, std::size_t unit, std::size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const std::string_view piece(data, unit * count);
    return transfer.guarded(piece.size(), [&] {
      if (!transfer.begun) transfer.body.begin(transfer.response);
      transfer.begun = true;
      transfer.received += piece.size();
      transfer.body.take(as_bytes(piece));
    });
  }

  void read_line(std::string_view line) {
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.remove_suffix(1);
    if (line.starts_with("HTTP/")) {  // next response of a redirect chain
      response = {};
      const auto blank = line.find(' ');
      if (blank != std::string_view::npos) {
        std::from_chars(line.data() + blank + 1, line.data() + line.size(), response.status);
      }
      return;
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return;
    std::string name(line.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    line.remove_prefix(colon + 1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    read_header(name, line, response);
  }
};

/// Detects a transfer that has stalled.
class StallClock {
 public:
  explicit StallClock(double seconds) : seconds_(seconds) {}
  [[nodiscard]] bool stalled(std::uint64_t received) {
    const auto now = std::chrono::steady_clock::now();
    if (received >= counted_ + least_bytes) {
      counted_ = received;
      since_ = now;
    }
    return std::chrono::duration<double>(now - since_).count() > seconds_;
  }

 private:
  double seconds_;
  std::uint64_t counted_ = 0;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

HeaderList range_headers(const HttpRequest& request) {
  HeaderList headers;
  if (request.offset == 0 || request.validator.empty()) return headers;
  for (const std::string& line :
       {fmt::format("Range: bytes={}-", request.offset), fmt::format("If-Range: {}", request.validator)}) {
    curl_slist* longer = curl_slist_append(headers.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(headers.release());
    headers.reset(longer);
  }
  return headers;
}

HttpOutcome status_outcome(long status) {
  if (status == 408 || status == 429 || status >= 500) {
    return {HttpEnd::busy, status, fmt::format("the server cannot serve it now (status {}); try again later", status)};
  }
  if (status == 404 || status == 410) {
    return {HttpEnd::refused, status,
            fmt::format("the server does not have the file (status {}); fetch it from a mirror, or put it in place by "
                        "hand",
                        status),
            true};
  }
  return {HttpEnd::refused, status,
          fmt::format(
              "the server rejects the request (status {}); check the address and the proxy, or fetch it from a mirror",
              status),
          true};
}

HttpOutcome failed_outcome(CURLcode code, const char* detail, long status) {
  const std::string words = *detail != '\0' ? detail : curl_easy_strerror(code);
  switch (code) {
    case CURLE_HTTP_RETURNED_ERROR:
      return status_outcome(status);
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
      return {HttpEnd::unreachable, status,
              fmt::format("the server cannot be reached ({}); check the network, the address and the proxy "
                          "(http_proxy, https_proxy)",
                          words)};
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_SSL_CONNECT_ERROR:
      return {HttpEnd::broken, status, fmt::format("the connection broke ({})", words)};
    case CURLE_TOO_MANY_REDIRECTS:
      return {HttpEnd::refused, status, "there are too many redirects; fetch it from a mirror", true};
    case CURLE_UNSUPPORTED_PROTOCOL:
      return {HttpEnd::refused, status,
              fmt::format("it redirects to an address that is neither http nor https ({})", words)};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return {HttpEnd::refused, status,
              fmt::format("the server's certificate is not accepted ({}); check the clock and the package "
                          "ca-certificates",
                          words)};
    case CURLE_OUT_OF_MEMORY:
      throw std::bad_alloc();
    default:
      return {HttpEnd::refused, status, words};
  }
}

void set_up(CURL* easy, const HttpRequest& request, Transfer& transfer, curl_slist* headers, char* detail) {
  const std::string agent = fmt::format("widelimit/{}", version());
  curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(easy, CURLOPT_USERAGENT, agent.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(easy, CURLOPT_MAXREDIRS, most_redirects);
  curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, std::max(1L, static_cast<long>(1000 * request.stall)));
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, detail);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Transfer::header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Transfer::write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
  // Do not wait for a pending name lookup when the transfer ends.
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
}

}  // namespace

HttpClient::HttpClient() {
  initialise_curl();
  connections_.reset(curl_multi_init());
  if (!connections_) throw std::bad_alloc();
}

void HttpClient::Close::operator()(void* handle) const noexcept { curl_multi_cleanup(static_cast<CURLM*>(handle)); }

HttpOutcome HttpClient::get(const HttpRequest& request, HttpBody& body) {
  Transfer transfer{.body = body, .response = {}, .failure = {}};
  std::array<char, CURL_ERROR_SIZE> detail{};
  const HeaderList headers = range_headers(request);
  const Easy easy(curl_easy_init());
  if (!easy) throw std::bad_alloc();
  set_up(easy.get(), request, transfer, headers.get(), detail.data());
  RunningTransfer running(static_cast<CURLM*>(connections_.get()), easy.get());
  StallClock clock(request.stall);
  for (;;) {
    const std::optional<CURLcode> ended = running.perform();
    if (transfer.failure) std::rethrow_exception(transfer.failure);
    if (ended == CURLE_OK) return {HttpEnd::complete, transfer.response.status, ""};
    if (ended) return failed_outcome(*ended, detail.data(), transfer.response.status);
    body.wait();
    if (clock.stalled(transfer.received)) {
      return {HttpEnd::stalled, transfer.response.status,
              fmt::format("the transfer has stalled: almost no data arrived for {:g} s", request.stall)};
    }
    running.poll();
  }
}

}  // namespace widelimit
