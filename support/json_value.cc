// A recursive descent over JSON's five productions; depth is bounded, so recursion is too.
#include "support/json_value.h"

#include <cmath>
#include <tuple>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "support/display.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int kMaxDepth = 64;

void AppendUtf8(uint32_t code, std::string& out) {
  const auto tail = [&](int shift) {
    out.push_back(static_cast<char>(0x80 | ((code >> shift) & 0x3F)));
  };
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out.push_back(static_cast<char>(0xC0 | (code >> 6)));
    tail(0);
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | (code >> 12)));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0 | (code >> 18)));
    tail(12);
    tail(6);
    tail(0);
  }
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

class JsonParser {
 public:
  JsonParser(absl::string_view text, uint32_t base) : text_(text), base_(base) {}

  absl::StatusOr<JsonValue> Run() {
    ASSIGN_OR_RETURN(JsonValue value, Value(0));
    SkipBlanks();
    if (at_ < text_.size()) return Error(at_, "text after the end of the JSON value");
    return value;
  }

 private:
  template <typename... Parts>
  absl::Status Error(size_t at, const Parts&... parts) const {
    const auto length = static_cast<uint32_t>(at < text_.size() ? 1 : 0);
    return WithPlace(InvalidArgument(parts...), {base_ + static_cast<uint32_t>(at), length});
  }

  void SkipBlanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool Take(char c) {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  absl::StatusOr<JsonValue> Value(int depth) {
    SkipBlanks();
    const size_t start = at_;
    if (depth > kMaxDepth) return Error(start, "JSON nests deeper than ", kMaxDepth);
    ASSIGN_OR_RETURN(JsonValue value, Unplaced(depth));
    value.place = {base_ + static_cast<uint32_t>(start), static_cast<uint32_t>(at_ - start)};
    return value;
  }

  absl::StatusOr<JsonValue> Unplaced(int depth) {
    if (at_ >= text_.size()) return Error(at_, "expected a JSON value, found the end of the text");
    JsonValue value;
    if (Take('{')) return Object(depth);
    if (Take('[')) return Array(depth);
    if (text_[at_] == '"') {
      value.kind = JsonValue::Kind::kString;
      ASSIGN_OR_RETURN(value.text, String());
      return value;
    }
    if (text_[at_] == '-' || IsDigit(text_[at_])) return Number();
    for (const auto& [word, kind, boolean] : {std::tuple("null", JsonValue::Kind::kNull, false),
                                              std::tuple("true", JsonValue::Kind::kBool, true),
                                              std::tuple("false", JsonValue::Kind::kBool, false)}) {
      const absl::string_view spelled = word;
      if (text_.substr(at_, spelled.size()) != spelled) continue;
      at_ += spelled.size();
      value.kind = kind;
      value.boolean = boolean;
      return value;
    }
    return Error(at_, "expected a JSON value, found ", Quotable(text_.substr(at_, 1)));
  }

  absl::StatusOr<JsonValue> Object(int depth) {
    JsonValue object;
    object.kind = JsonValue::Kind::kObject;
    if (Take('}')) return object;
    absl::flat_hash_set<std::string> names;
    do {
      SkipBlanks();
      const size_t start = at_;
      if (at_ >= text_.size() || text_[at_] != '"')
        return Error(at_, "expected the name of a member, in quotes");
      ASSIGN_OR_RETURN(std::string name, String());
      if (!names.insert(name).second)
        return Error(start, "member \"", Quotable(name), "\" comes twice");
      if (!Take(':')) return Error(at_, "expected ':' after the name of a member");
      ASSIGN_OR_RETURN(JsonValue value, Value(depth + 1));
      object.members.push_back({std::move(name), std::move(value)});
    } while (Take(','));
    if (!Take('}')) return Error(at_, "expected ',' or '}'");
    return object;
  }

  absl::StatusOr<JsonValue> Array(int depth) {
    JsonValue array;
    array.kind = JsonValue::Kind::kArray;
    if (Take(']')) return array;
    do {
      ASSIGN_OR_RETURN(JsonValue value, Value(depth + 1));
      array.items.push_back(std::move(value));
    } while (Take(','));
    if (!Take(']')) return Error(at_, "expected ',' or ']'");
    return array;
  }

  absl::StatusOr<JsonValue> Number() {
    const size_t start = at_;
    const auto digits = [&] {
      const size_t first = at_;
      while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
      return at_ > first;
    };
    if (text_[at_] == '-') ++at_;
    const size_t whole = at_;
    bool good = digits() && (text_[whole] != '0' || at_ == whole + 1);
    if (good && at_ < text_.size() && text_[at_] == '.') good = (++at_, digits());
    if (good && at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      good = digits();
    }
    JsonValue value;
    value.kind = JsonValue::Kind::kNumber;
    value.text = std::string(text_.substr(start, at_ - start));
    if (!good || !absl::SimpleAtod(value.text, &value.number) || !std::isfinite(value.number))
      return Error(start, "not a number: ", Quotable(value.text));
    return value;
  }

  absl::StatusOr<uint32_t> Hex4() {
    uint32_t code = 0;
    if (text_.size() - at_ < 4 || !absl::SimpleHexAtoi(text_.substr(at_, 4), &code))
      return Error(at_, "expected four hexadecimal digits after \\u");
    at_ += 4;
    return code;
  }

  // After the backslash.
  absl::Status Escape(std::string& out) {
    if (at_ >= text_.size()) return Error(at_, "a string without its closing quote");
    const char c = text_[at_++];
    constexpr absl::string_view kLetters = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    if (const size_t known = kLetters.find(c); known != absl::string_view::npos) {
      out.push_back(kMeant[known]);
      return absl::OkStatus();
    }
    if (c != 'u')
      return Error(at_ - 1, "no escape of JSON: \\", Quotable(text_.substr(at_ - 1, 1)));
    ASSIGN_OR_RETURN(uint32_t code, Hex4());
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
      at_ += 2;
      ASSIGN_OR_RETURN(const uint32_t low, Hex4());
      if (low < 0xDC00 || low > 0xDFFF) return Error(at_ - 4, "half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xD800 && code < 0xE000) {
      return Error(at_ - 4, "half of a surrogate pair");
    }
    AppendUtf8(code, out);
    return absl::OkStatus();
  }

  // At the opening quote.
  absl::StatusOr<std::string> String() {
    const size_t start = at_++;
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      const Utf8Char c = DecodeUtf8(text_.substr(at_));
      if (!c.valid) return Error(at_, "a byte that is no UTF-8 inside a string");
      if (c.code < 0x20) return Error(at_, "a control byte inside a string");
      at_ += c.size;
      if (c.code != '\\') {
        out.append(text_.data() + at_ - c.size, c.size);
      } else {
        RETURN_IF_ERROR(Escape(out));
      }
    }
    if (at_ >= text_.size()) return Error(start, "a string without its closing quote");
    ++at_;
    return out;
  }

  const absl::string_view text_;
  const uint32_t base_;
  size_t at_ = 0;
};

}  // namespace

const JsonValue* JsonValue::Find(absl::string_view name) const {
  for (const auto& [key, value] : members)
    if (key == name) return &value;
  return nullptr;
}

absl::string_view KindName(JsonValue::Kind kind) {
  constexpr absl::string_view kNames[] = {"null",     "true or false", "a number",
                                          "a string", "an array",      "an object"};
  return kNames[static_cast<int>(kind)];
}

absl::StatusOr<JsonValue> ParseJson(absl::string_view text, uint32_t base) {
  return JsonParser(text, base).Run();
}

std::string JsonQuote(absl::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const Utf8Char c = DecodeUtf8(text);
    const absl::string_view bytes = text.substr(0, c.size);
    text.remove_prefix(c.size);
    if (!c.valid) {
      out += "\\ufffd";
    } else if (c.code == '"' || c.code == '\\') {
      out += '\\';
      out.append(bytes.data(), bytes.size());
    } else if (c.code < 0x20) {
      absl::StrAppendFormat(&out, "\\u%04x", c.code);
    } else {
      out.append(bytes.data(), bytes.size());
    }
  }
  return out + "\"";
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
