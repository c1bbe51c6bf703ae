// Pretty operations by their rows in forms.def; those without one are `OP %a, %b {attributes} :
// types`.
//
// A row says in items what stands behind the operation's name. FormReader goes through the items
// from left to right and takes what each asks for:
//   "% , dims = ints:permutation {} :last"
//    %0, dims = [1, 0] {a = 1} : (tensor<2x3xf32>) -> tensor<3x2xf32>
// `%` takes operands, `,` and `dims` and `=` themselves, `ints:permutation` the attribute of that
// name, `{}` a dictionary if there is one, `:last` the types. forms.def explains every item.
// A new operation of StableHLO whose text follows the usual manner is one row and no code.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "stablehlo/text/text_reader.h"
#include "stablehlo/text/text_reader_internal.h"

namespace hlokit {

absl::string_view FormOf(absl::string_view operation) {
  static const auto& kForms = *new absl::flat_hash_map<absl::string_view, absl::string_view>{
#define MLIR_FORM(operation, form) {operation, form},
#include "stablehlo/text/forms.def"
#undef MLIR_FORM
  };
  const auto found = kForms.find(operation);
  return found == kForms.end() ? "" : found->second;
}

// Reads what one form says.
class FormReader {
 public:
  FormReader(MlirTextReader& reader, MlirOperation& op) : r_(reader), op_(op) {}

  bool Read(absl::string_view form) {
    bool skipping = false;
    for (absl::string_view item : absl::StrSplit(form, ' ')) {
      if (skipping || item == ";") {
        skipping = skipping && item != ";";
      } else if (item.size() > 1 && item[0] == '?' && item[1] != ',') {
        skipping = !TryGroup(item.substr(1));
      } else if (!ReadItem(item)) {
        return false;
      }
    }
    return true;
  }

 private:
  bool TryGroup(absl::string_view word) {
    const uint32_t start = r_.s_.offset();
    if (r_.s_.Try(",") && r_.s_.TryWord(word)) return true;
    r_.s_.Rewind(start);
    return false;
  }

  bool ReadItem(absl::string_view item) {
    if (item == "%") return r_.ReadOperands(op_.operands);
    if (item == "{}") return r_.ReadOptionalDictionary(op_.attributes);
    if (item == "slice") return ReadSlice();
    if (item == "bits") return ReadBits();
    if (item[0] == ':') return r_.ReadTypes(op_, item);
    if (absl::ConsumePrefix(&item, "?,") && !r_.s_.Try(",")) return true;
    const size_t colon = item.find(':');
    if (colon == item.npos) {
      const bool word = item.size() > 1;
      return word ? r_.s_.ExpectWord(item) : r_.s_.Expect(item);
    }
    const MlirAttribute* value = nullptr;
    if (!ReadValue(item.substr(0, colon), value)) return false;
    const absl::string_view name = item.substr(colon + 1);
    op_.attributes.emplace_back(std::string(name.data(), name.size()), value);
    return true;
  }

  bool ReadValue(absl::string_view kind, const MlirAttribute*& value) {
    using Kind = MlirAttribute::Kind;
    std::string text;
    if (kind == "ints") {
      std::vector<int64_t> ints;
      if (!r_.ReadIntList(ints)) return false;
      value = r_.AddInts(std::move(ints));
    } else if (kind == "int") {
      int64_t number = 0;
      if (!r_.s_.Int(number)) return false;
      value = r_.AddInt(number);
      const MlirType* type = nullptr;
      if (r_.s_.Looking(":") && r_.s_.Try(": i64")) return type == nullptr;
    } else if (kind == "word") {
      const absl::string_view word = r_.s_.Word();
      if (word.empty()) return r_.s_.Fail("expected a keyword");
      value = r_.AddText(Kind::kEnum, std::string(word.data(), word.size()));
    } else if (kind == "symbol") {
      if (!r_.ReadSymbol(text)) return false;
      value = r_.AddText(Kind::kSymbol, std::move(text));
    } else if (kind == "string") {
      if (!r_.s_.String(text)) return false;
      value = r_.AddText(Kind::kString, std::move(text));
    } else if (kind == "any" && r_.s_.Looking("<")) {
      return ReadBareSharding(value);
    } else if (kind == "axes") {
      return ReadAxes(value);
    } else {
      return r_.ReadAttribute(value);
    }
    return true;
  }

  // `<@mesh, [{"x"}, {}]>`: an sdy.sharding without its name.
  bool ReadBareSharding(const MlirAttribute*& value) {
    r_.s_.Expect("<");
    const uint32_t start = r_.s_.offset();
    if (!r_.s_.SkipBalanced()) return false;
    const absl::string_view body = r_.s_.From(start);
    MlirAttribute sharding;
    sharding.kind = MlirAttribute::Kind::kOpaque;
    sharding.tag = "sdy.sharding";
    sharding.text.assign(body.data(), body.size() - 1);
    value = r_.module_.Add(std::move(sharding));
    return true;
  }

  // `[{"x"}, {}]` with its brackets.
  bool ReadAxes(const MlirAttribute*& value) {
    if (!r_.s_.Looking("{") && !r_.s_.Looking("[")) return r_.s_.Fail("expected axes in brackets");
    r_.s_.Skip();
    const uint32_t start = r_.s_.offset();
    if (!r_.s_.Try("[")) r_.s_.Expect("{");
    if (!r_.s_.SkipBalanced()) return false;
    const absl::string_view body = r_.s_.From(start);
    value = r_.AddText(MlirAttribute::Kind::kOpaque, std::string(body.data(), body.size()));
    return true;
  }

  bool ReadSlice() {
    std::vector<int64_t> start, limit, stride;
    if (!r_.s_.Expect("[")) return false;
    if (!r_.s_.Try("]")) {
      do {
        stride.push_back(1);
        if (!r_.s_.Int(start.emplace_back()) || !r_.s_.Expect(":") ||
            !r_.s_.Int(limit.emplace_back()))
          return false;
        if (r_.s_.Try(":") && !r_.s_.Int(stride.back())) return false;
      } while (r_.s_.Try(","));
      if (!r_.s_.Expect("]")) return false;
    }
    op_.attributes.emplace_back("start_indices", r_.AddInts(std::move(start)));
    op_.attributes.emplace_back("limit_indices", r_.AddInts(std::move(limit)));
    op_.attributes.emplace_back("strides", r_.AddInts(std::move(stride)));
    return true;
  }

  bool ReadBits() {
    int64_t exponent = 0, mantissa = 0;
    if (!r_.s_.Expect("e") || !r_.s_.DigitsHere(exponent) || !r_.s_.TryHere("m") ||
        !r_.s_.DigitsHere(mantissa))
      return r_.s_.Fail("expected a format such as e5m10");
    op_.attributes.emplace_back("exponent_bits", r_.AddInt(exponent));
    op_.attributes.emplace_back("mantissa_bits", r_.AddInt(mantissa));
    return true;
  }

  MlirTextReader& r_;
  MlirOperation& op_;
};

// `: (a, b) -> c`, `: a, b -> c`, `: a, b`; the rule is one of forms.def.
bool MlirTextReader::ReadTypes(MlirOperation& op, absl::string_view rule) {
  if (!s_.Try(":")) return op.operands.empty() && rule != ":last" ? true : s_.Expect(":");
  std::vector<const MlirType*> in, out;
  if (s_.Try("(")) {
    if (!ReadTypeList(in)) return false;
    if (!s_.Looking("->")) return s_.Fail("expected '->' and the types of the results");
  } else {
    do {
      in.emplace_back();
      if (!ReadType(in.back())) return false;
    } while (s_.Try(","));
  }
  if (s_.Try("->")) {
    if (!CheckOperandTypes(op, in)) return false;
    if (s_.Try("(")) return ReadTypeList(out) && SetResults(op, out);
    out.emplace_back();
    return ReadType(out.back()) && SetResults(op, out);
  }
  if (rule == ":none") return CheckOperandTypes(op, in);
  if (rule == ":all") return CheckOperandTypes(op, in) && SetResults(op, in);
  return SetResults(op, {in.back()});
}

namespace {

// Within functions the dialect func may go without its name.
absl::string_view FullName(absl::string_view word) {
  if (word == "module") return "builtin.module";
  if (word == "func") return "func.func";
  if (word == "call") return "func.call";
  if (word == "return") return "func.return";
  return word;
}

}  // namespace

bool MlirTextReader::ReadPretty(absl::string_view word, MlirOperation& op) {
  const bool versioned = absl::StartsWith(word, "vhlo.");
  const bool renamed = versioned || absl::StartsWith(word, "mhlo.");
  op.name = renamed ? module_.Keep(CommonName(word)) : FullName(word);
  if (versioned && op.name == "func.func") return ReadVhloFunction(op);
  const size_t dot = op.name.find('.');
  const absl::string_view dialect = op.name.substr(0, std::min(dot, op.name.size()));
  if (dot == op.name.npos || (dialect != "stablehlo" && dialect != "chlo" && dialect != "func" &&
                              dialect != "sdy" && dialect != "builtin" && dialect != "mhlo" &&
                              dialect != "vhlo" && dialect != "check" && dialect != "interpreter"))
    return s_.FailAt(op.place, "there is no operation ", op.name);
  bool special = true;
  if (!ReadSpecial(op, special)) return false;
  if (special) return true;
  const absl::string_view form = FormOf(op.name);
  return FormReader(*this, op).Read(form.empty() ? "% {} :last" : form);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
