// Reads attribute values: lists, windows, paddings, dimension labels, shapes, literals.
#include "parser/values_internal.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "parser/literals_internal.h"
#include "parser/shapes_internal.h"
#include "parser/shardings_internal.h"
#include "support/text.h"

namespace hlokit {

#define X(enumerator, text) text,
#define HLOKIT_DEFINE_TEXTS(name, rows)                   \
  absl::Span<const absl::string_view> SpellingsOf(name) { \
    static constexpr absl::string_view kTexts[] = {rows}; \
    return kTexts;                                        \
  }
HLOKIT_ENUMS(HLOKIT_DEFINE_TEXTS)
#undef HLOKIT_DEFINE_TEXTS
#undef X

namespace {

constexpr absl::string_view kAlgorithms[] = {"unset",
                                             "dot_any_f8_any_f8_f32",
                                             "dot_any_f8_any_f8_f32_fast_accum",
                                             "dot_any_f8_any_f8_any",
                                             "dot_any_f8_any_f8_any_fast_accum",
                                             "dot_f16_f16_f16",
                                             "dot_f16_f16_f32",
                                             "dot_bf16_bf16_bf16",
                                             "dot_bf16_bf16_f32",
                                             "dot_bf16_bf16_f32_x3",
                                             "dot_bf16_bf16_f32_x6",
                                             "dot_bf16_bf16_f32_x9",
                                             "dot_tf32_tf32_f32",
                                             "dot_tf32_tf32_f32_x3",
                                             "dot_f32_f32_f32",
                                             "dot_f64_f64_f64"};

// `{mode=highest}`, `{tolerance={atol=0.1,rtol=0,ulps=2}}`; the default mode says nothing.
bool ReadAccuracy(Reader& r, RawText& accuracy) {
  if (!r.Eat('{', "before the accuracy")) return false;
  absl::string_view name;
  if (!r.AttributeName(name, "mode= or tolerance=")) return false;
  if (name == "mode") {
    const std::string mode = absl::AsciiStrToLower(r.PeekWord());
    if (mode != "default" && mode != "highest") return r.Expected("default or highest");
    if (mode == "highest") accuracy.text = "{mode=highest}";
    r.Word();
    return r.Eat('}', "after the accuracy");
  }
  if (name != "tolerance") return r.Expected("mode= or tolerance=");
  constexpr absl::string_view kParts[] = {"atol", "rtol", "ulps"};
  double values[3] = {0, 0, 0};
  const bool ok = r.List('{', '}', [&] {
    const char* at = r.Here();
    absl::string_view part_name;
    if (!r.AttributeName(part_name, "atol=, rtol= or ulps=")) return false;
    const auto* part = std::find(std::begin(kParts), std::end(kParts), part_name);
    if (part == std::end(kParts)) return r.Error(at, "a tolerance has atol, rtol and ulps");
    double& value = values[part - kParts];
    if (!r.Double(value)) return false;
    return (value >= 0 && value < 1e18) ||
           r.RuleError(at, "accuracy-c1", "a tolerance is a number from 0 to 1e18");
  });
  accuracy.text = absl::StrCat("{tolerance={atol=", values[0], ",rtol=", values[1],
                               ",ulps=", static_cast<int64_t>(values[2]), "}}");
  return ok && r.Eat('}', "after the accuracy");
}

// `{kind="sharding", entry={..}, exit={..}}`, in any order.
bool ReadDomain(Reader& r, RawText& domain) {
  const char* start = r.Here();
  std::string kind;
  Sharding entry, exit;
  uint32_t seen = 0;
  const bool ok = r.List('{', '}', [&] {
    const char* at = r.Here();
    absl::string_view name;
    if (!r.AttributeName(name, "kind=, entry= or exit=")) return false;
    const uint32_t bit = name == "kind" ? 1 : name == "entry" ? 2 : name == "exit" ? 4 : 0;
    if (bit == 0 || (seen & bit) != 0)
      return r.Error(at, "a domain has kind, entry and exit, each once");
    seen |= bit;
    if (bit == 1) return r.String(kind);
    return ReadSharding(r, bit == 2 ? entry : exit);
  });
  if (!ok) return false;
  if (seen != 7) return r.RuleError(start, "domain-c10", "a domain needs kind, entry and exit");
  if (kind != "sharding")
    return r.RuleError(start, "domain-c10", "the only kind of domain is \"sharding\"");
  domain.text = TidySpacing({start, static_cast<size_t>(r.raw_position() - start)});
  return true;
}

// Whether no blank stands in what was read from `start` on: to XLA it is one token.
bool IsTight(Reader& r, const char* start) {
  for (const char* p = start; p < r.raw_position(); ++p)
    if (absl::ascii_isspace(*p) || *p == '/')
      return r.Error(start, "no blanks may stand in this value");
  return true;
}

// 3x3, 1: what a window's parts and paddings are made of. Calls item() for each dimension.
template <typename Fn>
bool ByX(Reader& r, Fn item) {
  const char* start = r.Here();
  do {
    if (!item()) return false;
    if (*r.raw_position() != 'x') return IsTight(r, start);
    r.MoveTo(r.raw_position() + 1);
  } while (true);
}

// low_high, each possibly negative.
bool ReadLowHigh(Reader& r, int64_t& low, int64_t& high) {
  if (!r.Int(low)) return false;
  if (*r.raw_position() != '_') return r.Expected("'_' between low and high padding");
  r.MoveTo(r.raw_position() + 1);
  return r.Int(high);
}

struct WindowPart {
  absl::string_view name;
  int64_t WindowDim::*member;
};
constexpr WindowPart kWindowParts[] = {{"size", &WindowDim::size},
                                       {"stride", &WindowDim::stride},
                                       {"lhs_dilate", &WindowDim::base_dilation},
                                       {"rhs_dilate", &WindowDim::window_dilation}};

bool ReadWindowPart(Reader& r, absl::string_view name, Window& window, size_t& count) {
  auto next = [&]() -> WindowDim& {
    if (count == window.size()) window.emplace_back();
    return window[count++];
  };
  if (name == "pad") {
    return ByX(r, [&] {
      WindowDim& dim = next();
      return ReadLowHigh(r, dim.pad_low, dim.pad_high);
    });
  }
  if (name == "rhs_reversal") {
    return ByX(r, [&] {
      int64_t value = 0;
      if (!r.Int(value)) return false;
      next().reversal = value == 1;
      return true;
    });
  }
  for (const WindowPart& part : kWindowParts)
    if (part.name == name) return ByX(r, [&] { return r.Int(next().*part.member); });
  return false;
}

bool IsLabel(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '?'; }

absl::string_view Labels(Reader& r) {
  const char* start = r.Here();
  const char* stop = start;
  while (IsLabel(*stop)) ++stop;
  r.MoveTo(stop);
  return {start, static_cast<size_t>(stop - start)};
}

// One side of dim_labels: two letters and the digits of the spatial dimensions, each once.
bool ReadLabels(Reader& r, char first, char second, int64_t& first_dim, int64_t& second_dim,
                DimVector& spatial) {
  const char* at = r.Here();
  const absl::string_view labels = Labels(r);
  first_dim = second_dim = -1;
  const auto digits = std::count_if(labels.begin(), labels.end(), absl::ascii_isdigit);
  spatial.assign(digits, -1);
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == '?') continue;
    int64_t* slot = labels[i] == first ? &first_dim : labels[i] == second ? &second_dim : nullptr;
    if (absl::ascii_isdigit(labels[i]) && labels[i] - '0' < digits)
      slot = &spatial[labels[i] - '0'];
    if (slot == nullptr)
      return r.Error(at + i, "expected ", absl::string_view(&first, 1), ", ",
                     absl::string_view(&second, 1), " or a digit below ", digits, " in dim_labels");
    if (*slot >= 0) return r.Error(at + i, "the label '", labels.substr(i, 1), "' appears twice");
    *slot = static_cast<int64_t>(i);
  }
  if (first_dim >= 0 && second_dim >= 0) return true;
  return r.Error(at, "dim_labels needs ", absl::string_view(&first, 1), " and ",
                 absl::string_view(&second, 1), " in each part, as in bf01_oi01->bf01");
}

}  // namespace

bool UnknownSpelling(Reader& r, absl::Span<const absl::string_view> spellings) {
  const absl::string_view word = r.PeekWord();
  if (word.empty()) return r.Expected(absl::StrCat("one of ", absl::StrJoin(spellings, ", ")));
  const std::string hint = DidYouMean(word, spellings);
  return r.Error(r.Here(), "unknown value '", word, "', expected one of ",
                 absl::StrJoin(spellings, ", "), hint);
}

std::string TidySpacing(absl::string_view text) {
  std::string out;
  std::vector<bool> tight;  // of each open bracket
  char quote = 0;
  bool blank = false;  // since the last character
  auto is_word = [](char c) {
    return Reader::IsClass(c, kWordPart) || c == '"' || c == '\'' || c == '?';
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      out += c;
      if (c == '\\' && i + 1 < text.size())
        out += text[++i];
      else if (c == quote)
        quote = 0;
      continue;
    }
    if (absl::ascii_isspace(c)) {
      blank = true;
      continue;
    }
    const char last = out.empty() ? ',' : out.back();
    if (blank && ((is_word(last) || last == '}') && is_word(c))) out += ' ';
    if (blank && last == '"' && c == '{') out += ' ';
    blank = false;
    const bool number = i + 1 < text.size() && absl::ascii_isdigit(text[i + 1]);
    if (c == '[' || c == '(' || c == '{') tight.push_back(number || absl::EndsWith(out, "mesh"));
    if ((c == ']' || c == ')' || c == '}') && !tight.empty()) tight.pop_back();
    if (c == '"' || c == '\'') quote = c;
    out += c;
    if (c == ',' && (tight.empty() || !tight.back())) out += ' ';
  }
  return out;
}

bool ReadValue(Reader& r, RawText& raw) {
  if (r.Peek() == '{') {
    const char* at = r.Here();
    r.TryEat('{');
    const absl::string_view first = r.PeekWord();
    r.MoveTo(at);
    return first == "mode" || first == "tolerance" ? ReadAccuracy(r, raw) : ReadDomain(r, raw);
  }
  const absl::string_view word = r.PeekWord();
  const bool truth = word == "true" || word == "false";
  if (!truth &&
      std::find(std::begin(kAlgorithms), std::end(kAlgorithms), word) == std::end(kAlgorithms))
    return UnknownSpelling(r, kAlgorithms);
  r.Word();
  if (word != "unset") raw.text = std::string(word);
  return true;
}

bool ReadValue(Reader& r, DimVector& dims) {
  return r.List('{', '}', [&] { return r.Int(dims.emplace_back()); });
}

bool ReadValue(Reader& r, ShapeIndex& index) {
  return r.List('{', '}', [&] { return r.Int(index.emplace_back()); });
}

bool ReadValue(Reader& r, std::vector<DimVector>& lists) {
  return r.List('{', '}', [&] { return ReadValue(r, lists.emplace_back()); });
}

bool ReadValue(Reader& r, std::vector<bool>& values) {
  auto item = [&] {
    bool value = false;
    if (!r.Bool(value)) return false;
    values.push_back(value);
    return true;
  };
  return r.Peek() == '{' ? r.List('{', '}', item) : item();
}

bool ReadValue(Reader& r, std::vector<Precision>& values) {
  return r.List('{', '}', [&] {
    const std::string word = absl::AsciiStrToLower(r.PeekWord());
    if (!EnumFromText(word, values.emplace_back()))
      return UnknownSpelling(r, SpellingsOf(Precision()));
    r.Word();
    return true;
  });
}

bool ReadValue(Reader& r, Shape& shape) { return ReadShape(r, shape); }

bool ReadValue(Reader& r, std::vector<Shape>& shapes) {
  return r.List('{', '}', [&] { return ReadShape(r, shapes.emplace_back()); });
}

bool ReadValue(Reader& r, SharedLiteral& literal) {
  Literal value;
  bool elided = false;
  if (!ReadTypedLiteral(r, value, elided)) return false;
  if (!elided) literal = std::make_shared<const Literal>(std::move(value));
  return true;
}

bool ReadValue(Reader& r, Window& window) {
  return r.Eat('{', "before the window") && ReadWindowParts(r, window) &&
         r.Eat('}', "after the window");
}

bool ReadWindowParts(Reader& r, Window& window) {
  uint32_t seen = 0;
  while (r.Peek() != '}' && !r.AtEnd()) {
    const char* at = r.Here();
    absl::string_view name;
    if (!r.AttributeName(name, "a part of a window")) return false;
    constexpr absl::string_view kNames[] = {"size",       "stride",     "pad",
                                            "lhs_dilate", "rhs_dilate", "rhs_reversal"};
    const auto* known = std::find(std::begin(kNames), std::end(kNames), name);
    if (known == std::end(kNames)) {
      r.MoveTo(at);
      return r.Expected(absl::StrCat("a part of a window (", absl::StrJoin(kNames, ", "), ")"));
    }
    const uint32_t bit = 1u << (known - kNames);
    if ((seen & bit) != 0) return r.Error(at, "the window gives ", name, " twice");
    const size_t before = window.size();
    size_t count = 0;
    if (!ReadWindowPart(r, name, window, count)) return false;
    if (seen != 0 && count != before)
      return r.Error(at, name, " has ", count, " dimensions, the parts before it ", before);
    seen |= bit;
  }
  return true;
}

bool ReadValue(Reader& r, ConvDims& dims) {
  const char* at = r.Here();
  if (!ReadLabels(r, 'b', 'f', dims.input_batch, dims.input_feature, dims.input_spatial) ||
      !r.Eat('_', "between the input's and the kernel's labels") ||
      !ReadLabels(r, 'i', 'o', dims.kernel_input_feature, dims.kernel_output_feature,
                  dims.kernel_spatial))
    return false;
  if (!r.TryEat("->")) return r.Expected("'->' before the output's labels");
  if (!ReadLabels(r, 'b', 'f', dims.output_batch, dims.output_feature, dims.output_spatial))
    return false;
  if (!IsTight(r, at)) return false;
  if (dims.input_spatial.size() == dims.kernel_spatial.size() &&
      dims.input_spatial.size() == dims.output_spatial.size())
    return true;
  return r.Error(at, "input, kernel and output have ", dims.input_spatial.size(), ", ",
                 dims.kernel_spatial.size(), " and ", dims.output_spatial.size(),
                 " spatial dimensions");
}

bool ReadValue(Reader& r, PaddingConfig& padding) {
  return ByX(r, [&] {
    PaddingDim& dim = padding.emplace_back();
    if (!ReadLowHigh(r, dim.low, dim.high)) return false;
    if (*r.raw_position() != '_') return true;
    r.MoveTo(r.raw_position() + 1);
    const char* at = r.raw_position();
    return r.Int(dim.interior) &&
           (dim.interior >= 0 || r.RuleError(at, "pad-c4", "interior padding is negative"));
  });
}

bool ReadValue(Reader& r, SliceSpec& slice) {
  return r.List('{', '}', [&] {
    SliceDim& dim = slice.emplace_back();
    return r.Eat('[', "before a range") && r.Int(dim.start) &&
           r.Eat(':', "between start and limit") && r.Int(dim.limit) &&
           (!r.TryEat(':') || r.Int(dim.stride)) && r.Eat(']', "after a range");
  });
}

bool ReadValue(Reader& r, IntPairs& pairs) {
  return r.List('{', '}', [&] {
    auto& pair = pairs.emplace_back();
    return r.Eat('{', "before a pair") && r.Int(pair.first) && r.Eat(',', "in a pair") &&
           r.Int(pair.second) && r.Eat('}', "after a pair");
  });
}

bool ReadValue(Reader& r, std::vector<OutputAlias>& aliases) {
  return r.List('{', '}', [&] {
    OutputAlias& alias = aliases.emplace_back();
    return ReadValue(r, alias.output) && r.Eat(':', "after the output index") &&
           r.Eat('(', "before the operand") && r.Int(alias.operand) &&
           r.Eat(',', "after the operand") && ReadValue(r, alias.operand_index) &&
           r.Eat(')', "after the operand's index");
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
