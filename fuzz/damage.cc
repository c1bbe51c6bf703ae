// The changes, and the table that says how often each is made.
#include "fuzz/damage.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "fuzz/tokens.h"
#include "ir/opcode.h"
#include "types/element_type.h"

namespace hlokit {
namespace {

// splitmix64: one multiplication-free state, good enough to pick with.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  size_t Below(size_t count) { return count == 0 ? 0 : Next() % count; }

 private:
  uint64_t state_;
};

bool IsBlank(const std::string& token) { return absl::ascii_isspace(token[0]); }
bool IsNumber(const std::string& token) {
  return absl::ascii_isdigit(token[0]) || (token[0] == '-' && token.size() > 1);
}
bool IsWord(const std::string& token) { return absl::ascii_isalpha(token[0]) || token[0] == '%'; }
int KindOf(const std::string& token) {
  return IsNumber(token) ? 1 : IsWord(token) ? 2 : token[0] == '"' ? 3 : 4;
}

// A place of a token that is no blank.
size_t Pick(const Tokens& tokens, Random& random) {
  for (int tries = 0; tries < 64; ++tries) {
    const size_t at = random.Below(tokens.size());
    if (!IsBlank(tokens[at])) return at;
  }
  return 0;
}

// The place of another token of the same kind, or of any.
size_t PickLike(const Tokens& tokens, size_t like, Random& random) {
  for (int tries = 0; tries < 64; ++tries) {
    const size_t at = Pick(tokens, random);
    if (at != like && KindOf(tokens[at]) == KindOf(tokens[like])) return at;
  }
  return Pick(tokens, random);
}

std::string Foreign(Random& random) {
  static constexpr absl::string_view kWords[] = {
      "0",     "1",      "-1",     "2",        "7",       "100000",     "9223372036854775807",
      "1e30",  "nan",    "-inf",   "true",     "false",   "{",          "}",
      "(",     ")",      "[",      "]",        ",",       "=",          ":",
      "<=",    "?",      "%",      "->",       "\"x\"",   "ROOT ",      "ENTRY ",
      "token", "opaque", "tuple",  "metadata", "maximal", "replicated", "/*index=5*/",
      "{...}", "x",      "S(1)",   "T(2,128)", "{{0}}",   "{}",         "dimensions={0}",
      "#0",    "@",      "\\",     "mesh",     "device",  ", ",         "to_apply=",
      "nope",  "{0,1}",  "f32[2]", "s32[]",    "()",      "-start",     "sharding={replicated}"};
  const size_t pick = random.Below(3);
  if (pick == 0) return std::string(Text(static_cast<Opcode>(random.Below(kOpcodeCount))));
  if (pick == 1)
    return std::string(Info(static_cast<ElementType>(random.Below(kElementTypeCount))).text);
  return std::string(kWords[random.Below(std::size(kWords))]);
}

void Delete(Tokens& t, Random& random) { t[Pick(t, random)].clear(); }
void Duplicate(Tokens& t, Random& random) {
  std::string& token = t[Pick(t, random)];
  token = absl::StrCat(token, random.Below(2) == 0 ? "" : " ", token);
}
void SwapNeighbours(Tokens& t, Random& random) {
  const size_t at = Pick(t, random);
  size_t next = at + 1;
  while (next < t.size() && IsBlank(t[next])) ++next;
  if (next < t.size()) std::swap(t[at], t[next]);
}
void SwapAlike(Tokens& t, Random& random) {
  const size_t at = Pick(t, random);
  std::swap(t[at], t[PickLike(t, at, random)]);
}
void ReplaceAlike(Tokens& t, Random& random) {
  const size_t at = Pick(t, random);
  t[at] = std::string(t[PickLike(t, at, random)]);
}
void ReplaceForeign(Tokens& t, Random& random) { t[Pick(t, random)] = Foreign(random); }
void Insert(Tokens& t, Random& random) {
  std::string& token = t[Pick(t, random)];
  token = random.Below(2) == 0 ? absl::StrCat(Foreign(random), token)
                               : absl::StrCat(token, Foreign(random));
}
void ChangeNumber(Tokens& t, Random& random) {
  static constexpr absl::string_view kNumbers[] = {"0",  "1", "2",  "3",
                                                   "-1", "5", "65", "4294967296"};
  for (int tries = 0; tries < 256; ++tries) {
    std::string& token = t[Pick(t, random)];
    if (!IsNumber(token)) continue;
    token = std::string(kNumbers[random.Below(std::size(kNumbers))]);
    return;
  }
}
void ChangeLetter(Tokens& t, Random& random) {
  std::string& token = t[Pick(t, random)];
  if (!token.empty()) token[random.Below(token.size())] = static_cast<char>(33 + random.Below(94));
}
void Truncate(Tokens& t, Random& random) { t.resize(random.Below(t.size()) + 1); }

void DeleteLine(Tokens& t, Random& random) {
  const auto [start, end] = LineAround(t, Pick(t, random));
  t.erase(t.begin() + start, t.begin() + end);
}
void DuplicateLine(Tokens& t, Random& random) {
  const auto [start, end] = LineAround(t, Pick(t, random));
  const Tokens line(t.begin() + start, t.begin() + end);
  t.insert(t.begin() + end, line.begin(), line.end());
}
void MoveLine(Tokens& t, Random& random) {
  const auto [start, end] = LineAround(t, Pick(t, random));
  const Tokens line(t.begin() + start, t.begin() + end);
  t.erase(t.begin() + start, t.begin() + end);
  const size_t to = t.empty() ? 0 : LineAround(t, Pick(t, random)).first;
  t.insert(t.begin() + to, line.begin(), line.end());
}
// From one comma of a line to the next, or to the line's end: an attribute, mostly.
void DeleteAttribute(Tokens& t, Random& random) {
  size_t at = Pick(t, random);
  while (at < t.size() && t[at] != ",") ++at;
  int depth = 0;
  for (size_t i = at + 1; at < t.size() && i < t.size(); ++i) {
    const char c = t[i].empty() ? ' ' : t[i][0];
    if (c == '{' || c == '(' || c == '[') ++depth;
    if (c == '}' || c == ')' || c == ']') --depth;
    if (depth >= 0 && (depth > 0 || (c != ',' && c != '\n'))) continue;
    t.erase(t.begin() + at, t.begin() + i);
    return;
  }
}

struct Change {
  absl::string_view name;
  void (*apply)(Tokens&, Random&);
  size_t weight;
};
constexpr Change kChanges[] = {
    {"delete", Delete, 6},
    {"duplicate", Duplicate, 4},
    {"swap-neighbours", SwapNeighbours, 4},
    {"swap-alike", SwapAlike, 4},
    {"replace-alike", ReplaceAlike, 8},
    {"replace-foreign", ReplaceForeign, 6},
    {"insert", Insert, 5},
    {"number", ChangeNumber, 8},
    {"letter", ChangeLetter, 4},
    {"truncate", Truncate, 2},
    {"delete-line", DeleteLine, 2},
    {"duplicate-line", DuplicateLine, 1},
    {"move-line", MoveLine, 2},
    {"delete-attribute", DeleteAttribute, 6},
};

const Change& PickChange(Random& random) {
  size_t total = 0;
  for (const Change& change : kChanges) total += change.weight;
  size_t at = random.Below(total);
  const Change* change = kChanges;
  while (at >= change->weight) at -= change++->weight;
  return *change;
}

}  // namespace

Mutant Mutate(absl::string_view source, uint64_t seed) {
  Random random(seed);
  Tokens tokens = SplitTokens(source);
  Mutant mutant;
  const size_t changes = random.Below(4) == 0 ? 2 + random.Below(2) : 1;
  for (size_t i = 0; i < changes && !tokens.empty(); ++i) {
    const Change& change = PickChange(random);
    change.apply(tokens, random);
    absl::StrAppend(&mutant.what, i > 0 ? "+" : "", change.name);
    tokens.erase(std::remove(tokens.begin(), tokens.end(), ""), tokens.end());
  }
  mutant.text = JoinTokens(tokens);
  return mutant;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
