// HLO's text of shapes and layouts, as XLA writes it.
//   f32[2,<=3]{1,0:T(8,128)S(1)}   f32[?,3]   (f32[2], token[])
// Most arrays are plain; AppendPlainArray writes them in one piece, since shapes are a third of
// what is printed.
#include <algorithm>
#include <charconv>

#include "absl/strings/str_cat.h"
#include "types/shape.h"

namespace hlokit {
namespace {

constexpr int kPlainRank = 6;

void AppendInt(std::string& out, int64_t value) {
  if (value >= 0 && value < 10) {
    out.push_back(static_cast<char>('0' + value));
    return;
  }
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
}

template <typename Items, typename Append>
// Items with commas between them.
void AppendJoined(std::string& out, const Items& items, Append append) {
  bool first = true;
  for (const auto& item : items) {
    if (!first) out.push_back(',');
    first = false;
    append(item);
  }
}

// `S(3)` and its like.
void AppendMark(std::string& out, const char* name, int64_t value) {
  absl::StrAppend(&out, name, "(", value, ")");
}

void AppendTypeMark(std::string& out, char name, ElementType type) {
  if (type == ElementType::kInvalid) return;
  out.push_back(name);
  absl::StrAppend(&out, "(", Text(type), ")");
}

void AppendTiles(std::string& out, const LayoutExtras& extras) {
  if (extras.tiles.empty()) return;
  out.push_back('T');
  for (const auto& tile : extras.tiles) {
    out.push_back('(');
    AppendJoined(out, tile, [&](int64_t size) {
      size == LayoutExtras::kCombine ? out.push_back('*') : AppendInt(out, size);
    });
    out.push_back(')');
  }
}

void AppendSplits(std::string& out, const LayoutExtras& extras) {
  if (extras.splits.empty()) return;
  out += "SC";
  for (const LayoutExtras::Split& split : extras.splits) {
    absl::StrAppend(&out, "(", split.dimension, ":");
    AppendJoined(out, split.indices, [&](int64_t index) { AppendInt(out, index); });
    out.push_back(')');
  }
}

// The parts after the colon, in XLA's order; those at their defaults are left out. XLA reads
// dimension level types (D) and prints none.
void AppendExtras(std::string& out, const LayoutExtras& extras) {
  AppendTiles(out, extras);
  if (extras.tail_padding_alignment != 1) AppendMark(out, "L", extras.tail_padding_alignment);
  AppendTypeMark(out, '#', extras.index_type);
  AppendTypeMark(out, '*', extras.pointer_type);
  if (extras.element_size_in_bits != 0) AppendMark(out, "E", extras.element_size_in_bits);
  if (extras.memory_space != 0) AppendMark(out, "S", extras.memory_space);
  AppendSplits(out, extras);
  if (extras.physical) {
    out += "P(";
    AppendText(out, *extras.physical, /*with_layout=*/true);
    out.push_back(')');
  }
  if (extras.dynamic_metadata_bytes != 0) AppendMark(out, "M", extras.dynamic_metadata_bytes);
}

// Digits of a number that is not negative; returns their end.
char* WriteInt(char* to, int64_t value) {
  if (value < 10) {
    *to = static_cast<char>('0' + value);
    return to + 1;
  }
  return std::to_chars(to, to + 20, value).ptr;
}

void AppendDims(std::string& out, const Shape& shape) {
  for (int d = 0; d < shape.rank(); ++d) {
    if (d > 0) out.push_back(',');
    if (shape.dims[d] == kUnbounded) {
      out.push_back('?');
      continue;
    }
    if (shape.IsDynamic(d)) out += "<=";
    AppendInt(out, shape.dims[d]);
  }
}

// Most arrays: at most six dimensions, all static, and no more to their layout than an order. The
// text is put together in place and appended at once: shapes are a third of what is printed.
void AppendPlainArray(std::string& out, const Shape& shape, bool with_layout) {
  char text[24 + kPlainRank * (20 + 4)];  // the longest type has 14 letters
  const absl::string_view type = Info(shape.type).text;
  char* to = std::copy(type.begin(), type.end(), text);
  *to++ = '[';
  for (int d = 0; d < shape.rank(); ++d) {
    if (d > 0) *to++ = ',';
    to = WriteInt(to, shape.dims[d]);
  }
  *to++ = ']';
  if (with_layout && shape.has_layout && shape.rank() > 0) {
    *to++ = '{';
    for (const uint8_t d : shape.layout.minor_to_major) {
      to = WriteInt(to, d);
      *to++ = ',';
    }
    to[-1] = '}';
  }
  out.append(text, to - text);
}

bool IsPlain(const Shape& shape) {
  if (shape.rank() > kPlainRank || shape.dynamic_mask != 0 || shape.layout.extras != nullptr ||
      (shape.has_layout && static_cast<int>(shape.layout.minor_to_major.size()) != shape.rank()))
    return false;
  for (const int64_t size : shape.dims)
    if (size < 0) return false;
  return true;
}

void AppendArray(std::string& out, const Shape& shape, bool with_layout) {
  if (IsPlain(shape)) return AppendPlainArray(out, shape, with_layout);
  out.append(Info(shape.type).text);
  out.push_back('[');
  AppendDims(out, shape);
  out.push_back(']');
  if (with_layout && shape.has_layout) AppendText(out, shape.layout);
}

}  // namespace

void AppendText(std::string& out, const Layout& layout) {
  std::string extras;
  if (layout.extras) AppendExtras(extras, *layout.extras);
  if (layout.minor_to_major.empty() && extras.empty()) return;
  out.push_back('{');
  AppendJoined(out, layout.minor_to_major, [&](uint8_t d) { AppendInt(out, d); });
  if (!extras.empty()) absl::StrAppend(&out, ":", extras);
  out.push_back('}');
}

void AppendText(std::string& out, const Shape& shape, bool with_layout) {
  if (shape.IsArray()) return AppendArray(out, shape, with_layout);
  if (shape.type == ElementType::kBuffer) {
    out += "b(";
    for (const Shape& of : shape.elements) AppendText(out, of, with_layout);
    out.push_back(')');
    return;
  }
  if (!shape.IsTuple()) {
    absl::StrAppend(&out, Text(shape.type), shape.type == ElementType::kInvalid ? "" : "[]");
    return;
  }
  out.push_back('(');
  for (size_t i = 0; i < shape.elements.size(); ++i) {
    if (i > 0) out += ", ";
    if (i > 0 && i % 5 == 0) absl::StrAppend(&out, "/*index=", i, "*/");
    AppendText(out, shape.elements[i], with_layout);
  }
  out.push_back(')');
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
