// .texref, .samplerref and .surfref variables of a module: their bytes are a Texture (texture.h),
// and an initializer names its fields.
//   .global .samplerref s = { addr_mode_0 = clamp_to_border, filter_mode = linear };
#include <cstddef>
#include <utility>

#include "ptxsim/parser_internal.h"
#include "ptxsim/texture.h"

namespace hlokit::ptx {
namespace {

struct FieldRow {
  absl::string_view name;
  size_t at;
  uint8_t size;
};
constexpr FieldRow kFields[] = {
    {"width", offsetof(Texture, width), 4},
    {"height", offsetof(Texture, height), 4},
    {"depth", offsetof(Texture, depth), 4},
    {"filter_mode", offsetof(Texture, is_filtered), 1},
    {"addr_mode_0", offsetof(Texture, address), 1},
    {"addr_mode_1", offsetof(Texture, address) + 1, 1},
    {"addr_mode_2", offsetof(Texture, address) + 2, 1},
    {"normalized_coords", offsetof(Texture, normalized), 1},
    {"force_unnormalized_coords", offsetof(Texture, unnormalize), 1},
    {"num_mipmap_levels", offsetof(Texture, levels), 4},
    {"array_size", offsetof(Texture, depth), 4},
};

struct WordRow {
  absl::string_view name;
  uint8_t value;
};
constexpr WordRow kWords[] = {
    {"nearest", 0},
    {"linear", 1},
    {"wrap", static_cast<uint8_t>(AddressMode::kWrap)},
    {"mirror", static_cast<uint8_t>(AddressMode::kMirror)},
    {"clamp_ogl", static_cast<uint8_t>(AddressMode::kClamp)},
    {"clamp_to_edge", static_cast<uint8_t>(AddressMode::kClamp)},
    {"clamp_to_border", static_cast<uint8_t>(AddressMode::kBorder)},
    {"true", 1},
    {"false", 0},
};

void AddField(Variable& variable, SourcePlace place, int64_t at, int size, uint64_t bits) {
  Initializer value;
  value.place = place;
  value.at = at;
  value.size = size;
  value.bits = bits;
  variable.values.push_back(value);
}

}  // namespace

// Gives the variable its size and marks, and reads what is between the braces.
bool Parser::ParseObject(Variable& variable) {
  variable.type = Type::kB8;
  variable.is_array = true;
  variable.dims.push_back(sizeof(Texture));
  variable.align = 64;
  AddField(variable, variable.place, offsetof(Texture, magic), 8, Texture::kMagic);
  AddField(variable, variable.place, offsetof(Texture, kind), 1,
           static_cast<uint64_t>(variable.object));
  AddField(variable, variable.place, offsetof(Texture, levels), 4, 1);
  if (!Accept('=')) return true;
  if (!Expect('{')) return false;
  do {
    const SourcePlace place = token_.place;
    std::string name, word;
    if (!ExpectWord(name) || !Expect('=')) return false;
    uint64_t bits = 0;
    if (token_.kind == Token::kWord) {
      word = std::string(token_.text);
      Advance();
      for (const WordRow& row : kWords)
        if (row.name == word) bits = row.value;
    } else {
      int64_t number = 0;
      if (!ExpectInteger(number)) return false;
      bits = static_cast<uint64_t>(number);
    }
    for (const FieldRow& row : kFields)
      if (row.name == name) AddField(variable, place, static_cast<int64_t>(row.at), row.size, bits);
  } while (Accept(','));
  return Expect('}');
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
