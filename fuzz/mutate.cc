// One table of small changes for texts, one for bytes.
#include "fuzz/mutate.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "fuzz/dictionary.h"
#include "fuzz/tokens.h"

namespace hlokit {
namespace {

size_t Below(FuzzRandom& random, size_t n) {
  return std::uniform_int_distribution<size_t>(0, n - 1)(random);
}

std::string OtherNumber(const std::string& token, FuzzRandom& random) {
  constexpr int64_t kEdges[] = {
      0,  1,  -1,  2,     3,          4,
      7,  8,  63,  64,    127,        128,
      65, -2, 256, 65536, 1LL << 31,  (1LL << 32) - 1,
      10, 16, 100, -128,  1000000007, std::numeric_limits<int64_t>::max(),
      31, 32, 33,  -7,    1LL << 62,  std::numeric_limits<int64_t>::min()};
  int64_t value = 0;
  if (!absl::SimpleAtoi(token, &value) || Below(random, 3) == 0)
    return absl::StrCat(kEdges[Below(random, std::size(kEdges))]);
  const int64_t step = static_cast<int64_t>(Below(random, 5)) - 2;
  return absl::StrCat(static_cast<int64_t>(static_cast<uint64_t>(value) + step));
}

void Replace(Tokens& t, const Tokens&, FuzzRandom& random) {
  const size_t i = Below(random, t.size());
  t[i] = Dictionary()[Below(random, Dictionary().size())];
}
void Insert(Tokens& t, const Tokens&, FuzzRandom& random) {
  const std::string& word = Dictionary()[Below(random, Dictionary().size())];
  t.insert(t.begin() + Below(random, t.size() + 1), Below(random, 2) ? word : ", " + word);
}
void Delete(Tokens& t, const Tokens&, FuzzRandom& random) {
  const size_t first = Below(random, t.size());
  const size_t count = std::min(t.size() - first, 1 + Below(random, 3));
  t.erase(t.begin() + first, t.begin() + first + count);
}
void Repeat(Tokens& t, const Tokens&, FuzzRandom& random) {
  const size_t first = Below(random, t.size());
  const size_t count = std::min(t.size() - first, 1 + Below(random, 8));
  const Tokens copy(t.begin() + first, t.begin() + first + count);
  t.insert(t.begin() + first, copy.begin(), copy.end());
}
void Swap(Tokens& t, const Tokens&, FuzzRandom& random) {
  std::swap(t[Below(random, t.size())], t[Below(random, t.size())]);
}
void CopyToken(Tokens& t, const Tokens&, FuzzRandom& random) {
  t[Below(random, t.size())] = std::string(t[Below(random, t.size())]);
}
void MoveNumber(Tokens& t, const Tokens&, FuzzRandom& random) {
  const size_t start = Below(random, t.size());
  for (size_t n = 0; n < t.size(); ++n) {
    std::string& token = t[(start + n) % t.size()];
    const char c = token[token[0] == '-' && token.size() > 1];
    if (c < '0' || c > '9') continue;
    token = OtherNumber(token, random);
    return;
  }
}
void DeleteLine(Tokens& t, const Tokens&, FuzzRandom& random) {
  const auto [first, last] = LineAround(t, Below(random, t.size()));
  t.erase(t.begin() + first, t.begin() + last);
}
void MoveLine(Tokens& t, const Tokens&, FuzzRandom& random) {
  const auto [first, last] = LineAround(t, Below(random, t.size()));
  const Tokens line(t.begin() + first, t.begin() + last);
  if (Below(random, 2)) t.erase(t.begin() + first, t.begin() + last);
  const size_t to = t.empty() ? 0 : LineAround(t, Below(random, t.size())).first;
  t.insert(t.begin() + to, line.begin(), line.end());
}
void TakeLines(Tokens& t, const Tokens& other, FuzzRandom& random) {
  if (other.empty()) return;
  const size_t first = LineAround(other, Below(random, other.size())).first;
  size_t last = first;
  for (size_t lines = 1 + Below(random, 4); lines > 0 && last < other.size(); --lines)
    last = LineAround(other, last).second;
  const size_t to = LineAround(t, Below(random, t.size())).first;
  t.insert(t.begin() + to, other.begin() + first, other.begin() + last);
}
void TakeTokens(Tokens& t, const Tokens& other, FuzzRandom& random) {
  if (other.empty()) return;
  const size_t first = Below(random, other.size());
  const size_t last = std::min(other.size(), first + 1 + Below(random, 12));
  const size_t to = Below(random, t.size());
  t.erase(t.begin() + to, t.begin() + std::min(t.size(), to + Below(random, 12)));
  t.insert(t.begin() + to, other.begin() + first, other.begin() + last);
}
void CutEnd(Tokens& t, const Tokens&, FuzzRandom& random) { t.resize(1 + Below(random, t.size())); }
void BreakByte(Tokens& t, const Tokens&, FuzzRandom& random) {
  std::string& token = t[Below(random, t.size())];
  token[Below(random, token.size())] = static_cast<char>(Below(random, 256));
}

using TokenChange = void (*)(Tokens&, const Tokens&, FuzzRandom&);
constexpr TokenChange kTokenChanges[] = {
    Replace, Insert,     Delete,   Repeat,    Swap,       MoveNumber, MoveNumber, MoveNumber,
    Replace, CopyToken,  Replace,  TakeLines, TakeTokens, DeleteLine, MoveLine,   CutEnd,
    Delete,  TakeTokens, MoveLine, Insert,    CopyToken,  CopyToken,  BreakByte};

void FlipBit(std::string& b, absl::string_view, FuzzRandom& random) {
  b[Below(random, b.size())] ^= static_cast<char>(1 << Below(random, 8));
}
void SetInteger(std::string& b, absl::string_view, FuzzRandom& random) {
  constexpr uint64_t kEdges[] = {0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, ~uint64_t{0}};
  const uint64_t value = kEdges[Below(random, std::size(kEdges))];
  const size_t at = Below(random, b.size());
  const size_t width = std::min(b.size() - at, size_t{1} << Below(random, 4));
  std::memcpy(b.data() + at, &value, width);
}
void SetByte(std::string& b, absl::string_view, FuzzRandom& random) {
  b[Below(random, b.size())] = static_cast<char>(Below(random, 256));
}
void DeleteBytes(std::string& b, absl::string_view, FuzzRandom& random) {
  b.erase(Below(random, b.size()), 1 + Below(random, 16));
}
void RepeatBytes(std::string& b, absl::string_view, FuzzRandom& random) {
  const size_t at = Below(random, b.size());
  b.insert(at, b.substr(at, 1 + Below(random, 64)));
}
void TakeBytes(std::string& b, absl::string_view other, FuzzRandom& random) {
  if (other.empty()) return;
  const absl::string_view part = other.substr(Below(random, other.size()), 1 + Below(random, 64));
  b.replace(Below(random, b.size()), Below(random, 64), std::string(part));
}
void CutBytes(std::string& b, absl::string_view, FuzzRandom& random) {
  b.resize(1 + Below(random, b.size()));
}

using ByteChange = void (*)(std::string&, absl::string_view, FuzzRandom&);
constexpr ByteChange kByteChanges[] = {FlipBit,     SetInteger,  SetByte,   SetByte,
                                       DeleteBytes, RepeatBytes, TakeBytes, CutBytes};

}  // namespace

std::string MutateTokens(absl::string_view text, absl::string_view other, size_t max_size,
                         FuzzRandom& random) {
  Tokens tokens = SplitTokens(text);
  const Tokens others = SplitTokens(other);
  for (size_t n = 1 + Below(random, 4); n > 0; --n) {
    if (tokens.empty()) tokens.push_back(Dictionary()[Below(random, Dictionary().size())]);
    kTokenChanges[Below(random, std::size(kTokenChanges))](tokens, others, random);
    std::erase(tokens, "");
  }
  std::string out = JoinTokens(tokens);
  out.resize(std::min(out.size(), max_size));
  return out;
}

std::string MutateBytes(absl::string_view bytes, absl::string_view other, size_t max_size,
                        FuzzRandom& random) {
  std::string out(bytes);
  for (size_t n = 1 + Below(random, 4); n > 0; --n) {
    if (out.empty()) out.push_back('\0');
    kByteChanges[Below(random, std::size(kByteChanges))](out, other, random);
  }
  out.resize(std::min(out.size(), max_size));
  return out;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
