// Reads attribute values by their type: enums by their spellings, lists, windows, paddings,
// dimension labels, accuracies, sparsity. ReadValue is overloaded for each type that a field can
// have; a new type needs a reader here, a printer in printer/attribute_text.cc and a row in
// proto/attribute_values.cc.
#include "parser/values_internal.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "parser/literals_internal.h"
#include "parser/shapes_internal.h"
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

// Whether no blank stands in what was read from `start` on: to XLA it is one token.
bool IsTight(Reader& r, const char* start) {
  for (const char* p = start; p < r.raw_position(); ++p)
    if (absl::ascii_isspace(*p) || *p == '/')
      return r.Error(start, "no blanks may stand in this value");
  return true;
}

// `{atol=0.1,rtol=0,ulps=2}`, parts left out being 0.
bool ReadTolerance(Reader& r, ResultAccuracy& accuracy) {
  accuracy.kind = ResultAccuracy::Kind::kTolerance;
  return r.List('{', '}', [&] {
    const char* at = r.Here();
    absl::string_view name;
    double value = 0;
    if (!r.AttributeName(name, "atol=, rtol= or ulps=")) return false;
    if (name != "atol" && name != "rtol" && name != "ulps")
      return r.Error(at, "a tolerance has atol, rtol and ulps");
    if (!r.AttributeNumber(value)) return false;
    if (!(value >= 0) || (name == "ulps" && value > 1e18))
      return r.RuleError(at, "accuracy-c1", "a tolerance is a number from 0, in ulps up to 1e18");
    if (name == "ulps") accuracy.ulps = static_cast<int64_t>(value);
    if (name != "ulps") (name == "atol" ? accuracy.atol : accuracy.rtol) = value;
    return true;
  });
}

// `{sparsity=2x4 dimension=1 stride=3}`; parts left out stay as they are, of equal ones the last
// counts.
bool ReadOperandSparsity(Reader& r, OperandSparsity& sparsity) {
  if (!r.Eat('{', "before the sparsity")) return false;
  while (!r.TryEat('}')) {
    const char* at = r.Here();
    absl::string_view name;
    if (!r.AttributeName(name, "sparsity=, dimension= or stride=")) return false;
    const char* value = r.Here();
    bool ok = false;
    if (name == "sparsity")
      ok = r.Int(sparsity.num_non_zero) && r.Eat('x', "between the two sizes") &&
           r.Int(sparsity.block_size) && IsTight(r, value) &&
           ((sparsity.num_non_zero >= 0 && sparsity.block_size >= 0) ||
            r.Error(value, "a size cannot be negative"));
    else if (name == "dimension" || name == "stride")
      ok = r.Int(name == "stride" ? sparsity.stride : sparsity.dimension);
    else
      return r.Error(at, "a sparsity has sparsity, dimension and stride, no '", name, "'");
    if (!ok) return false;
  }
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
  if (*r.raw_position() != '_') return r.ExpectedHere("'_' between low and high padding");
  r.MoveTo(r.raw_position() + 1);
  return r.Int(high);
}

struct WindowPart {
  absl::string_view name;
  int64_t WindowDim::*member;
};
// The parts that hold one number a dimension.
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

// An error that lists the spellings and suggests the nearest.
bool UnknownSpelling(Reader& r, absl::Span<const absl::string_view> spellings) {
  const absl::string_view word = r.PeekWord();
  if (word.empty()) return r.ExpectedValue(absl::StrCat("one of ", absl::StrJoin(spellings, ", ")));
  const std::string hint = DidYouMean(word, spellings);
  return r.Error(r.Here(), "unknown value '", word, "', expected one of ",
                 absl::StrJoin(spellings, ", "), hint);
}

bool ReadValue(Reader& r, double& value) {
  const char* at = r.Here();
  if (!r.AttributeNumber(value)) return false;
  return std::isnan(value) || std::isfinite(static_cast<float>(value)) ||
         r.Error(at, "the number is out of the range of f32");
}

bool ReadValue(Reader& r, RawText& algorithm) {
  const std::string word = absl::AsciiStrToLower(r.PeekWord());
  if (std::find(std::begin(kAlgorithms), std::end(kAlgorithms), word) == std::end(kAlgorithms))
    return UnknownSpelling(r, kAlgorithms);
  r.Word();
  if (word != "unset") algorithm.text = word;
  return true;
}

bool ReadValue(Reader& r, ResultAccuracy& accuracy) {
  if (!r.Eat('{', "before the accuracy")) return false;
  const char* at = r.Here();
  absl::string_view name;
  if (!r.AttributeName(name, "mode= or tolerance=")) return false;
  if (name == "tolerance") return ReadTolerance(r, accuracy) && r.Eat('}', "after the accuracy");
  if (name != "mode") return r.MoveTo(at), r.Expected("mode= or tolerance=");
  const std::string mode = absl::AsciiStrToLower(r.PeekWord());
  if (mode != "default" && mode != "highest") return r.Expected("default or highest");
  if (mode == "highest") accuracy.kind = ResultAccuracy::Kind::kHighest;
  r.Word();
  return r.Eat('}', "after the accuracy");
}

bool ReadValue(Reader& r, SparsityConfig& sparsity) {
  if (!r.Eat('{', "before the sparsities")) return false;
  while (!r.TryEat('}')) {
    const char* at = r.Here();
    absl::string_view name;
    if (!r.AttributeName(name, "lhs= or rhs=")) return false;
    if (name != "lhs" && name != "rhs") return r.Error(at, "expected lhs= or rhs=");
    std::optional<OperandSparsity>& operand = name == "lhs" ? sparsity.lhs : sparsity.rhs;
    if (!operand) operand.emplace();
    if (!ReadOperandSparsity(r, *operand)) return false;
  }
  return true;
}

bool ReadValue(Reader& r, DimVector& dims) {
  return r.List('{', '}', [&] { return r.Int(dims.emplace_back()); });
}

bool ReadValue(Reader& r, ShapeIndex& index) {
  return r.List('{', '}', [&] { return r.Int(index.emplace_back()); });
}

bool ReadValue(Reader& r, std::vector<DimVector>& lists) {
  const char* at = r.Here();
  return r.List('{', '}', [&] { return ReadValue(r, lists.emplace_back()); }) &&
         (!lists.empty() || r.Error(at, "there must be a list for each array"));
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
  return r.List('{', '}', [&] { return ReadValue(r, values.emplace_back()); });
}

bool ReadValue(Reader& r, Shape& shape) { return ReadShape(r, shape); }

bool ReadValue(Reader& r, std::vector<Shape>& shapes) {
  return r.List('{', '}', [&] { return ReadShape(r, shapes.emplace_back()); });
}

bool ReadValue(Reader& r, SharedLiteral& literal) {
  Literal value;
  LiteralForms forms;
  if (!ReadTypedLiteral(r, value, forms)) return false;
  if (!forms.elided) literal = std::make_shared<const Literal>(std::move(value));
  return true;
}

bool ReadValue(Reader& r, Window& window) {
  return r.Eat('{', "before the window") && ReadWindowParts(r, window) &&
         r.Eat('}', "after the window");
}

bool ReadWindowParts(Reader& r, Window& window) {
  uint32_t seen = 0;
  const char* first = nullptr;
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
    first = first == nullptr ? at : first;
    const size_t before = window.size();
    size_t count = 0;
    if (!ReadWindowPart(r, name, window, count)) return false;
    if (seen != 0 && count != before)
      return r.Error(at, name, " has ", count, " dimensions, the parts before it ", before);
    seen |= bit;
  }
  constexpr uint32_t kSize = 1;  // the first name
  return seen == 0 || (seen & kSize) != 0 ||
         r.Error(first, "a window needs size=, as in {size=3x3 stride=2x2}");
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

// 1_2_0x0_0: low, high and interior padding of each dimension, interior left out where it is 0.
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

// {[0:4], [1:8:2]}: start, limit and stride of each dimension.
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

// {{}: (0, {})}: which part of the result lies over which part of which operand.
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
