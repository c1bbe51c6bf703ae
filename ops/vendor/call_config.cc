// A recursive-descent reader of backend_config, in both spellings that occur: JSON, and MLIR
// dictionaries.
//   {"m": 2, "name": "x"}        {m = 2 : i64, name = "x", list = array<i64: 1, 2>}
// Types are skipped; a name alone is a flag, whose value is 1. Nesting is limited to kMaxDepth.
#include "ops/vendor/call_config.h"

#include <cctype>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int kMaxDepth = 50;

class ConfigReader {
 public:
  explicit ConfigReader(absl::string_view text) : rest_(text) {}

  absl::StatusOr<ConfigValue> Value(int depth) {
    if (depth > kMaxDepth) return InvalidArgument("backend_config nests too deep");
    Skip();
    if (Try('{')) return Map(depth);
    if (Try('[')) return List(']', depth);
    ConfigValue value;
    if (Peek() == '"') {
      ASSIGN_OR_RETURN(value.string, Quoted());
      value.kind = ConfigValue::Kind::kString;
      if (absl::SimpleAtod(value.string, &value.number))
        if (!absl::SimpleAtoi(value.string, &value.integer))
          value.integer = static_cast<int64_t>(value.number);
    } else if (absl::ConsumePrefix(&rest_, "array<")) {
      Word();  // the type of the elements
      Try(':');
      return List('>', depth);
    } else if (absl::ConsumePrefix(&rest_, "dense<")) {
      ASSIGN_OR_RETURN(value, Value(depth + 1));
      if (!Try('>')) return Wrong(">");
    } else {
      RETURN_IF_ERROR(Bare(value));
    }
    if (Try(':')) SkipType();
    return value;
  }

  bool AtEnd() {
    Skip();
    return rest_.empty();
  }
  absl::Status Wrong(absl::string_view expected) const {
    return InvalidArgument("backend_config: expected ", expected, " at '", rest_.substr(0, 20),
                           "'");
  }

 private:
  void Skip() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0])))
      rest_.remove_prefix(1);
  }
  char Peek() {
    Skip();
    return rest_.empty() ? 0 : rest_[0];
  }
  bool Try(char c) {
    if (Peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  absl::string_view Word() {
    Skip();
    size_t n = 0;
    while (n < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[n])) ||
            absl::string_view("_.+-$@#!").find(rest_[n]) != absl::string_view::npos))
      ++n;
    const absl::string_view word = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return word;
  }
  // `f32`, `tensor<2xi64>`, `vector<4xf32>`
  void SkipType() {
    Word();
    if (!Try('<')) return;
    for (int open = 1; open > 0 && !rest_.empty(); rest_.remove_prefix(1))
      open += rest_[0] == '<' ? 1 : rest_[0] == '>' ? -1 : 0;
  }
  absl::StatusOr<std::string> Quoted() {
    Try('"');
    std::string text;
    while (!rest_.empty() && rest_[0] != '"') {
      if (rest_[0] == '\\' && rest_.size() > 1) {
        rest_.remove_prefix(1);
        text += rest_[0] == 'n' ? '\n' : rest_[0] == 't' ? '\t' : rest_[0];
      } else {
        text += rest_[0];
      }
      rest_.remove_prefix(1);
    }
    if (rest_.empty()) return Wrong("the end of a string");
    rest_.remove_prefix(1);
    return text;
  }
  // A number, true, false, null, or a name that stands for itself.
  absl::Status Bare(ConfigValue& value) {
    const std::string word(Word());
    if (word.empty()) return Wrong("a value");
    value.kind = ConfigValue::Kind::kInteger;
    if (word == "true" || word == "false") {
      value.integer = word == "true";
    } else if (!absl::SimpleAtoi(word, &value.integer)) {
      char* end = nullptr;
      value.kind = ConfigValue::Kind::kNumber;
      value.number = std::strtod(word.c_str(), &end);
      if (*end == 0) return absl::OkStatus();
      value = ConfigValue();
      if (word == "null") return absl::OkStatus();
      value.kind = ConfigValue::Kind::kString;
      value.string = word;
      return absl::OkStatus();
    }
    value.number = static_cast<double>(value.integer);
    return absl::OkStatus();
  }
  absl::StatusOr<ConfigValue> List(char close, int depth) {
    ConfigValue list;
    list.kind = ConfigValue::Kind::kList;
    while (!Try(close)) {
      ASSIGN_OR_RETURN(ConfigValue element, Value(depth + 1));
      list.list.push_back(std::move(element));
      if (!Try(',') && Peek() != close) return Wrong("',' in a list");
    }
    return list;
  }
  absl::StatusOr<ConfigValue> Map(int depth) {
    ConfigValue map;
    map.kind = ConfigValue::Kind::kMap;
    while (!Try('}')) {
      std::string name;
      if (Peek() == '"') {
        ASSIGN_OR_RETURN(name, Quoted());
      } else {
        name = std::string(Word());
      }
      if (name.empty()) return Wrong("a name");
      ConfigValue value;
      value.kind = ConfigValue::Kind::kInteger;  // a name alone is a flag
      value.integer = 1;
      value.number = 1;
      if (Try('=') || Try(':')) {
        ASSIGN_OR_RETURN(value, Value(depth + 1));
      }
      map.map.push_back({std::move(name), std::move(value)});
      if (!Try(',') && Peek() != '}') return Wrong("',' between entries");
    }
    return map;
  }

  absl::string_view rest_;
};

}  // namespace

const ConfigValue* ConfigValue::Find(absl::string_view name) const {
  for (const auto& [key, value] : map)
    if (key == name) return &value;
  return nullptr;
}

double ConfigValue::NumberOr(absl::string_view name, double otherwise) const {
  const ConfigValue* value = Find(name);
  if (value == nullptr || value->kind == Kind::kNone) return otherwise;
  return value->number;
}

std::string ConfigValue::StringOr(absl::string_view name, absl::string_view otherwise) const {
  const ConfigValue* value = Find(name);
  return value != nullptr && value->kind == Kind::kString ? value->string : std::string(otherwise);
}

std::vector<int64_t> ConfigValue::IntegersOf(absl::string_view name) const {
  std::vector<int64_t> integers;
  if (const ConfigValue* value = Find(name))
    for (const ConfigValue& element : value->list) integers.push_back(element.integer);
  return integers;
}

absl::StatusOr<ConfigValue> ParseCallConfig(absl::string_view text) {
  ConfigValue none;
  none.kind = ConfigValue::Kind::kMap;
  text = absl::StripLeadingAsciiWhitespace(text);
  if (text.empty() || text[0] != '{') return none;
  ConfigReader reader(text);
  ASSIGN_OR_RETURN(ConfigValue config, reader.Value(0));
  if (!reader.AtEnd()) return reader.Wrong("the end");
  return config;
}

std::string ActivationName(absl::string_view name) {
  // In the order of cuDNN's numbers, as XLA counts them.
  constexpr absl::string_view kNumbered[] = {"NONE", "SIGMOID",  "RELU", "RELU6",     "RELUX",
                                             "TANH", "BANDPASS", "ELU",  "LEAKYRELU", "GELUEXACT"};
  size_t number;
  if (absl::SimpleAtoi(name, &number) && number < std::size(kNumbered))
    return std::string(kNumbered[number]);
  absl::ConsumePrefix(&name, "k");
  return absl::AsciiStrToUpper(name);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
