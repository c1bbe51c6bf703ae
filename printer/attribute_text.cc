// The text of attribute values, by type: the counterpart of parser/values.cc. Window parts that
// have their default value in all dimensions are left out:
//   window={size=3x3 pad=1_1x1_1}     stride, lhs_dilate, rhs_dilate and rhs_reversal are defaults
#include "printer/attribute_text_internal.h"

#include <charconv>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

// ` name=AxBxC` if any dimension differs from `usual`.
template <typename IsUsual, typename Fn>
void AppendWindowPart(std::string& out, const Window& window, const char* name, IsUsual is_usual,
                      Fn append) {
  bool any = false;
  for (const WindowDim& d : window) any |= !is_usual(d);
  if (!any) return;
  out += ' ';
  out += name;
  out += '=';
  AppendJoined(out, window, "x", append);
}

// One operand's labels: b and f at their places, spatial dimensions by number.
void AppendLabels(std::string& out, int64_t first, char first_label, int64_t second,
                  char second_label, const DimVector& spatial) {
  const size_t start = out.size();
  out.append(spatial.size() + 2, '?');
  auto put = [&](int64_t at, char label) {
    if (at < 0) return;
    if (start + at >= out.size())
      out.resize(start + at + 1, '?');  // unknown dimensions lie between
    out[start + at] = label;
  };
  put(first, first_label);
  put(second, second_label);
  for (size_t i = 0; i < spatial.size(); ++i) put(spatial[i], static_cast<char>('0' + i));
}

// Whether any of eight bytes is a control character, a quote, a backslash or beyond ASCII. Where
// one is, others that are none may seem so too.
// Tests eight bytes at a time (SWAR): subtracting a limit borrows into a byte's top bit if the byte
// is below the limit. False positives only cost time.
inline bool MayNeedEscapes(uint64_t bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  const auto below = [&](uint64_t word, uint8_t limit) { return (word - kOnes * limit) & ~word; };
  const auto is = [&](uint8_t c) { return below(bytes ^ (kOnes * c), 1); };
  const uint64_t found = bytes | below(bytes, 0x20) | is(0x7f) | is('"') | is('\'') | is('\\');
  return (found & (kOnes << 7)) != 0;
}

// Whether the text stands in quotes as it is.
bool IsPlain(absl::string_view text) {
  const char* at = text.data();
  size_t left = text.size();
  uint64_t bytes;
  for (; left >= sizeof(bytes); at += sizeof(bytes), left -= sizeof(bytes)) {
    std::memcpy(&bytes, at, sizeof(bytes));
    if (MayNeedEscapes(bytes)) return false;
  }
  bytes = 0x2020202020202020u;  // blanks need none
  std::memcpy(&bytes, at, left);
  return !MayNeedEscapes(bytes);
}

void AppendLists(std::string& out, const std::vector<std::vector<int64_t>>& lists) {
  AppendBraced(out, lists, ",", [&](const std::vector<int64_t>& list) {
    AppendValue(out, absl::Span<const int64_t>(list));
  });
}

}  // namespace

void AppendInt(std::string& out, int64_t value) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  out.append(buffer, end - buffer);
}

void AppendBracketed(std::string& out, absl::Span<const int64_t> values) {
  out += '[';
  AppendJoined(out, values, ",", [&](int64_t v) { AppendInt(out, v); });
  out += ']';
}

void AppendIota(std::string& out, const DimVector& dims, const DimVector& perm) {
  out += "<=";
  AppendBracketed(out, dims);
  if (perm.empty()) return;
  out += "T(";
  AppendJoined(out, perm, ",", [&](int64_t v) { AppendInt(out, v); });
  out += ')';
}

void AppendQuoted(std::string& out, absl::string_view text) {
  out += '"';
  if (IsPlain(text)) {  // most texts are, and escaping makes a copy
    out.append(text.data(), text.size());
  } else {
    out += absl::CEscape(text);
  }
  out += '"';
}

void AppendQuotedRaw(std::string& out, absl::string_view text) {
  constexpr absl::string_view kEnding("\"\\\0", 3);
  if (text.find_first_of(kEnding) != absl::string_view::npos) return AppendQuoted(out, text);
  out += '"';
  out.append(text.data(), text.size());
  out += '"';
}

void AppendValue(std::string& out, double value) {
  absl::StrAppend(&out, static_cast<float>(value));
}

void AppendValue(std::string& out, absl::Span<const int64_t> values) {
  AppendBraced(out, values, ",", [&](int64_t v) { AppendInt(out, v); });
}

void AppendValue(std::string& out, const std::vector<DimVector>& lists) {
  AppendBraced(out, lists, ",", [&](const DimVector& list) { AppendValue(out, list); });
}

void AppendValue(std::string& out, const std::vector<bool>& values) {
  AppendBraced(out, values, ",", [&](bool v) { AppendValue(out, v); });
}

void AppendValue(std::string& out, const std::vector<Precision>& values) {
  AppendBraced(out, values, ",", [&](Precision v) { AppendValue(out, v); });
}

bool NeverPrinted(const std::vector<Precision>& precision) {
  for (Precision p : precision)
    if (p != Precision::kDefault) return false;
  return true;
}

void AppendValue(std::string& out, const std::vector<Shape>& shapes) {
  AppendBraced(out, shapes, ", ", [&](const Shape& shape) { AppendValue(out, shape); });
}

void AppendValue(std::string& out, const Shape& shape) {
  AppendText(out, shape, /*with_layout=*/true);
}

void AppendValue(std::string& out, const SharedLiteral& literal) {
  LiteralTextOptions options;
  options.with_shape = true;
  AppendText(out, *literal, options);
}

void AppendValue(std::string& out, const Window& window) {
  if (window.empty()) {
    out += "{}";
    return;
  }
  out += "{size=";
  AppendJoined(out, window, "x", [&](const WindowDim& d) { AppendInt(out, d.size); });
  AppendWindowPart(
      out, window, "stride", [](const WindowDim& d) { return d.stride == 1; },
      [&](const WindowDim& d) { AppendInt(out, d.stride); });
  AppendWindowPart(
      out, window, "pad", [](const WindowDim& d) { return d.pad_low == 0 && d.pad_high == 0; },
      [&](const WindowDim& d) {
        AppendInt(out, d.pad_low);
        out += '_';
        AppendInt(out, d.pad_high);
      });
  AppendWindowPart(
      out, window, "lhs_dilate", [](const WindowDim& d) { return d.base_dilation == 1; },
      [&](const WindowDim& d) { AppendInt(out, d.base_dilation); });
  AppendWindowPart(
      out, window, "rhs_dilate", [](const WindowDim& d) { return d.window_dilation == 1; },
      [&](const WindowDim& d) { AppendInt(out, d.window_dilation); });
  AppendWindowPart(
      out, window, "rhs_reversal", [](const WindowDim& d) { return !d.reversal; },
      [&](const WindowDim& d) { out += d.reversal ? '1' : '0'; });
  out += '}';
}

void AppendValue(std::string& out, const ConvDims& d) {
  AppendLabels(out, d.input_batch, 'b', d.input_feature, 'f', d.input_spatial);
  out += '_';
  AppendLabels(out, d.kernel_input_feature, 'i', d.kernel_output_feature, 'o', d.kernel_spatial);
  out += "->";
  AppendLabels(out, d.output_batch, 'b', d.output_feature, 'f', d.output_spatial);
}

void AppendValue(std::string& out, const ResultAccuracy& accuracy) {
  if (accuracy.kind != ResultAccuracy::Kind::kTolerance) {
    const bool highest = accuracy.kind == ResultAccuracy::Kind::kHighest;
    absl::StrAppend(&out, "{mode=", highest ? "highest" : "default", "}");
    return;
  }
  absl::StrAppend(&out, "{tolerance={atol=", accuracy.atol, ",rtol=", accuracy.rtol,
                  ",ulps=", accuracy.ulps, "}}");
}

void AppendValue(std::string& out, const SparsityConfig& sparsity) {
  out += '{';
  auto append = [&](const char* name, const std::optional<OperandSparsity>& operand) {
    if (!operand) return;
    absl::StrAppend(&out, out.back() == '{' ? "" : " ", name, "={sparsity=", operand->num_non_zero,
                    "x", operand->block_size);
    absl::StrAppend(&out, " dimension=", operand->dimension, " stride=", operand->stride, "}");
  };
  append("lhs", sparsity.lhs);
  append("rhs", sparsity.rhs);
  out += '}';
}

void AppendValue(std::string& out, const PaddingConfig& padding) {
  bool interior = false;
  for (const PaddingDim& d : padding) interior |= d.interior != 0;
  AppendJoined(out, padding, "x", [&](const PaddingDim& d) {
    AppendInt(out, d.low);
    out += '_';
    AppendInt(out, d.high);
    if (!interior) return;
    out += '_';
    AppendInt(out, d.interior);
  });
}

void AppendValue(std::string& out, const SliceSpec& slice) {
  bool strides = false;
  for (const SliceDim& d : slice) strides |= d.stride != 1;
  AppendBraced(out, slice, ", ", [&](const SliceDim& d) {
    out += '[';
    AppendInt(out, d.start);
    out += ':';
    AppendInt(out, d.limit);
    if (strides) {
      out += ':';
      AppendInt(out, d.stride);
    }
    out += ']';
  });
}

void AppendValue(std::string& out, const ReplicaGroups& groups) {
  switch (groups.form) {
    case ReplicaGroups::Form::kMesh:
      out += groups.mesh_text;
      return;
    case ReplicaGroups::Form::kIota:
      AppendBracketed(out, groups.iota_dims);
      AppendIota(out, groups.reshape_dims, groups.transpose_perm);
      return;
    case ReplicaGroups::Form::kLists:
      AppendLists(out, groups.lists);
  }
}

void AppendFullGroups(std::string& out, const ReplicaGroups& groups) {
  AppendLists(out, groups.Expand());
}

void AppendValue(std::string& out, const IntPairs& pairs) {
  AppendBraced(out, pairs, ",", [&](const std::pair<int64_t, int64_t>& pair) {
    const int64_t values[] = {pair.first, pair.second};
    AppendValue(out, absl::Span<const int64_t>(values));
  });
}

void AppendValue(std::string& out, const std::vector<OutputAlias>& aliases) {
  AppendBraced(out, aliases, ", ", [&](const OutputAlias& alias) {
    AppendValue(out, absl::Span<const int64_t>(alias.output));
    out += ": (";
    AppendInt(out, alias.operand);
    out += ", ";
    AppendValue(out, absl::Span<const int64_t>(alias.operand_index));
    out += ')';
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
