// Reads where values came from before passes changed the module.
#include "parser/origins_internal.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "parser/values_internal.h"

namespace hlokit {
namespace {

struct OriginalArray {
  std::string instruction;
  ShapeIndex index;
};

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

// Tuples without a value in them leave nothing in `text`.
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
  std::string inside;
  do {
    if (r.Peek() == ',' || r.Peek() == ')') continue;
    std::string element;
    if (!ReadTree(r, element)) return false;
    if (!element.empty()) absl::StrAppend(&inside, inside.empty() ? "" : ", ", element);
  } while (r.TryEat(','));
  if (!inside.empty()) text = absl::StrCat("(", inside, ")");
  return r.Eat(')', "after the original values of a tuple");
}

}  // namespace

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
