// Reads where values came from before passes changed the module.
//
//   origin={({"a" {0}}, {"b"})}      array 0 is part 0 of what was %a, array 1 is what was %b
// A tree of the instruction's shape with a name, or nothing, at each array. Places without a value
// print as nothing, and trailing ones are left out, as XLA does. A recovery table of the header
// maps such names to small modules that compute an old value from new ones; these stand in quotes,
// on lines of their own, so that quotes inside them need no escape.
#include "parser/origins_internal.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "parser/normalize.h"
#include "parser/parser.h"
#include "parser/values_internal.h"

namespace hlokit {
namespace {

using OriginalArray = OriginRecovery::Array;

// `{"name" {0,1}}`; nothing between the braces: no value.
bool ReadArray(Reader& r, OriginalArray& array) {
  if (!r.Eat('{', "before the original value")) return false;
  const char next = r.Peek();
  if (next == '"' || next == '\'') {
    if (!r.String(array.instruction)) return false;
    if (r.Peek() == '{' && !ReadValue(r, array.index)) return false;
  }
  return r.Eat('}', "after the original value");
}

std::string TextOf(const OriginalArray& array) {
  if (array.instruction.empty()) return "{}";
  if (array.index.empty()) return absl::StrCat("{\"", array.instruction, "\"}");
  return absl::StrCat("{\"", array.instruction, "\" {", absl::StrJoin(array.index, ","), "}}");
}

// Places without a value leave nothing in `text`; in a tuple, such are `()` in front of others and
// left out after them.
bool ReadTree(Reader& r, std::string& text) {
  Reader::Depth depth(r);
  if (!depth.ok()) return false;
  if (r.Peek() == '{') {
    OriginalArray array;
    if (!ReadArray(r, array)) return false;
    text = TextOf(array);
    return true;
  }
  if (!r.Eat('(', "or '{' before an original value")) return false;
  std::vector<std::string> elements;
  do {
    std::string& element = elements.emplace_back();
    if (r.Peek() != ',' && r.Peek() != ')' && !ReadTree(r, element)) return false;
  } while (r.TryEat(','));
  text = OriginTuple(std::move(elements));
  return r.Eat(')', "after the original values of a tuple");
}

// The quote that ends a text which starts after `open` and stands on lines of its own; null where
// none does. XLA prints modules so, whatever quotes are in them.
const char* LoneQuote(const Reader& r, const char* open) {
  if (open[1] != '\n') return nullptr;
  const absl::string_view text(open, r.end() - open);
  for (size_t line = 1; line != absl::string_view::npos; line = text.find('\n', line + 1)) {
    const size_t first = text.find_first_not_of(" \n", line);
    if (first == absl::string_view::npos) return nullptr;
    if (text[first] == '"' && text.substr(first + 1, 1) == "\n") return open + first;
  }
  return nullptr;
}

bool ReadRecoveryModule(Reader& r, const ParseOptions& options, OriginRecovery& row) {
  Reader::Depth depth(r);
  if (!depth.ok()) return false;
  const char* open = r.Here();
  std::string text;
  if (*open != '"' && *open != '\'') return r.Expected("a module in quotes");
  const char* lone = LoneQuote(r, open);
  const char* quote = lone == nullptr ? nullptr : std::find(open + 1, lone, '"');
  if (lone == nullptr || quote == lone || quote[-1] == '\\') {
    if (!r.String(text)) return false;
  } else {
    text.assign(open + 1, lone);
    r.MoveTo(lone + 1);
  }
  auto module = ParseModule(text, options);
  if (!module.ok())
    return r.Error(open, "the module in the recovery table: ", module.status().message());
  row.module = *std::move(module);
  return true;
}

auto KeyOf(const OriginRecovery& row) { return std::tie(row.lost.instruction, row.lost.index); }

}  // namespace

bool ReadRecoveryTable(Reader& r, const ParseOptions& options, std::vector<OriginRecovery>& table) {
  if (!r.Eat('{', "before the table")) return false;
  while (!r.TryEat('}')) {
    OriginRecovery& row = table.emplace_back();
    if (!ReadArray(r, row.lost) || !r.Eat(':', "after the lost value") || !ReadArray(r, row.from))
      return false;
    if (r.TryEat(',') && !ReadRecoveryModule(r, options, row)) return false;
  }
  Normalize(table);
  return true;
}

void Normalize(std::vector<OriginRecovery>& table) {
  std::stable_sort(table.begin(), table.end(),
                   [](const auto& a, const auto& b) { return KeyOf(a) < KeyOf(b); });
  const auto same = [](const auto& a, const auto& b) { return KeyOf(a) == KeyOf(b); };
  table.erase(std::unique(table.begin(), table.end(), same), table.end());
}

std::string OriginTuple(std::vector<std::string> elements) {
  while (!elements.empty() && elements.back().empty()) elements.pop_back();
  if (elements.empty()) return "";
  for (std::string& element : elements)
    if (element.empty()) element = "()";
  return absl::StrCat("(", absl::StrJoin(elements, ", "), ")");
}

bool ReadOrigin(Reader& r, std::string& text) {
  if (!r.Eat('{', "before the origin")) return false;
  if (r.TryEat('[')) {
    if (!r.TryEatWord("synthetic_call")) return r.Expected("synthetic_call");
    text = "{[synthetic_call]}";
    return r.Eat(']', "after synthetic_call") && r.Eat('}', "after the origin");
  }
  std::string tree;
  if (r.Peek() != '}' && !ReadTree(r, tree)) return false;
  text = absl::StrCat("{", tree.empty() ? "()" : tree, "}");
  return r.Eat('}', "after the origin");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
