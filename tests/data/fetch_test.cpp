#include "fetch_fixture.hpp"

namespace widelimit {
namespace {

using test::FetchFolder;
using test::Line;
using test::Request;
using test::TestServer;

class Fetch : public FetchFolder {};

/// FIPS 180-4 test vectors.
TEST(Sha256Sum, HasThePublishedValues) {
  EXPECT_EQ(FetchFolder::sum_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(FetchFolder::sum_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(FetchFolder::sum_of(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_F(Fetch, BringsAFileOnceAndAgainWhenAsked) {
  const TestServer server([&](const Request& request, const Line& line) { serve(request, line); });
  const auto first = fetch(server);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_TRUE(first[0].fetched);
  EXPECT_EQ(first[0].path, target());
  EXPECT_EQ(first[0].bytes, body_.size());
  expect_complete();
  EXPECT_FALSE(fetch(server)[0].fetched);
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(server.requests()[0].path, "/x/file.bin");
  options_.replace = true;
  EXPECT_TRUE(fetch(server)[0].fetched);
  expect_complete();
}

TEST_F(Fetch, GoesOnWhereTheConnectionBroke) {
  const TestServer server([&](const Request& request, const Line& line) { serve(request, line, 40'000); });
  fetch(server);
  expect_complete();
  ASSERT_EQ(server.requests().size(), 3U);
  EXPECT_FALSE(server.requests()[0].first);
  EXPECT_EQ(server.requests()[1].first, 40'000U);
  EXPECT_EQ(server.requests()[2].first, 80'000U);
  EXPECT_EQ(server.requests()[2].if_range, "\"one\"");
}

TEST_F(Fetch, StartsAgainAtAServerWithoutRangesOrValidators) {
  for (const char* head : {tag, "", "ETag: W/\"weak\"\r\n"}) {
    std::filesystem::remove_all(path("data"));
    const TestServer server([&](const Request& request, const Line& line) {
      line.reply("200 OK", Line::length(body_.size()) + head,
                 body_.substr(0, request.number < 2 ? 30'000 : body_.size()));
    });
    fetch(server);
    expect_complete();
    ASSERT_EQ(server.requests().size(), 3U) << head;
    EXPECT_EQ(server.requests()[1].first.has_value(), head == std::string(tag)) << head;
  }
}

TEST_F(Fetch, KeepsWhatCameWhenItGivesUpAndGoesOnInTheNextCall) {
  options_.retries = 1;
  {
    const TestServer server([&](const Request& request, const Line& line) { serve(request, line, 20'000); });
    expect_error(Code::input, {"broke", "attempt 2", "40000 of 100003", "fetch again"}, [&] { fetch(server); });
    EXPECT_EQ(server.requests().size(), 2U);
    EXPECT_EQ(part_size(), 40'000U);
    EXPECT_FALSE(std::filesystem::exists(target()));
  }
  // The next server has another address: the received bytes must not be reused.
  const TestServer other([&](const Request& request, const Line& line) { serve(request, line); });
  fetch(other);
  EXPECT_FALSE(other.requests()[0].first);
  expect_complete();
}

TEST_F(Fetch, TakesTheNewFileWhereItChangedMeanwhile) {
  const TestServer server([&](const Request& request, const Line& line) {
    if (request.number == 0) {
      line.reply("200 OK", Line::length(body_.size()) + "ETag: \"old\"\r\n", std::string(5'000, 'x'));
    } else {
      serve(request, line);
    }
  });
  fetch(server);
  EXPECT_EQ(server.requests()[1].if_range, "\"old\"");
  EXPECT_EQ(server.requests().size(), 2U);
  expect_complete();
}

TEST_F(Fetch, LyingRangesAreFetchedAsAWhole) {
  const auto serve_wrong = [&](const std::string& status, const std::string& head, const std::string& body) {
    std::filesystem::remove_all(path("data"));
    const TestServer server([&](const Request& request, const Line& line) {
      if (request.first) {
        line.reply(status, head, body);
      } else {
        serve(request, line, request.number == 0 ? 50'000 : std::string::npos);
      }
    });
    fetch(server);
    expect_complete();
    EXPECT_EQ(server.requests().size(), 3U) << head;
    EXPECT_FALSE(server.requests()[2].first) << head;
  };
  serve_wrong("206 Partial Content", range_head(40'000, body_.size()), body_.substr(40'000));      // another part
  serve_wrong("206 Partial Content", range_head(50'000, body_.size() + 1), body_.substr(50'000));  // of another file
  serve_wrong("206 Partial Content", Line::length(50'003), body_.substr(50'000));                  // no Content-Range
  serve_wrong("206 Partial Content", range_head(50'000, body_.size()), std::string(50'003, 'x'));  // other bytes
  serve_wrong("416 Range Not Satisfiable", Line::length(0), "");
}

TEST_F(Fetch, WrongContentIsRemovedAndBothSumsAreTold) {
  const std::string wrong(body_.size(), 'x');
  const TestServer server([&](const Request&, const Line& line) { line.reply(wrong); });
  expect_error(Code::input, {server.address(), sum_of(wrong), file_.sha256, "removed"}, [&] { fetch(server); });
  EXPECT_EQ(server.requests().size(), 1U);
  expect_nothing();
}

TEST_F(Fetch, WrongLengthsAreRefused) {
  const TestServer longer([&](const Request&, const Line& line) { line.reply(body_ + "x"); });
  expect_error(Code::input, {"100004 bytes instead of 100003"}, [&] { fetch(longer); });
  expect_nothing();
  const TestServer page([&](const Request&, const Line& line) { line.reply("<html>log in first</html>"); });
  expect_error(Code::input, {"25 bytes instead of 100003", "proxy"}, [&] { fetch(page); });
  expect_nothing();
}

TEST_F(Fetch, AServerThatSendsTooMuchIsCutOff) {
  std::atomic<std::size_t> sent{0};
  const TestServer server([&](const Request&, const Line& line) {
    line.reply("200 OK", "", "");
    const std::string piece(1U << 16U, 'x');
    while (sent < (std::size_t{1} << 28U) && line.send(piece)) sent += piece.size();
  });
  expect_error(Code::input, {"more than the 100003 bytes"}, [&] { fetch(server); });
  EXPECT_LT(sent, std::size_t{1} << 28U);
  expect_nothing();
}

TEST_F(Fetch, AnAnswerWithoutLengthThatEndsEarlyIsGoneOnWith) {
  const TestServer server([&](const Request& request, const Line& line) {
    if (request.number == 0) {
      line.reply("200 OK", tag, body_.substr(0, 1'000));
    } else {
      serve(request, line);
    }
  });
  fetch(server);
  EXPECT_EQ(server.requests()[1].first, 1'000U);
  expect_complete();
}

TEST_F(Fetch, ServersThatAreBusyAreAskedAgainAndRefusalsAreNot) {
  const TestServer busy([&](const Request& request, const Line& line) {
    const std::vector<std::string> statuses{"500 Oops", "503 Busy", "429 Slow down"};
    if (request.number < statuses.size()) {
      line.reply(statuses[request.number], Line::length(4), "oops");
    } else {
      serve(request, line);
    }
  });
  fetch(busy);
  EXPECT_EQ(busy.requests().size(), 4U);
  expect_complete();
  std::filesystem::remove_all(path("data"));
  for (const char* status : {"404 Not Found", "403 Forbidden", "204 No Content", "304 Not Modified"}) {
    const TestServer server([&](const Request&, const Line& line) { line.reply(status, Line::length(0), ""); });
    expect_error(Code::input, {server.address() + "/x/file.bin"}, [&] { fetch(server); });
    EXPECT_EQ(server.requests().size(), 1U) << status;
    expect_nothing();
  }
}

TEST_F(Fetch, RedirectsAreFollowedToHttpOnly) {
  const auto redirect = [](const std::string& place) {
    return [place](const Request&, const Line& line) {
      line.reply("302 Found", Line::length(4) + "ETag: \"no\"\r\nLocation: " + place + "\r\n", "gone");
    };
  };
  const TestServer server([&](const Request& request, const Line& line) {
    request.path == "/y" ? serve(request, line, request.number == 1 ? 1'000 : std::string::npos)
                         : redirect("/y")(request, line);
  });
  fetch(server);
  EXPECT_EQ(server.requests().size(), 4U);
  EXPECT_EQ(server.requests()[3].if_range, "\"one\"");
  expect_complete();
  std::filesystem::remove_all(path("data"));
  const TestServer loop(redirect("/x/file.bin"));
  expect_error(Code::input, {"too many redirects"}, [&] { fetch(loop); });
  EXPECT_LT(loop.requests().size(), 20U);
  const TestServer outside(redirect("file:///etc/hostname"));
  expect_error(Code::input, {"neither http nor https"}, [&] { fetch(outside); });
  expect_nothing();
}

TEST_F(Fetch, StallsEndAndAreGoneOnWith) {
  options_.stall = 0.4;
  const TestServer server([&](const Request& request, const Line& line) {
    if (request.number == 0) {
      line.reply("200 OK", Line::length(body_.size()) + tag, body_.substr(0, 10'000));
      line.hold();
    } else if (request.number == 1) {
      line.hold();  // no response header
    } else {
      serve(request, line);
    }
  });
  options_.retries = 0;
  expect_error(Code::input, {"stalled", "0.4 s", "10000 of 100003"}, [&] { fetch(server); });
  options_.retries = 1;
  fetch(server);
  EXPECT_EQ(server.requests()[2].first, 10'000U);
  expect_complete();
}

TEST_F(Fetch, ServersThatAreNotThereOrNotHttpAreTold) {
  std::string address;
  {
    const TestServer server([](const Request&, const Line& line) { line.send("220 mail.example ready\r\n"); });
    address = server.address();
    expect_error(Code::input, {address}, [&] { fetch(server); });
  }
  options_.mirror = address;
  const auto start = std::chrono::steady_clock::now();
  options_.pause = 600;  // must be interrupted
  expect_error(Code::input, {"cannot be reached", "network", address}, [&] { fetch_files({file_}, options_); });
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  expect_nothing();
}

}  // namespace
}  // namespace widelimit
