// The text of attribute values: numbers, lists, windows, dimension numbers, device groups.
#include "printer/attribute_text_internal.h"

#include <charconv>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

// Appends what `append(item)` writes for each item, with `separator` between.
template <typename List, typename Fn>
void AppendJoined(std::string& out, const List& list, absl::string_view separator, Fn append) {
  bool first = true;
  for (const auto& item : list) {
    if (!first) out.append(separator.data(), separator.size());
    first = false;
    append(item);
  }
}

template <typename List, typename Fn>
void AppendBraced(std::string& out, const List& list, absl::string_view separator, Fn append) {
  out += '{';
  AppendJoined(out, list, separator, append);
  out += '}';
}

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

void AppendBracketed(std::string& out, absl::Span<const int64_t> values) {
  out += '[';
  AppendJoined(out, values, ",", [&](int64_t v) { AppendInt(out, v); });
  out += ']';
}

// `<=[4,2]T(1,0)`: devices counted up over `dims`, transposed.
void AppendIota(std::string& out, const DimVector& dims, const DimVector& perm) {
  out += "<=";
  AppendBracketed(out, dims);
  if (perm.empty()) return;
  out += "T(";
  AppendJoined(out, perm, ",", [&](int64_t v) { AppendInt(out, v); });
  out += ')';
}

}  // namespace

void AppendInt(std::string& out, int64_t value) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  out.append(buffer, end - buffer);
}

void AppendQuoted(std::string& out, absl::string_view text) {
  bool plain = true;  // most texts are, and escaping makes a copy
  for (const unsigned char c : text)
    plain &= c >= 0x20 && c < 0x7f && c != '"' && c != '\'' && c != '\\';
  out += '"';
  if (plain) {
    out.append(text.data(), text.size());
  } else {
    out += absl::CEscape(text);
  }
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
      AppendBraced(out, groups.lists, ",", [&](const std::vector<int64_t>& list) {
        AppendValue(out, absl::Span<const int64_t>(list));
      });
  }
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

AttributeStage StageOf(absl::string_view field_name) {
  if (field_name == "is_composite") return AttributeStage::kAfterCalls;
  if (field_name == "result_accuracy") return AttributeStage::kAfterStatistics;
  return AttributeStage::kFirst;
}

namespace {

// What stands inside the braces of a tiled sharding, before the shard group.
void AppendTiles(std::string& out, const Sharding& sharding) {
  out += "devices=";
  AppendBracketed(out, sharding.tile_dims);
  if (sharding.iota) {
    AppendIota(out, sharding.reshape_dims, sharding.transpose_perm);
  } else {
    AppendJoined(out, sharding.devices, ",", [&](int64_t device) { AppendInt(out, device); });
  }
  if (sharding.last_tile_dim_replicate) out += " last_tile_dim_replicate";
  if (sharding.last_tile_dims.empty()) return;
  out += " last_tile_dims=";
  AppendBraced(out, sharding.last_tile_dims, ", ", [&](const std::string& dim) { out += dim; });
}

void AppendKind(std::string& out, const Sharding& sharding) {
  switch (sharding.kind) {
    case Sharding::Kind::kReplicated:
      out += "replicated";
      break;
    case Sharding::Kind::kManual:
      out += "manual";
      break;
    case Sharding::Kind::kUnknown:
      out += "unknown";
      break;
    case Sharding::Kind::kUnreduced:
      out += "unreduced";
      break;
    case Sharding::Kind::kMaximal:
      out += "maximal device=";
      AppendInt(out, sharding.device);
      break;
    case Sharding::Kind::kTiled:
      AppendTiles(out, sharding);
      break;
    case Sharding::Kind::kTuple:
    case Sharding::Kind::kText:
      break;
  }
}

}  // namespace

void AppendSharding(std::string& out, const Sharding& sharding) {
  if (sharding.kind == Sharding::Kind::kText) {
    out += sharding.text;
    return;
  }
  out += '{';
  if (sharding.kind == Sharding::Kind::kTuple) {
    for (size_t i = 0; i < sharding.elements.size(); ++i) {
      if (i > 0) out += ", ";
      if (i > 0 && i % 5 == 0) absl::StrAppend(&out, "/*index=", i, "*/");
      AppendSharding(out, sharding.elements[i]);
    }
  } else {
    AppendKind(out, sharding);
    if (!sharding.shard_group.empty()) absl::StrAppend(&out, " ", sharding.shard_group);
    if (!sharding.metadata.empty()) absl::StrAppend(&out, " metadata=", sharding.metadata);
  }
  out += '}';
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
