// PTX functions: parameters, performance directives, registers, labels and statements.
#include <algorithm>
#include <utility>

#include "ptxsim/parser_internal.h"

namespace hlokit::ptx {

bool Parser::ParseFunction(bool is_entry) {
  auto function = std::make_unique<Function>();
  function_ = function.get();
  function->is_entry = is_entry;
  function->scopes.emplace_back();
  scope_ = 0;
  if (token_.Is('(') && !ParseParameters(function->results)) return false;
  function->place = token_.place;
  if (!ExpectWord(function->name)) return false;
  if (token_.Is('(') && !ParseParameters(function->parameters)) return false;
  if (!ParseFunctionDirectives()) return false;
  Function*& known = module_->functions_by_name[function->name];
  const bool is_body = token_.Is('{');
  if (known != nullptr && known->is_defined && is_body) {
    out_.Error(function->place, "", "function `", function->name, "` is defined twice")
        .Note(known->place, "first defined here");
    return false;
  }
  // A definition replaces what a declaration said.
  if (known == nullptr || is_body) known = function.get();
  module_->functions.push_back(std::move(function));
  if (is_body) return ParseBody();
  return Expect(';');
}

bool Parser::ParseParameters(std::vector<Variable>& parameters) {
  Advance();
  while (!token_.Is(')')) {
    absl::string_view space;
    const SourcePlace place = token_.place;
    if (!ExpectDotted(space)) return false;
    if (space != "param" && space != "reg") {
      out_.Error(place, "", "a parameter is `.param` or `.reg`, not `.", space, "`");
      return false;
    }
    if (!ParseDeclarators(space == "reg" ? Space::kRegister : Space::kParam, false, parameters,
                          /*is_statement=*/false))
      return false;
    if (!Accept(',')) break;
  }
  return Expect(')');
}

bool Parser::ParseTriple(int values[3]) {
  values[1] = values[2] = 1;
  for (int i = 0; i < 3; ++i) {
    int64_t value = 0;
    if (!ExpectInteger(value)) return false;
    values[i] = static_cast<int>(std::clamp<int64_t>(value, 0, INT32_MAX));
    if (!Accept(',')) break;
  }
  return true;
}

// .maxntid, .reqntid, .minnctapersm and the like: limits that a launch must respect.
bool Parser::ParseFunctionDirectives() {
  while (token_.kind == Token::kDotted) {
    const absl::string_view word = token_.text;
    const SourcePlace place = token_.place;
    if (word == "pragma") {
      if (!ParsePragma()) return false;
      continue;
    }
    Advance();
    int64_t ignored = 0;
    if (word == "maxntid" || word == "reqntid") {
      function_->requires_threads = word == "reqntid";
      if (!ParseTriple(function_->max_threads)) return false;
    } else if (word == "reqnctapercluster") {
      if (!ParseTriple(function_->cluster)) return false;
    } else if (word == "minnctapersm" || word == "maxnctapersm" || word == "maxnreg" ||
               word == "maxclusterrank" || word == "abi_preserve" ||
               word == "abi_preserve_control") {
      if (!ExpectInteger(ignored)) return false;
    } else if (word == "attribute") {
      SkipBalanced('(', ')');
    } else if (word == "unified") {
      if (token_.Is('(')) SkipBalanced('(', ')');
    } else if (word != "noreturn" && word != "explicitcluster" && word != "blocksareclusters") {
      out_.Error(place, "", "unknown directive `.", word, "` of a function");
      return false;
    }
  }
  return true;
}

bool Parser::ParseBody() {
  function_->is_defined = true;
  Advance();
  for (const std::vector<Variable>* formals : {&function_->results, &function_->parameters})
    for (const Variable& formal : *formals)
      if (formal.space == Space::kRegister) DeclareRegister(formal.name, formal, formal.place);
  std::vector<uint32_t> outer;  // scopes around this one
  for (;;) {
    if (out_.full()) return true;
    if (token_.kind == Token::kEnd) return Unexpected("`}`");
    if (Accept('{')) {
      outer.push_back(scope_);
      function_->scopes.push_back({.parent = scope_, .symbols = {}, .ranges = {}});
      scope_ = static_cast<uint32_t>(function_->scopes.size() - 1);
    } else if (Accept('}')) {
      if (outer.empty()) return true;
      scope_ = outer.back();
      outer.pop_back();
    } else if (const uint32_t before = token_.place.offset; !ParseStatement()) {
      depth_ = 0;
      Recover();
      if (token_.place.offset == before && !token_.Is('}')) Advance();
    }
  }
}

bool Parser::ParseStatement() {
  if (Accept(';')) return true;
  if (token_.kind == Token::kDotted) return ParseBodyDirective();
  if (token_.kind == Token::kWord && ahead_.Is(':')) {
    const std::string name(token_.text);
    const SourcePlace place = token_.place;
    Advance();
    Advance();
    return ParseLabel(name, place);
  }
  return ParseInstruction();
}

bool Parser::ParseBodyDirective() {
  const absl::string_view word = token_.text;
  if (word == "loc") return ParseLocation();
  if (word == "file") return ParseFile();
  if (word == "pragma") return ParsePragma();
  if (word == "reg") return ParseRegisters();
  if (word == "section") return ParseSection();
  const std::optional<Space> space = SpaceNamed(word);
  if (word == "extern" || word == "visible" || word == "weak") {
    Advance();
    return ParseBodyDirective();
  }
  if (!space.has_value()) {
    out_.Error(token_.place, "", "unknown directive `.", word, "`");
    return false;
  }
  Advance();
  const size_t first = function_->variables.size();
  if (!ParseDeclarators(*space, false, function_->variables, /*is_statement=*/true)) return false;
  for (size_t i = first; i < function_->variables.size(); ++i)
    Declare(function_->variables[i].name, {Symbol::kVariable, static_cast<uint32_t>(i)},
            function_->variables[i].place);
  return true;
}

// .loc file line column [, function_name label [+ offset], inlined_at file line column]
bool Parser::ParseLocation() {
  Advance();
  int64_t number = 0;
  for (int i = 0; i < 3; ++i)
    if (!ExpectInteger(number)) return false;
  while (Accept(',')) {
    std::string word;
    if (!ExpectWord(word)) return false;
    if (word == "function_name") {
      if (!ExpectWord(word)) return false;
      if (Accept('+') && !ExpectInteger(number)) return false;
    } else {  // inlined_at file line column
      for (int i = 0; i < 3; ++i)
        if (!ExpectInteger(number)) return false;
    }
  }
  return true;
}

// .reg .b32 %r<10>, %x; .reg .v4 .f32 %v;
bool Parser::ParseRegisters() {
  Advance();
  Variable prototype;
  if (!ParseVariableType(prototype)) return false;
  constexpr int64_t kMaxRegisters = 1 << 24;
  do {
    const SourcePlace place = token_.place;
    std::string name;
    if (!ExpectWord(name)) return false;
    int64_t count = 1;
    const bool is_range = Accept('<');
    if (is_range) {  // no expression: > ends it
      if (token_.kind != Token::kInteger) return Unexpected("a number");
      count = static_cast<int64_t>(token_.bits);
      Advance();
      if (!Expect('>')) return false;
    }
    const auto first = static_cast<uint32_t>(function_->registers.size());
    if (count < 0 || count * prototype.vector + first > kMaxRegisters) {
      out_.Error(place, "", count, " registers: at most ", kMaxRegisters, " are supported");
      return false;
    }
    if (!is_range) {
      DeclareRegister(name, prototype, place);
    } else if (prototype.vector > 1) {
      for (int64_t i = 0; i < count; ++i)
        DeclareRegister(name + std::to_string(i), prototype, place);
    } else {
      function_->registers.resize(first + count, {prototype.type, 1});
      function_->scopes[scope_].ranges[name] = {prototype.type, first,
                                                static_cast<uint32_t>(count)};
    }
  } while (Accept(','));
  return Expect(';');
}

// One register; of a vector, one a component, by the names .x .y .z .w and .r .g .b .a.
void Parser::DeclareRegister(const std::string& name, const Variable& prototype,
                             SourcePlace place) {
  const auto first = static_cast<uint32_t>(function_->registers.size());
  function_->registers.resize(first + static_cast<uint32_t>(prototype.vector),
                              {prototype.type, prototype.vector});
  if (prototype.vector == 1) return Declare(name, {Symbol::kRegister, first}, place);
  Declare(name, {Symbol::kVector, first}, place);
  for (uint32_t i = 0; i < static_cast<uint32_t>(std::min(prototype.vector, 4)); ++i)
    for (const char* letters : {"xyzw", "rgba"})
      Declare(name + "." + letters[i], {Symbol::kRegister, first + i}, place);
}

void Parser::Declare(const std::string& name, Symbol symbol, SourcePlace place) {
  if (!function_->scopes[scope_].symbols.emplace(name, symbol).second)
    out_.Error(place, "", "`", name, "` is declared twice in one scope");
}

bool Parser::ParseLabel(const std::string& name, SourcePlace place) {
  if (token_.IsDotted("branchtargets") || token_.IsDotted("calltargets") ||
      token_.IsDotted("callprototype"))
    return ParseLabelDirective(name, place);
  Declare(name, {Symbol::kLabel, static_cast<uint32_t>(function_->labels.size())}, place);
  function_->labels.push_back(static_cast<uint32_t>(function_->instructions.size()));
  return true;
}

bool Parser::ParseLabelDirective(const std::string& name, SourcePlace place) {
  if (AcceptDotted("callprototype")) {
    Declare(name, {Symbol::kPrototype, 0}, place);
    std::vector<Variable> ignored;
    std::string callee;
    if (token_.Is('(') && !ParseParameters(ignored)) return false;
    if (!ExpectWord(callee)) return false;
    if (token_.Is('(') && !ParseParameters(ignored)) return false;
    while (token_.kind == Token::kDotted || token_.kind == Token::kInteger) Advance();
    return Expect(';');
  }
  Advance();
  Declare(name, {Symbol::kTargets, static_cast<uint32_t>(function_->targets.size())}, place);
  TargetList list;
  list.scope = scope_;
  if (!ParseOperands(list.names)) return false;
  function_->targets.push_back(std::move(list));
  return Expect(';');
}

// [@[!]p] opcode.modifiers operands;
bool Parser::ParseInstruction() {
  Instruction instruction;
  instruction.scope = scope_;
  if (Accept('@')) {
    instruction.guard_negated = Accept('!');
    if (!ExpectWord(instruction.guard)) return false;
  }
  if (token_.kind != Token::kWord) return Unexpected("an instruction");
  instruction.place = token_.place;
  instruction.opcode = token_.text;
  Advance();
  while (token_.kind == Token::kDotted) {
    instruction.modifiers.push_back(token_.text);
    Advance();
  }
  if (!token_.Is(';') && !ParseOperands(instruction.operands)) return false;
  if (!token_.Is(';')) return Unexpected("`,` or `;`");
  Advance();
  const SourcePlace last =
      instruction.modifiers.empty()
          ? instruction.place
          : SourcePlace{
                static_cast<uint32_t>(instruction.modifiers.back().data() - source_->text().data()),
                static_cast<uint32_t>(instruction.modifiers.back().size())};
  instruction.place.length = last.offset + last.length - instruction.place.offset;
  function_->instructions.push_back(std::move(instruction));
  return true;
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
