// PTX's module-level directives and variables, by recursive descent.
//   .version 8.0  .target sm_80  .address_size 64  .visible .entry f(.param .u64 p) { ... }
// After an error reading goes on at the next statement, so that one run reports several.
#include "ptxsim/parser.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "ptxsim/parser_internal.h"

namespace hlokit::ptx {

Parser::Parser(std::shared_ptr<const SourceFile> source, Diagnostics& out)
    : source_(std::move(source)),
      out_(out),
      lexer_(source_->text(), out),
      module_(std::make_unique<Module>()) {
  module_->source = source_;
  token_ = lexer_.Next();
  ahead_ = lexer_.Next();
}

void Parser::Advance() {
  token_ = ahead_;
  if (token_.kind != Token::kEnd) ahead_ = lexer_.Next();
}

bool Parser::Accept(char c) {
  if (!token_.Is(c)) return false;
  Advance();
  return true;
}

bool Parser::AcceptDotted(absl::string_view word) {
  if (!token_.IsDotted(word)) return false;
  Advance();
  return true;
}

// An error that names what was found; false.
bool Parser::Unexpected(absl::string_view what) {
  if (token_.kind == Token::kBad) return false;  // the lexer has told
  if (token_.kind == Token::kEnd) {
    out_.Error(token_.place, "", "expected ", what, ", found the end of the file");
  } else {
    out_.Error(token_.place, "", "expected ", what, ", found `", source_->TextAt(token_.place),
               "`");
  }
  return false;
}

bool Parser::Expect(char c) {
  return Accept(c) || Unexpected(absl::StrCat("`", std::string(1, c), "`"));
}

bool Parser::ExpectWord(std::string& word) {
  if (token_.kind != Token::kWord) return Unexpected("a name");
  word = std::string(token_.text);
  Advance();
  return true;
}

bool Parser::ExpectDotted(absl::string_view& word) {
  if (token_.kind != Token::kDotted) return Unexpected("a directive");
  word = token_.text;
  Advance();
  return true;
}

bool Parser::ExpectInteger(int64_t& value) {
  Constant constant;
  const Token first = token_;
  if (!ParseConstant(constant)) return false;
  if (constant.is_float) {
    out_.Error(first.place, "", "expected an integer");
    return false;
  }
  value = static_cast<int64_t>(constant.bits);
  return true;
}

// Skips to the end of the statement or block that has an error.
void Parser::Recover() {
  int depth = 0;
  while (token_.kind != Token::kEnd) {
    if (token_.Is(';') && depth == 0) {
      Advance();
      return;
    }
    if (token_.Is('{')) ++depth;
    if (token_.Is('}') && --depth < 0) return;
    Advance();
  }
}

void Parser::SkipBalanced(char open, char close) {
  int depth = 0;
  do {
    if (token_.Is(open)) ++depth;
    if (token_.Is(close)) --depth;
    Advance();
  } while (depth > 0 && token_.kind != Token::kEnd);
}

std::unique_ptr<Module> Parser::Run() {
  while (token_.kind != Token::kEnd && !out_.full()) {
    const uint32_t before = token_.place.offset;
    if (ParseTopLevel()) continue;
    Recover();
    if (token_.place.offset == before || token_.Is('}')) Advance();
  }
  if (!out_.ok()) return nullptr;
  return std::move(module_);
}

bool Parser::ParseTopLevel() {
  if (Accept(';')) return true;
  if (token_.kind == Token::kString || token_.IsWord("@@DWARF")) return SkipStatement();
  if (token_.kind != Token::kDotted) return Unexpected("a directive");
  const absl::string_view word = token_.text;
  if (word == "version") return ParseVersion();
  if (word == "target") return ParseTarget();
  if (word == "address_size") return ParseAddressSize();
  if (word == "file") return ParseFile();
  if (word == "loc") return ParseLocation();
  if (word == "section") return ParseSection();
  if (word == "pragma") return ParsePragma();
  if (word == "alias") return ParseAlias();
  return ParseLinked();
}

bool Parser::ParseVersion() {
  Advance();
  const std::vector<std::string> parts =
      absl::StrSplit(std::string(source_->TextAt(token_.place)), '.');
  if (token_.kind != Token::kFloat || parts.size() != 2 ||
      !absl::SimpleAtoi(parts[0], &module_->version_major) ||
      !absl::SimpleAtoi(parts[1], &module_->version_minor))
    return Unexpected("a version such as 8.3");
  Advance();
  return true;
}

bool Parser::ParseTarget() {
  Advance();
  do {
    std::string word;
    if (!ExpectWord(word)) return false;
    if (absl::string_view(word).substr(0, 3) == "sm_") module_->target = word;
  } while (Accept(','));
  return true;
}

bool Parser::ParseAddressSize() {
  Advance();
  int64_t size = 0;
  const SourcePlace place = token_.place;
  if (!ExpectInteger(size)) return false;
  module_->address_size = static_cast<int>(size);
  if (size == 64) return true;
  out_.Error(place, "", "addresses of ", size, " bits: only those of 64 bits are supported");
  return false;
}

// .file 1 "name.cu" [, timestamp, size]: kept by the text alone.
bool Parser::ParseFile() {
  Advance();
  int64_t number = 0;
  if (!ExpectInteger(number)) return false;
  if (token_.kind != Token::kString) return Unexpected("a file's name in quotes");
  Advance();
  while (Accept(','))
    if (!ExpectInteger(number)) return false;
  return true;
}

// .section .debug_info { ... }: debug information, passed over.
bool Parser::ParseSection() {
  Advance();
  while (token_.kind == Token::kDotted || token_.kind == Token::kWord) Advance();
  if (!token_.Is('{')) return Unexpected("`{`");
  SkipBalanced('{', '}');
  return true;
}

bool Parser::ParsePragma() {
  Advance();
  do {
    if (token_.kind != Token::kString) return Unexpected("a pragma in quotes");
    Advance();
  } while (Accept(','));
  return Expect(';');
}

// .alias name, aliasee: a second name of a function.
bool Parser::ParseAlias() {
  Advance();
  std::string alias, target;
  if (!ExpectWord(alias) || !Expect(',')) return false;
  const SourcePlace place = token_.place;
  if (!ExpectWord(target)) return false;
  const auto found = module_->functions_by_name.find(target);
  if (found == module_->functions_by_name.end()) {
    out_.Error(place, "", "alias of `", target, "`, which is no function of this file");
    return false;
  }
  Function* function = found->second;
  module_->functions_by_name[alias] = function;
  return Expect(';');
}

bool Parser::SkipStatement() {
  while (token_.kind != Token::kEnd && !Accept(';')) Advance();
  return true;
}

// [.extern|.visible|.weak|.common] then a function or a variable.
bool Parser::ParseLinked() {
  bool is_extern = false;
  for (;;) {
    if (AcceptDotted("extern")) {
      is_extern = true;
    } else if (!AcceptDotted("visible") && !AcceptDotted("weak") && !AcceptDotted("common")) {
      break;
    }
  }
  if (AcceptDotted("entry")) return ParseFunction(/*is_entry=*/true);
  if (AcceptDotted("func")) return ParseFunction(/*is_entry=*/false);
  if (AcceptDotted("tex")) return ParseOldTexture();
  if (token_.kind != Token::kDotted) return Unexpected("a directive");
  const std::optional<Space> space = SpaceNamed(token_.text);
  if (!space.has_value() || *space == Space::kRegister || *space == Space::kParam) {
    out_.Error(token_.place, "", "unknown directive `.", token_.text, "`");
    return false;
  }
  Advance();
  return ParseDeclarators(*space, is_extern, module_->variables,
                          /*is_statement=*/true);
}

// .tex .u32 name, ...;: the old way to say .global .texref name.
bool Parser::ParseOldTexture() {
  absl::string_view type;
  if (!ExpectDotted(type)) return false;
  do {
    Variable variable;
    variable.object = ObjectKind::kTexture;
    variable.type = Type::kB64;
    if (!ParseDeclarator(variable)) return false;
    module_->variables.push_back(std::move(variable));
  } while (Accept(','));
  return Expect(';');
}

bool Parser::ParseDeclarators(Space space, bool is_extern, std::vector<Variable>& variables,
                              bool is_statement) {
  Variable prototype;
  prototype.space = space;
  prototype.is_extern = is_extern;
  if (!ParseVariableType(prototype)) return false;
  do {
    Variable variable = prototype;
    if (!ParseDeclarator(variable)) return false;
    variables.push_back(std::move(variable));
  } while (is_statement && Accept(','));
  return !is_statement || Expect(';');
}

// .align 8 .v2 .f32, .b64 .ptr .global .align 16, .attribute(.managed), ...
bool Parser::ParseVariableType(Variable& variable) {
  bool has_type = false;
  while (token_.kind == Token::kDotted) {
    const absl::string_view word = token_.text;
    const SourcePlace place = token_.place;
    Advance();
    if (word == "align") {
      int64_t align = 0;
      if (!ExpectInteger(align)) return false;
      if (align < 1 || align > 1 << 20 || (align & (align - 1)) != 0) {
        out_.Error(place, "", "an alignment of ", align, " bytes: expected a power of two");
        return false;
      }
      if (!variable.is_pointer) variable.align = static_cast<int>(align);
    } else if (word == "v2" || word == "v4" || word == "v8") {
      variable.vector = word[1] - '0';
    } else if (word == "ptr") {
      variable.is_pointer = true;
    } else if (word == "attribute") {
      SkipBalanced('(', ')');
    } else if (const ObjectKind object = ObjectNamed(word); object != ObjectKind::kNone) {
      variable.object = object;
      variable.type = Type::kB64;  // of a parameter: a handle
      has_type = true;
    } else if (const std::optional<Type> type = TypeNamed(word); type.has_value()) {
      variable.type = *type;
      has_type = true;
    } else if (!variable.is_pointer || !SpaceNamed(word).has_value()) {
      out_.Error(place, "", "`.", word, "` is no part of a declaration");
      return false;
    }
  }
  variable.align = std::max(variable.align, BytesOf(variable.type) * variable.vector);
  return has_type || Unexpected("a type");
}

bool Parser::ParseDeclarator(Variable& variable) {
  variable.place = token_.place;
  if (!ExpectWord(variable.name)) return false;
  constexpr int64_t kMaxBytes = int64_t{1} << 36;
  while (Accept('[')) {
    variable.is_array = true;
    int64_t dim = 0;
    const SourcePlace place = token_.place;
    if (!token_.Is(']') && !ExpectInteger(dim)) return false;
    if (dim < 0 || dim > kMaxBytes) {
      out_.Error(place, "", "an array of ", dim, " elements");
      return false;
    }
    variable.dims.push_back(dim);
    if (!Expect(']')) return false;
  }
  if (variable.object != ObjectKind::kNone && variable.space == Space::kGlobal)
    return ParseObject(variable);
  if (!Accept('=')) return true;
  return ParseInitializer(variable);
}

// = value, or nested braces for arrays; what is left out is zero.
bool Parser::ParseInitializer(Variable& variable) {
  int64_t at = 0;
  if (token_.Is('{') ? !ParseInitializerList(variable, at) : !ParseInitializerValue(variable, at))
    return false;
  if (variable.dims.size() == 1 && variable.dims[0] == 0)
    variable.dims[0] = at / (int64_t{BytesOf(variable.type)} * variable.vector);
  if (at <= variable.ByteSize()) return true;
  out_.Error(variable.place, "", "`", variable.name, "` has ", variable.ByteSize(),
             " bytes, its initializer ", at);
  return false;
}

bool Parser::ParseInitializerList(Variable& variable, int64_t& at) {
  if (++depth_ > 64) return Unexpected("fewer nested braces");
  Advance();
  while (!token_.Is('}')) {
    if (token_.Is('{') ? !ParseInitializerList(variable, at) : !ParseInitializerValue(variable, at))
      return false;
    if (!Accept(',')) break;
  }
  --depth_;
  return Expect('}');
}

bool Parser::ParseInitializerValue(Variable& variable, int64_t& at) {
  Initializer value;
  value.place = token_.place;
  value.size = BytesOf(variable.type);
  value.at = at;
  at += value.size;
  if (token_.kind == Token::kWord && token_.text != "WARP_SZ") {
    value.generic = token_.text == "generic" && ahead_.Is('(');
    if (value.generic) {
      Advance();
      Advance();
    }
    if (!ExpectWord(value.symbol)) return false;
    if (value.generic && !Expect(')')) return false;
    int64_t offset = 0;
    if (!ParseOffset(offset)) return false;
    value.bits = static_cast<uint64_t>(offset);
    variable.values.push_back(value);
    return true;
  }
  Operand operand;
  if (!ParseConstantOperand(operand)) return false;
  Constant constant;
  constant.bits = operand.bits;
  constant.is_float = operand.kind == Operand::kFloat;
  constant.is_single = operand.is_single;
  value.bits = constant.bits;
  if (constant.is_float && !constant.is_single && variable.type == Type::kF32) {
    const float single = static_cast<float>(constant.AsDouble());
    uint32_t bits = 0;
    std::copy_n(reinterpret_cast<const char*>(&single), 4, reinterpret_cast<char*>(&bits));
    value.bits = bits;
  }
  variable.values.push_back(value);
  return true;
}

std::unique_ptr<Module> ParseModule(std::shared_ptr<const SourceFile> source, Diagnostics& out) {
  return Parser(std::move(source), out).Run();
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
