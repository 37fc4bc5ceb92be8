#include "widelimit/data/formats/csv_rows.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/formats/number.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace widelimit {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

char detect_delimiter(std::string_view text) {
  constexpr std::array<char, 3> candidates{',', ';', '\t'};
  std::array<std::size_t, 3> counts{};
  std::size_t between_digits = 0;  // commas
  bool quoted = false;
  bool has_content = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n' && has_content) break;
    has_content = has_content || (c != '\n' && c != '\r' && c != ' ');
    for (std::size_t k = 0; k < candidates.size(); ++k) counts[k] += c == candidates[k] ? 1U : 0U;
    const bool inside = c == ',' && at > 0 && at + 1 < text.size() && is_digit(text[at - 1]) && is_digit(text[at + 1]);
    between_digits += inside ? 1U : 0U;
  }
  // "1,5;2,5": decimal commas in cells separated by semicolons.
  if (counts[1] > 0 && counts[0] == between_digits && counts[0] <= counts[1] + 1) return ';';
  const auto most = std::max_element(counts.begin(), counts.end());
  return *most == 0 ? ' ' : candidates[static_cast<std::size_t>(most - counts.begin())];
}

CsvRows::CsvRows(std::string_view text, char delimiter, std::string source)
    : text_(text), delimiter_(delimiter), source_(std::move(source)) {
  if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
}

bool CsvRows::next() {
  while (at_ < text_.size()) {
    row_line_ = line_;
    read_row();
    if (cells_.size() > 1 || (cells_.size() == 1 && !cells_[0].empty())) return true;
  }
  return false;
}

void CsvRows::read_row() {
  // Cells are overwritten in place, so that their memory is reused for every row.
  std::size_t count = 0;
  bool more = true;
  while (more) {
    if (delimiter_ == ' ') {
      while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
      if (count > 0 && (at_ == text_.size() || text_[at_] == '\n' || text_[at_] == '\r')) break;
    }
    if (count == cells_.size()) cells_.emplace_back();
    std::string& cell = cells_[count++];
    cell.clear();
    std::size_t start = at_;
    while (start < text_.size() && text_[start] == ' ') ++start;
    if (start < text_.size() && text_[start] == '"') {
      at_ = start + 1;
      read_quoted(cell);
    } else {
      read_plain(cell);
    }
    more = at_ < text_.size() && text_[at_] == delimiter_;
    if (more) ++at_;
  }
  cells_.resize(count);
  if (at_ < text_.size() && text_[at_] == '\r') ++at_;
  if (at_ < text_.size() && text_[at_] == '\n') {
    ++at_;
    ++line_;
  }
}

void CsvRows::read_quoted(std::string& cell) {
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '"' && at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
      ++at_;
    } else if (c == '"') {
      ++at_;
      while (at_ < text_.size() && text_[at_] == ' ' && delimiter_ != ' ') ++at_;
      const bool ended = at_ == text_.size() || text_[at_] == delimiter_ || text_[at_] == '\n' || text_[at_] == '\r';
      if (ended) return;
      fail(Code::input, "{}, line {}: text after a closing quote; double a quote that belongs to the text", source_,
           line_);
    } else if (c == '\n') {
      ++line_;
    }
    cell.push_back(c);
  }
  fail(Code::input, "{}, line {}: a quoted cell is not closed", source_, row_line_);
}

void CsvRows::read_plain(std::string& cell) {
  std::size_t end = at_;
  while (end < text_.size() && text_[end] != delimiter_ && text_[end] != '\n' && text_[end] != '\r') ++end;
  cell = trimmed(text_.substr(at_, end - at_));
  at_ = end;
}

}  // namespace widelimit
