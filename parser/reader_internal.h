// The lexer: takes tokens straight from the text, on demand, and reports what it expected where.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "support/diagnostics.h"
#include "support/limits.h"

namespace hlokit {

enum CharClass : uint8_t { kSkip = 1, kWordStart = 2, kWordPart = 4, kDigit = 8 };

struct CharClasses {
  uint8_t of[256] = {};
  constexpr CharClasses() {
    for (int c = 0; c < 256; ++c) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
      const bool digit = c >= '0' && c <= '9';
      if (letter) of[c] |= kWordStart;
      if (letter || digit || c == '.' || c == '-') of[c] |= kWordPart;
      if (digit) of[c] |= kDigit;
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '/') of[c] |= kSkip;
    }
  }
};
inline constexpr CharClasses kCharClasses;

// Functions that read return false once they have reported an error; the reader then stands near
// it. The text must end in a NUL byte that is not part of it (as std::string's does). Blanks and
// comments between tokens are skipped by every function that looks at the next token.
class Reader {
 public:
  Reader(absl::string_view text, Diagnostics& diagnostics);

  // The next character that is neither blank nor comment; NUL at the end (or at a NUL byte in the
  // text).
  char Peek() {
    if (*at_ == ' ') ++at_;  // one blank is the rule
    if (IsClass(*at_, kSkip)) SkipBlanks();
    return *at_;
  }
  bool AtEnd() { return Peek() == '\0' && at_ == end_; }
  // Where the next token starts.
  const char* Here() {
    Peek();
    return at_;
  }
  const char* raw_position() const { return at_; }  // without skipping blanks
  void MoveTo(const char* at) { at_ = at; }
  const char* begin() const { return begin_; }
  const char* end() const { return end_; }

  bool TryEat(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  bool TryEat(const char* two);  // "->", "<="
  bool TryEatWord(absl::string_view word);
  // Takes `c` or reports that it was expected `where` ("after the parameter number").
  bool Eat(char c, absl::string_view where) { return TryEat(c) || ExpectedChar(c, where); }

  // [A-Za-z_][A-Za-z0-9_.-]*, at most kMaxWordBytes of it; empty where there is none.
  absl::string_view Word() {
    absl::string_view word = PeekWord();
    at_ += word.size();
    return word;
  }
  absl::string_view PeekWord();
  // `%name`, `name:` or `name`, without its mark. `what` names it in the error.
  bool Name(absl::string_view& name, absl::string_view what);
  // Whether the name that was read at `at` has a mark: such a name may be spelled like a keyword.
  static bool IsMarked(const char* at, absl::string_view name) {
    return *at == '%' || *name.end() == ':';
  }
  // `name=`: as in XLA, no blank may stand before the sign. `what` says what was expected.
  bool AttributeName(absl::string_view& name, absl::string_view what);

  bool Int(int64_t& value);    // 64 bits, signed
  bool Double(double& value);  // also inf and nan
  // The same for an attribute: without a point or an exponent it is an integer, so -0 is 0.
  bool AttributeNumber(double& value);
  bool Bool(bool& value);
  bool String(std::string& value);  // "..." or '...', unescaped
  // The same as a view: of the source text, or of `unescaped` where there are escapes.
  bool String(absl::string_view& value, std::string& unescaped);
  // A bracketed text ({..}, [..], (..)) with what is in it, strings respected, brackets of other
  // kinds not looked at; the view includes the brackets.
  bool Balanced(absl::string_view& text);
  // The text from a brace to the first one that closes, strings passed over, if that is what comes
  // next; else nothing. Takes nothing.
  absl::string_view PeekBraced();
  // The text of an attribute value of unknown form, up to a comma, line end or closing bracket at
  // its own level.
  bool AnyValue(absl::string_view& text);

  // `open` item, item... `close`.
  template <typename Fn>
  bool List(char open, char close, Fn item) {
    if (!Eat(open, "to start a list")) return false;
    if (TryEat(close)) return true;
    do {
      if (!item()) return false;
    } while (TryEat(','));
    return Eat(close, "to end the list");
  }

  // An error at `at` (a pointer into the text); always false.
  template <typename... Parts>
  bool Error(const char* at, const Parts&... parts) {
    return RuleError(at, "", parts...);
  }
  // The same for a rule of ops/rules.def, by its label.
  template <typename... Parts>
  bool RuleError(const char* at, absl::string_view label, const Parts&... parts) {
    diagnostics_.Error(PlaceAt(at), label, parts...);
    return false;
  }
  // "expected WHAT, found 'TOKEN'" at the next token; always false.
  bool Expected(absl::string_view what);
  // The same for what should have followed on the same line: where the next token stands on a later
  // one, the end of the line is named.
  bool ExpectedHere(absl::string_view what);
  // The same for a value: the brace that closes a computation, on a line of its own, is none, and
  // what is missing is missing before it.
  bool ExpectedValue(absl::string_view what);
  // Where the line of the token before ended, if the one at `at` (the next) stands on a later one;
  // else null.
  const char* LineEndBefore(const char* at) const;
  const char* LineEndBefore() { return LineEndBefore(Here()); }
  bool ExpectedChar(char c, absl::string_view where);
  // Takes so many bytes, which a short text is about to be blown up to, out of what a text may.
  bool Fill(int64_t bytes);
  // The token that starts at `at`.
  SourcePlace PlaceAt(const char* at) const;
  SourcePlace PlaceOf(absl::string_view text) const {
    return {static_cast<uint32_t>(text.data() - begin_), static_cast<uint32_t>(text.size())};
  }
  Diagnostics& diagnostics() { return diagnostics_; }

  // Counts nesting for as long as it lives; Enter reports nesting that is too deep.
  class Depth {
   public:
    explicit Depth(Reader& reader) : reader_(reader) { ++reader_.depth_; }
    ~Depth() { --reader_.depth_; }
    bool ok() { return reader_.depth_ <= kMaxNesting || reader_.TooDeep(); }

   private:
    Reader& reader_;
  };

  // Log prefixes (`I0521 12:04:45.883 123 service.cc:186] `) at line starts are blanks from here
  // on.
  void SkipLogPrefixes();
  // The end of the log prefix at `at`, or `at` itself.
  const char* AfterLogPrefix(const char* at) const;

  static bool IsClass(char c, uint8_t mask) {
    return (kCharClasses.of[static_cast<uint8_t>(c)] & mask) != 0;
  }

 private:
  void SkipBlanks();
  // Where a word that starts at `at` ends at the latest.
  const char* LongestFrom(const char* at) const {
    return at + std::min<int64_t>(kMaxWordBytes, end_ - at);
  }
  bool TooDeep();
  bool TooLong();
  const char* QuoteEnd(const char* quote) const;  // one past the closing quote, or null
  std::string Found();

  const char* begin_;
  const char* end_;
  const char* at_;
  Diagnostics& diagnostics_;
  int depth_ = 0;
  int64_t filled_bytes_ = 0;
  bool skip_log_prefixes_ = false;
};

inline absl::string_view Reader::PeekWord() {
  Peek();
  const char* stop = at_;
  if (!IsClass(*stop, kWordStart)) return {};
  const char* const longest = LongestFrom(at_);
  while (IsClass(*stop, kWordPart) && stop != longest) ++stop;
  return {at_, static_cast<size_t>(stop - at_)};
}

inline bool Reader::Name(absl::string_view& name, absl::string_view what) {
  const bool percent = Peek() == '%';
  at_ += percent;
  if (percent && !IsClass(*at_, kWordStart)) return ExpectedValue(what);
  name = Word();
  if (static_cast<int64_t>(name.size()) == kMaxWordBytes) return TooLong();
  if (!percent && *at_ == ':' && !name.empty()) ++at_;
  return !name.empty() || ExpectedValue(what);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
