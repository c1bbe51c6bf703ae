// Reads shapes: types, dimensions, layouts with their tiles, tuples.
//   f32[8,<=128]{1,0:T(8,128)S(1)}   (f32[], (s32[2], pred[]))   b(f32[4])
// Shapes are the most frequent part of a text, hence the shortcuts: a hash table for type names,
// and PeekShapeText, which finds the end of a shape without parsing it, so that the same text is
// parsed once per module (ModuleParser::ReadSharedShape). Where PeekShapeText is unsure it returns
// nothing.
#include "parser/shapes_internal.h"

#include <algorithm>
#include <cstring>

namespace hlokit {
namespace {

// A hash table of the type names of at most eight letters, which is nearly all that texts hold.
class TypeTable {
 public:
  TypeTable() {
    for (int i = 1; i < kElementTypeCount; ++i) {
      const auto type = static_cast<ElementType>(i);
      const absl::string_view text = Info(type).text;
      if (type == ElementType::kTuple || type == ElementType::kBuffer || text.size() > 8) continue;
      size_t at = SlotOf(Key(text));
      while (slots_[at].key != 0) at = (at + 1) % kSlots;
      slots_[at] = {Key(text), type};
    }
  }
  ElementType Find(absl::string_view text) const {
    const uint64_t key = Key(text);
    size_t at = SlotOf(key);
    while (slots_[at].key != 0 && slots_[at].key != key) at = (at + 1) % kSlots;
    return slots_[at].type;
  }

 private:
  static constexpr size_t kSlots = 256;
  struct Slot {
    uint64_t key = 0;
    ElementType type = ElementType::kInvalid;
  };
  static uint64_t Key(absl::string_view text) {
    uint64_t key = 0;
    std::memcpy(&key, text.data(), text.size());
    return key;
  }
  static size_t SlotOf(uint64_t key) { return (key * 0x9E3779B97F4A7C15u) >> 56; }
  Slot slots_[kSlots];
};

bool ReadDims(Reader& r, Shape& shape) {
  if (!r.Eat('[', "before the dimensions")) return false;
  if (r.TryEat(']')) return true;
  int64_t bytes = std::max(ByteWidth(shape.type), 1);
  do {
    const char* at = r.Here();
    int64_t size = kUnbounded;
    bool dynamic = true;
    if (!r.TryEat('?')) {
      dynamic = r.TryEat("<=");
      if (!r.Int(size)) return false;
      if (size < 0) return r.Error(at, "a dimension cannot be negative");
      if (size > 0 && __builtin_mul_overflow(bytes, size, &bytes))
        return r.RuleError(at, "shape-c2", "the array has more bytes than 64 bits can count");
    }
    if (shape.rank() == kMaxRank)
      return r.Error(at, "an array has at most ", kMaxRank, " dimensions");
    if (dynamic) shape.dynamic_mask |= uint64_t{1} << shape.rank();
    shape.dims.push_back(size);
  } while (r.TryEat(','));
  return r.Eat(']', "after the dimensions");
}

bool ReadInParentheses(Reader& r, int64_t& value) {
  return r.Eat('(', "in the layout") && r.Int(value) && r.Eat(')', "in the layout");
}

bool ReadPointerType(Reader& r, ElementType& type) {
  if (!r.Eat('(', "in the layout")) return false;
  type = TypeFromWord(r.PeekWord());
  if (!IsInteger(type)) return r.Expected("an integer type");
  r.Word();
  return r.Eat(')', "in the layout");
}

bool ReadSize(Reader& r, int64_t& size) {
  const char* at = r.Here();
  if (!r.Int(size)) return false;
  return size >= 0 || r.Error(at, "a size in a layout cannot be negative");
}

bool ReadTiles(Reader& r, LayoutExtras& extras) {
  do {
    auto& tile = extras.tiles.emplace_back();
    const bool ok = r.List('(', ')', [&] {
      tile.push_back(LayoutExtras::kCombine);
      return r.TryEat('*') || ReadSize(r, tile.back());
    });
    if (!ok) return false;
  } while (r.Peek() == '(');
  return true;
}

bool ReadSplits(Reader& r, LayoutExtras& extras) {
  do {
    auto& split = extras.splits.emplace_back();
    if (!r.Eat('(', "in the layout") || !r.Int(split.dimension)) return false;
    const bool ok = r.List(':', ')', [&] { return r.Int(split.indices.emplace_back()); });
    if (!ok) return false;
  } while (r.Peek() == '(');
  return true;
}

bool ReadPhysical(Reader& r, LayoutExtras& extras) {
  auto physical = std::make_shared<Shape>();
  if (!r.Eat('(', "before the physical shape") || !ReadShape(r, *physical)) return false;
  extras.physical = std::move(physical);
  return r.Eat(')', "after the physical shape");
}

// Dimension level types (`D(D,C+~)`: dense, compressed, ... ) mean nothing any more; XLA drops them
// too.
bool SkipLevels(Reader& r, LayoutExtras&) {
  return r.List('(', ')', [&] {
    const absl::string_view word = r.PeekWord();
    if (word != "D" && word != "C" && word != "S" && word != "H")
      return r.Expected("D, C, S or H in the layout");
    r.Word();
    r.TryEat('+');
    r.TryEat('~');
    return true;
  });
}

struct LayoutPart {
  absl::string_view name;
  bool (*read)(Reader& r, LayoutExtras& extras);
};
template <auto member>
bool ReadMark(Reader& r, LayoutExtras& extras) {
  return ReadInParentheses(r, extras.*member);
}
template <auto member>
bool ReadSizeMark(Reader& r, LayoutExtras& extras) {
  return r.Eat('(', "in the layout") && ReadSize(r, extras.*member) && r.Eat(')', "in the layout");
}
template <auto member>
bool ReadType(Reader& r, LayoutExtras& extras) {
  return ReadPointerType(r, extras.*member);
}
// What may follow the colon, in the order in which it must.
constexpr LayoutPart kLayoutParts[] = {
    {"D", SkipLevels},
    {"T", ReadTiles},
    {"L", ReadSizeMark<&LayoutExtras::tail_padding_alignment>},
    {"#", ReadType<&LayoutExtras::index_type>},
    {"*", ReadType<&LayoutExtras::pointer_type>},
    {"E", ReadSizeMark<&LayoutExtras::element_size_in_bits>},
    {"S", ReadMark<&LayoutExtras::memory_space>},
    {"SC", ReadSplits},
    {"P", ReadPhysical},
    {"M", ReadSizeMark<&LayoutExtras::dynamic_metadata_bytes>},
};

bool ReadLayoutParts(Reader& r, LayoutExtras& extras) {
  size_t next = 0;
  while (r.Peek() != '}') {
    const char* at = r.Here();
    const absl::string_view name =
        *at == '#' || *at == '*' ? absl::string_view(at, 1) : r.PeekWord();
    const auto* part = std::find_if(std::begin(kLayoutParts), std::end(kLayoutParts),
                                    [&](const LayoutPart& p) { return p.name == name; });
    if (part == std::end(kLayoutParts))
      return r.Expected("'}' or a part of a layout (T, L, #, *, E, S, SC, P, M)");
    const size_t position = part - kLayoutParts;
    if (position < next)
      return r.Error(at,
                     "a layout's parts stand in the order T, L, #, *, E, S, SC, P, M, each once");
    next = position + 1;
    r.MoveTo(at + name.size());
    if (!part->read(r, extras)) return false;
  }
  return true;
}

// `f32[2] {` may open a computation's body; a layout goes on with a number or a colon.
bool StartsLayout(Reader& r) {
  if (r.Peek() != '{') return false;
  const char* brace = r.Here();
  r.MoveTo(brace + 1);
  const char next = r.Peek();
  r.MoveTo(brace);
  return next == ':' || next == '-' || Reader::IsClass(next, kDigit);
}

bool ReadTuple(Reader& r, Shape& shape, MissingLayout missing) {
  shape.type = ElementType::kTuple;
  return r.List('(', ')', [&] { return ReadShape(r, shape.elements.emplace_back(), missing); });
}

// Passes the characters of a number list: digits, commas, signs of dynamic sizes.
const char* PassNumbers(const char* at) {
  while (Reader::IsClass(*at, kDigit) || *at == ',' || *at == '<' || *at == '=' || *at == '?') ++at;
  return at;
}

// As most names do, and no word of the language.
bool EndsInPointAndNumber(absl::string_view word) {
  size_t stem = word.size();
  while (stem > 0 && Reader::IsClass(word[stem - 1], kDigit)) --stem;
  return stem > 0 && word[stem - 1] == '.';
}

// One past an array's shape, or null.
const char* ArrayEnd(const char* at) {
  while (Reader::IsClass(*at, kWordPart)) ++at;
  if (*at != '[') return nullptr;
  at = PassNumbers(at + 1);
  if (*at++ != ']') return nullptr;
  if (*at == ' ') return at[1] != '{' && !Reader::IsClass(at[1], kSkip) ? at : nullptr;
  if (*at != '{') return Reader::IsClass(*at, kSkip) ? nullptr : at;
  if (!Reader::IsClass(*++at, kDigit) && *at != ':') return nullptr;
  at = PassNumbers(at);
  while (*at == ':' || *at == '(' || *at == ')' || *at == '*' ||
         Reader::IsClass(*at, kDigit | kWordStart) || *at == ',')
    ++at;
  return *at == '}' ? at + 1 : nullptr;
}

// One past the parenthesis that closes a tuple's, or null.
const char* TupleEnd(const char* at) {
  int open = 0;
  for (;; ++at) {
    if (*at == '(' && ++open > kMaxNesting) return nullptr;
    if (*at == ')' && --open == 0) return at + 1;
    if (*at == '\0' || *at == '\n' || *at == '"' || *at == '%') return nullptr;
  }
}

}  // namespace

absl::string_view PeekShapeText(Reader& r) {
  const char* start = r.Here();
  const char* end = *start == '(' ? TupleEnd(start) : ArrayEnd(start);
  if (end == nullptr) return {};
  return {start, static_cast<size_t>(end - start)};
}

bool ReadLayout(Reader& r, Shape& shape) {
  const char* start = r.Here();
  if (!r.Eat('{', "before the layout")) return false;
  Layout& layout = shape.layout;
  uint64_t seen = 0;
  const bool empty = r.Peek() == ':' || r.Peek() == '}';
  while (!empty) {
    const char* at = r.Here();
    int64_t dimension = 0;
    if (!r.Int(dimension)) return false;
    if (dimension < 0 || dimension >= shape.rank() || (seen >> dimension & 1) != 0)
      return r.RuleError(at, "shape-c3", "the layout must name each of the dimensions 0 to ",
                         shape.rank() - 1, " once");
    seen |= uint64_t{1} << dimension;
    layout.minor_to_major.push_back(static_cast<uint8_t>(dimension));
    if (!r.TryEat(',')) break;
  }
  if (static_cast<int>(layout.minor_to_major.size()) != shape.rank())
    return r.RuleError(start, "shape-c3", "the layout orders ", layout.minor_to_major.size(),
                       " dimensions, the array has ", shape.rank());
  if (r.TryEat(':')) {
    LayoutExtras extras;
    if (!ReadLayoutParts(r, extras)) return false;
    if (!(extras == LayoutExtras()))
      layout.extras = std::make_shared<const LayoutExtras>(std::move(extras));
  }
  shape.has_layout = true;
  return r.Eat('}', "after the layout");
}

ElementType TypeFromWord(absl::string_view word) {
  static const TypeTable* const table = new TypeTable;
  if (word.empty() || EndsInPointAndNumber(word)) return ElementType::kInvalid;
  if (word.size() <= 8) return table->Find(word);
  return ElementTypeFromText(word).value_or(ElementType::kInvalid);
}

bool IsKeyword(absl::string_view word) {
  if (EndsInPointAndNumber(word)) return false;
  static constexpr absl::string_view kKeywords[] = {"inf",
                                                    "nan",
                                                    "true",
                                                    "false",
                                                    "maximal",
                                                    "replicated",
                                                    "manual",
                                                    "unknown",
                                                    "unreduced",
                                                    "ROOT",
                                                    "ENTRY",
                                                    "HloModule",
                                                    "last_tile_dim_replicate",
                                                    "shard_as",
                                                    "shard_like",
                                                    "FileNames",
                                                    "FunctionNames",
                                                    "FileLocations",
                                                    "StackFrames"};
  return TypeFromWord(word) != ElementType::kInvalid ||
         std::find(std::begin(kKeywords), std::end(kKeywords), word) != std::end(kKeywords);
}

bool StartsShape(Reader& r) {
  if (r.Peek() == '(') return true;
  const absl::string_view word = r.PeekWord();
  if (TypeFromWord(word) != ElementType::kInvalid) return *word.end() != ':';  // a name, `f32:`
  return word == "b" && word.data()[1] == '(';
}

bool ReadShape(Reader& r, Shape& shape, MissingLayout missing) {
  Reader::Depth depth(r);
  if (!depth.ok()) return false;
  if (r.Peek() == '(') return ReadTuple(r, shape, missing);
  const absl::string_view word = r.PeekWord();
  if (word == "b" && word.data()[1] == '(') {
    r.Word();
    shape.type = ElementType::kBuffer;
    return r.Eat('(', "after b") && ReadShape(r, shape.elements.emplace_back(), missing) &&
           r.Eat(')', "after the buffer's shape");
  }
  shape.type = TypeFromWord(word);
  if (shape.type == ElementType::kInvalid) return r.Expected("an element type or a tuple shape");
  const char* const start = r.Here();
  r.Word();
  if (!ReadDims(r, shape)) return false;
  if (!shape.IsArray()) {
    if (shape.rank() > 0) return r.Error(start, Text(shape.type), " has no dimensions");
    absl::string_view layout;  // opaque[]{0} and the like, in old text
    return !StartsLayout(r) || r.Balanced(layout);
  }
  const char* const end_of_dims = r.raw_position();
  const bool apart = missing == MissingLayout::kTight && r.Here() != end_of_dims;
  if (!apart && StartsLayout(r)) return ReadLayout(r, shape);
  if (missing == MissingLayout::kNone) return true;
  shape.layout = Layout::Default(shape.rank());
  shape.has_layout = true;
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
