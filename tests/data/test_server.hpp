#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace widelimit::test {

/// Request of a client.
struct Request {
  std::size_t number = 0;  ///< counted from 0 over the lifetime of the server
  std::string path;
  std::optional<std::size_t> first;  ///< from "Range: bytes=FIRST-"
  std::string if_range;
};

/// Connection from which one request was read.
class Line {
 public:
  Line(int socket, const std::atomic<bool>& stopped) : socket_(socket), stopped_(stopped) {}

  /// Returns false if the client has disconnected.
  bool send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// Sends a response with its header and closes the connection.
  bool reply(const std::string& status, const std::string& headers, std::string_view body) const {
    return send("HTTP/1.1 " + status + "\r\n" + headers + "Connection: close\r\n\r\n") && send(body);
  }
  bool reply(const std::string& body, const std::string& headers = {}) const {
    return reply("200 OK", length(body.size()) + headers, body);
  }
  /// Sends nothing until the client disconnects or the server stops.
  void hold() const {
    while (!stopped_) {
      pollfd event{socket_, POLLIN | POLLRDHUP, 0};
      if (::poll(&event, 1, 20) > 0) return;
    }
  }

  static std::string length(std::size_t bytes) { return "Content-Length: " + std::to_string(bytes) + "\r\n"; }

 private:
  int socket_;
  const std::atomic<bool>& stopped_;
};

/// Sequential server on 127.0.0.1; `handle` is called for each request.
class TestServer {
 public:
  using Handler = std::function<void(const Request&, const Line&)>;

  explicit TestServer(Handler handle) : handle_(std::move(handle)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof place;
    auto* address = reinterpret_cast<sockaddr*>(&place);
    if (::bind(listener_, address, size) != 0 || ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, address, &size) != 0) {
      std::abort();
    }
    port_ = ntohs(place.sin_port);
    // Bypasses proxies.
    ::setenv("no_proxy", "127.0.0.1", 1);
    thread_ = std::thread([this] { serve(); });
  }
  ~TestServer() {
    stopped_ = true;
    thread_.join();
    ::close(listener_);
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  [[nodiscard]] std::string address() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::vector<Request> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void serve() {
    while (!stopped_) {
      pollfd event{listener_, POLLIN, 0};
      if (::poll(&event, 1, 20) <= 0) continue;
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) continue;
      if (const auto request = read_request(socket)) handle_(*request, Line(socket, stopped_));
      ::shutdown(socket, SHUT_WR);
      ::close(socket);
    }
  }

  std::optional<Request> read_request(int socket) {
    std::string head;
    char byte = 0;
    while (!head.ends_with("\r\n\r\n")) {
      pollfd event{socket, POLLIN, 0};
      if (stopped_ || ::poll(&event, 1, 1000) <= 0 || ::recv(socket, &byte, 1, 0) != 1) return std::nullopt;
      head += byte;
    }
    const auto value = [&](const std::string& name) {
      const auto begin = head.find("\r\n" + name + ": ");
      if (begin == std::string::npos) return std::string();
      const auto from = begin + name.size() + 4;
      return head.substr(from, head.find("\r\n", from) - from);
    };
    Request request;
    const auto blank = head.find(' ');
    request.path = head.substr(blank + 1, head.find(' ', blank + 1) - blank - 1);
    const std::string range = value("Range");
    if (range.starts_with("bytes=")) request.first = std::stoull(range.substr(6));
    request.if_range = value("If-Range");
    const std::lock_guard lock(mutex_);
    request.number = requests_.size();
    requests_.push_back(request);
    return request;
  }

  Handler handle_;
  int listener_;
  int port_ = 0;
  std::atomic<bool> stopped_{false};
  mutable std::mutex mutex_;
  std::vector<Request> requests_;
  std::thread thread_;
};

}  // namespace widelimit::test
