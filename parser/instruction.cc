// Reads one instruction: `[ROOT] name = shape opcode(operands), attributes`.
//
// The shape may be missing where inference gives it, operands may be instructions in place
// (`add(f32[2] exponential(x), y)`), and the short forms `all-reduce-start(...)` of asynchronous
// operations become async-start with a computation around the operation. An instruction that fails
// keeps its name in the scope as broken (parser/recovery.cc).
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ir/op_facts.h"
#include "parser/literals_internal.h"
#include "parser/module_parser_internal.h"
#include "parser/normalize.h"
#include "parser/shapes_internal.h"
#include "support/display.h"

namespace hlokit {
namespace {

// Where a plain word or number at `at` ends, if a parenthesis follows; else null.
const char* ScalarEnd(const char* at) {
  while (Reader::IsClass(*at, kWordPart) || *at == '+') ++at;
  return *at == ')' ? at : nullptr;
}

// Spellings of opcodes that XLA gave up.
constexpr std::pair<absl::string_view, Opcode> kFormerNames[] = {
    {"cross-replica-sum", Opcode::kAllReduce}, {"generate-token", Opcode::kAfterAll}};

// As in XLA, all that runs below an asynchronous start is of the thread that it names; two names
// are left to the verifier.
class ThreadSpreader {
 public:
  explicit ThreadSpreader(const std::string& thread) : thread_(thread) {}

  void Spread(Computation& runs) {
    std::vector<Computation*> left = {&runs};
    while (!left.empty()) {
      Computation* const next = left.back();
      left.pop_back();
      if (!seen_.insert(next).second) continue;
      if (Yields(next->execution_thread())) next->set_execution_thread(thread_);
      next->ForEach([&](Instruction* i) {
        if (i->opcode() == Opcode::kAsyncStart) SetThread(i->mutable_attr<AsyncAttrs>());
        left.insert(left.end(), i->called().begin(), i->called().end());
      });
    }
  }

 private:
  bool Yields(const std::string& named) const { return thread_.empty() || named.empty(); }
  void SetThread(AsyncAttrs& start) {
    if (Yields(start.async_execution_thread)) start.async_execution_thread = thread_;
  }

  const std::string thread_;
  absl::flat_hash_set<const Computation*> seen_;
};

}  // namespace

bool ModuleParser::ReadInstruction(Scope& scope) {
  const char* start = reader_.Here();
  const bool is_root = *start == 'R' && reader_.TryEatWord("ROOT");
  const char* name_at = reader_.Here();
  const bool percent = *name_at == '%';
  absl::string_view name;
  if (*name_at == 'E' && reader_.PeekWord() == "ENTRY") return body_open_ = false;
  if (!reader_.Name(name, "an instruction")) return false;
  const bool marked = Reader::IsMarked(name_at, name);
  if (!marked && *reader_.raw_position() == '=')
    return reader_.Error(name_at, "a blank must stand between '", name, "' and '='");
  if (!reader_.TryEat('=')) {
    if (!is_root && (reader_.Peek() == '{' || reader_.Peek() == '(')) return body_open_ = false;
    return reader_.ExpectedHere("'=' after the instruction's name");
  }
  const SourcePlace place{static_cast<uint32_t>(name_at - reader_.begin()),
                          static_cast<uint32_t>(name.size() + percent)};
  bool added = false;
  NameTable::Entry& entry = scope.names->Add(name, added);
  if (!added) {
    diagnostics()
        .Error(place, "", "the name '", Quotable(name), "' is taken")
        .Note(reader_.PlaceOf(entry.text()), "defined here before");
    return false;
  }
  entry.broken = true;
  const bool internal = absl::StartsWith(name, "__") && !absl::StartsWith(name, "__xla_");
  if (internal || (marked ? TypeFromWord(name) != ElementType::kInvalid : IsKeyword(name)))
    return reader_.Error(name_at, "'", name, "' is reserved and cannot name an instruction; ",
                         internal ? "x" : "", name, internal ? "" : "_", " could");
  if (is_root && scope.root_place.valid()) {
    diagnostics()
        .Error(reader_.PlaceAt(start), "", "a second ROOT")
        .Note(scope.root_place, "the first one");
    return false;
  }
  entry.broken = false;
  Instruction* made = ReadRightHandSide(scope, name, place, /*nested=*/false);
  // Parameters in place and names poisoned on the way may have grown the table.
  NameTable::Entry& done = lone_ || made == nullptr ? *scope.names->Find(name) : entry;
  done.instruction = made;
  done.broken = made == nullptr;
  if (is_root) scope.root_place = reader_.PlaceAt(start);
  if (is_root) scope.root = made;
  return made != nullptr;
}

Instruction* ModuleParser::ReadRightHandSide(Scope& scope, absl::string_view name,
                                             SourcePlace place, bool nested) {
  Reader::Depth depth(reader_);
  if (!depth.ok()) return nullptr;
  OpName op;
  op.start = reader_.Here();
  Shared<Shape> shape;
  const bool has_shape = StartsShape(reader_);
  if (has_shape && !ReadSharedShape(shape)) return nullptr;
  if (!ReadOpName(op)) return nullptr;
  std::unique_ptr<Instruction> made = ReadArguments(scope, op, std::move(shape), has_shape);
  if (made == nullptr) return nullptr;
  made->set_place(nested ? reader_.PlaceAt(op.at) : place);
  made->set_name(nested ? AnonymousName(op.opcode) : std::string(name));
  std::unique_ptr<Instruction> wrapped;
  if (op.sugared) {
    const bool start = op.opcode == Opcode::kAsyncStart;
    wrapped = std::make_unique<Instruction>(op.wrapped, start ? made->shape().elements[1] : Shape(),
                                            absl::Span<Instruction* const>());
    wrapped->set_place(made->place());
  }
  Seen seen;
  const bool ok = ReadAttributes(scope, op, *made, wrapped.get(), seen, !nested) &&
                  (has_shape || InferMissingShape(*made, op.at));
  if (!ok) {
    broken_.push_back(std::move(made));
    return nullptr;
  }
  if (wrapped != nullptr && op.opcode == Opcode::kAsyncStart) Wrap(*made, std::move(wrapped));
  SettleShape(*made);
  Normalize(*made);
  if (op.opcode == Opcode::kAsyncStart && !made->called().empty())
    ThreadSpreader(made->attr<AsyncAttrs>().async_execution_thread).Spread(*made->called(0));
  if (Info(op.opcode).calls == CallForm::kAsyncCalls) GiveToWrapped(*made, seen.common);
  return scope.last = scope.computation->Adopt(std::move(made));
}

// Most shapes of a module are those of other instructions too.
bool ModuleParser::ReadSharedShape(Shared<Shape>& shape) {
  const absl::string_view text = PeekShapeText(reader_);
  if (const Shared<Shape>* known = shapes_.Find(text); known != nullptr) {
    shape = *known;
    reader_.MoveTo(text.end());
    return true;
  }
  Shape read;
  if (!ReadShape(reader_, read)) return false;
  shape = std::move(read);
  const char* const after = reader_.Here();
  if (!text.empty()) reader_.MoveTo(text.end());
  if (reader_.Here() == after && !text.empty()) shapes_.Add(text, shape);
  reader_.MoveTo(after);
  return true;
}

std::string ModuleParser::AnonymousName(Opcode opcode) {
  return anonymous_.Unique(absl::StrCat(Text(opcode), ".anon"));
}

bool ModuleParser::ReadOpName(OpName& op) {
  op.at = reader_.Here();
  const absl::string_view word = reader_.PeekWord();
  if (word.empty()) return reader_.ExpectedHere("an opcode");
  std::optional<Opcode> opcode = OpcodeFromText(word);
  if (opcode) {
    op.opcode = *opcode;
    reader_.MoveTo(op.at + word.size());
    return true;
  }
  for (const auto& [former, now] : kFormerNames)
    if (!opcode && word == former) opcode = now;
  constexpr std::pair<absl::string_view, Opcode> kSuffixes[] = {{"-start", Opcode::kAsyncStart},
                                                                {"-update", Opcode::kAsyncUpdate},
                                                                {"-done", Opcode::kAsyncDone}};
  for (const auto& [suffix, async] : kSuffixes) {
    if (opcode || !absl::EndsWith(word, suffix)) continue;
    const std::optional<Opcode> wrapped =
        OpcodeFromText(word.substr(0, word.size() - suffix.size()));
    if (!wrapped) continue;
    opcode = async;
    op.sugared = true;
    op.wrapped = *wrapped;
  }
  if (!opcode && reader_.LineEndBefore() != nullptr) return reader_.ExpectedHere("an opcode");
  if (!opcode) return UnknownOpcode(word, op.at);
  op.opcode = *opcode;
  reader_.Word();
  return true;
}

std::unique_ptr<Instruction> ModuleParser::ReadArguments(Scope& scope, const OpName& op,
                                                         Shared<Shape> shape, bool has_shape) {
  Operands operands;
  const bool literal = op.opcode == Opcode::kParameter || op.opcode == Opcode::kConstant;
  if (literal && !has_shape) {
    reader_.Error(op.at, "a ", Text(op.opcode), " needs a shape in front of it");
    return nullptr;
  }
  if (!literal &&
      (!ReadOperands(scope, operands) || !CheckOperands(op, *shape, has_shape, operands)))
    return nullptr;
  auto made = std::make_unique<Instruction>(op.opcode, std::move(shape), operands);
  if (op.opcode == Opcode::kParameter && !ReadParameter(scope, *made)) return nullptr;
  if (op.opcode == Opcode::kConstant && !ReadConstant(op, *made)) return nullptr;
  if (CheckAsync(op, *made)) return made;
  broken_.push_back(std::move(made));
  return nullptr;
}

bool ModuleParser::ReadParameter(Scope& scope, Instruction& instruction) {
  if (!reader_.Eat('(', "before the parameter's number")) return false;
  const char* at = reader_.Here();
  int64_t number = 0;
  if (!reader_.Int(number)) return false;
  if (number < 0 || number >= kMaxParameters)
    return reader_.Error(at, "a parameter's number is 0 to ", kMaxParameters - 1);
  instruction.mutable_attr<ParameterAttrs>().number = number;
  ++scope.parameter_count;
  return reader_.Eat(')', "after the parameter's number");
}

namespace {

// As in XLA the scalars of a constant have L(n) and M(n) only beside tiles or a memory space:
//   bf16[]{:L(5)} constant(3) -> bf16[] constant(3)
void DropScalarPadding(Shape& shape) {
  for (Shape& element : shape.elements) DropScalarPadding(element);
  if (!shape.IsScalar() || shape.layout.extras == nullptr) return;
  LayoutExtras extras = *shape.layout.extras;
  if (!extras.tiles.empty() || extras.memory_space != 0) return;
  extras.tail_padding_alignment = LayoutExtras().tail_padding_alignment;
  extras.dynamic_metadata_bytes = 0;
  shape.layout.extras =
      extras == LayoutExtras() ? nullptr : std::make_shared<const LayoutExtras>(std::move(extras));
}

}  // namespace

bool ModuleParser::ReadConstant(const OpName& op, Instruction& instruction) {
  const Shape& stated = instruction.shape();
  if (stated.IsTuple() || (stated.IsScalar() && stated.layout.extras != nullptr))
    DropScalarPadding(instruction.mutable_shape());
  if (!reader_.Eat('(', "before the constant's value")) return false;
  const char* const end = ScalarEnd(reader_.Here());
  const bool scalar = end != nullptr && instruction.shape().IsScalar();
  const absl::string_view text(op.start, scalar ? end - op.start : 0);
  SharedLiteral& value = instruction.mutable_attr<ConstantAttrs>().literal;
  if (const SharedLiteral* known = scalar ? scalars_.Find(text) : nullptr; known != nullptr) {
    value = *known;
    reader_.MoveTo(end);
  } else {
    Literal literal;
    LiteralForms forms;
    if (!ReadLiteral(reader_, instruction.shape(), literal, forms)) return false;
    if (!forms.elided) value = std::make_shared<const Literal>(std::move(literal));
    if (scalar && value != nullptr && reader_.Here() == end) scalars_.Add(text, value);
  }
  return reader_.Eat(')', "after the constant's value");
}

bool ModuleParser::ReadOperands(Scope& scope, Operands& operands) {
  if (!reader_.Eat('(', "before the operands")) return false;
  if (reader_.TryEat(')')) return true;
  do {
    Instruction* operand = ReadOperand(scope);
    if (operand == nullptr) return false;
    operands.push_back(operand);
  } while (reader_.TryEat(','));
  return reader_.Eat(')', "or ',' after an operand");
}

// The usual case: the name of an instruction and nothing else. Null, and nothing taken, otherwise.
Instruction* ModuleParser::ReadPlainOperand(Scope& scope) {
  const char* name = reader_.Here();
  name += *name == '%';
  const char* end = name;
  while (Reader::IsClass(*end, kWordPart)) ++end;
  if (*end != ',' && *end != ')') return nullptr;
  const NameTable::Entry* entry = scope.names->Find({name, static_cast<size_t>(end - name)});
  if (entry == nullptr || entry->instruction == nullptr) return nullptr;
  reader_.MoveTo(end);
  return entry->instruction;
}

// `name`, `shape name`, or an instruction in place: `shape opcode(...)`.
Instruction* ModuleParser::ReadOperand(Scope& scope) {
  const char* start = reader_.Here();
  if (Instruction* plain = ReadPlainOperand(scope)) return plain;
  Shared<Shape> declared;
  const bool has_shape = StartsShape(reader_);
  if (has_shape && !ReadSharedShape(declared)) return nullptr;
  const char* at = reader_.Here();
  absl::string_view name;
  const bool lone = lone_ && has_shape && open_scopes_ == 1;
  if (lone && (*at == ',' || *at == ')'))
    return ReadParameterInPlace(scope, name, std::move(declared), at);
  if (!reader_.Name(name, "an operand")) return nullptr;
  if (*reader_.raw_position() == '(' && *at != '%') {
    reader_.MoveTo(start);
    return ReadRightHandSide(scope, "", SourcePlace(), /*nested=*/true);
  }
  NameTable::Entry* entry = scope.names->Find(name);
  if (entry == nullptr && lone) return ReadParameterInPlace(scope, name, std::move(declared), at);
  if (entry == nullptr || (entry->instruction == nullptr && !entry->broken)) {
    Undefined(scope, name, at);
    return nullptr;
  }
  Instruction* operand = entry->instruction;
  if (operand != nullptr && has_shape && !operand->shared_shape().IsSame(declared) &&
      !Compatible(operand->shape(), *declared)) {
    diagnostics()
        .Error(reader_.PlaceAt(at), "", "the operand '", name, "' is of ", Text(operand->shape()),
               ", not ", Text(*declared))
        .Note(operand->place(), "defined here");
    return nullptr;
  }
  while (operand != nullptr && reader_.Peek() == '#') operand = ReadElementOf(scope, operand);
  return operand;
}

// An operand that a lone instruction names without any text that defines it.
Instruction* ModuleParser::ReadParameterInPlace(Scope& scope, absl::string_view name,
                                                Shared<Shape> shape, const char* at) {
  auto made = std::make_unique<Instruction>(Opcode::kParameter, std::move(shape),
                                            absl::Span<Instruction* const>());
  made->mutable_attr<ParameterAttrs>().number = scope.parameter_count;
  made->set_name(name.empty() ? absl::StrCat("_", scope.parameter_count) : std::string(name));
  made->set_place(reader_.PlaceAt(at));
  ++scope.parameter_count;
  Instruction* parameter = scope.computation->Adopt(std::move(made));
  bool added = false;
  if (!name.empty()) scope.names->Add(name, added).instruction = parameter;
  return parameter;
}

// `tuple#1` in newer text is short for a get-tuple-element, made at its first use.
Instruction* ModuleParser::ReadElementOf(Scope& scope, Instruction* tuple) {
  const char* at = reader_.Here();
  int64_t index = 0;
  reader_.TryEat('#');
  if (!reader_.Int(index)) return nullptr;
  const Shape& shape = tuple->shape();
  if (!shape.IsTuple() || index < 0 || index >= static_cast<int64_t>(shape.elements.size())) {
    reader_.Error(at, "'", tuple->name(), "' is of ", Text(shape), ", which has no element ",
                  index);
    return nullptr;
  }
  Instruction*& element = tuple_elements_[{tuple, index}];
  if (element != nullptr) return element;
  auto made = std::make_unique<Instruction>(Opcode::kGetTupleElement, shape.elements[index],
                                            absl::Span<Instruction* const>(&tuple, 1));
  made->mutable_attr<GetTupleElementAttrs>().index = index;
  made->set_name(absl::StrCat(tuple->name(), "_", index));
  made->set_place(reader_.PlaceAt(at));
  return element = scope.computation->Adopt(std::move(made));
}

bool ModuleParser::CheckOperands(const OpName& op, const Shape& shape, bool has_shape,
                                 const Operands& operands) {
  const OpInfo& info = Info(op.opcode);
  const auto count = static_cast<int64_t>(operands.size());
  int64_t wanted = info.min_operands;
  bool exact = info.exact;
  if (op.opcode == Opcode::kTuple && has_shape && shape.IsTuple()) {
    wanted = static_cast<int64_t>(shape.elements.size());
    exact = true;
  }
  if (count == wanted || (!exact && count > wanted)) return true;
  const absl::string_view roles = Facts(op.opcode).operands;
  return reader_.RuleError(
      op.at, absl::StrCat(Text(op.opcode), op.opcode == Opcode::kTuple ? "-c99" : "-c0"),
      Text(op.opcode), " takes ", exact ? "" : "at least ", wanted,
      wanted == 1 ? " operand" : " operands", roles.empty() ? "" : " (", roles,
      roles.empty() ? "" : ")", ", found ", count);
}

bool ModuleParser::CheckAsync(const OpName& op, const Instruction& made) {
  if (op.opcode == Opcode::kAsyncStart) {
    const Shape& shape = made.shape();
    if (shape.IsTuple() && shape.elements.size() >= 2 && shape.elements[0].IsTuple()) return true;
    return reader_.RuleError(op.at, "async-start-c99",
                             "an async-start is of ((operands...), results, state...)");
  }
  if (op.opcode != Opcode::kAsyncUpdate && op.opcode != Opcode::kAsyncDone) return true;
  const Instruction* start = made.operand(0);
  while (start->opcode() == Opcode::kAsyncUpdate) start = start->operand(0);
  if (start->opcode() != Opcode::kAsyncStart)
    return reader_.RuleError(
        op.at, "async-c2", "expected the result of an async-start or async-update as the operand");
  if (!op.sugared || start->called().empty()) return true;
  const Opcode wrapped = start->called(0)->root()->opcode();
  return wrapped == op.wrapped || reader_.Error(op.at, "the operation that was started is ",
                                                Text(wrapped), ", not ", Text(op.wrapped));
}

// Puts the wrapped instruction of a sugared start into a computation of its own.
void ModuleParser::Wrap(Instruction& start, std::unique_ptr<Instruction> wrapped) {
  auto body = std::make_unique<Computation>(module_, "async_wrapped");
  body->set_place(start.place());
  body->set_execution_thread(start.attr<AsyncAttrs>().async_execution_thread);
  int64_t number = 0;
  for (const Instruction* operand : start.operands()) {
    auto parameter = std::make_unique<Instruction>(Opcode::kParameter, operand->shape(),
                                                   absl::Span<Instruction* const>());
    parameter->mutable_attr<ParameterAttrs>().number = number++;
    parameter->set_name("async_param");
    parameter->set_place(start.place());
    wrapped->AppendOperand(body->Adopt(std::move(parameter)));
  }
  wrapped->set_name(std::string(Text(wrapped->opcode())));
  SettleShape(*wrapped);
  Normalize(*wrapped);
  ShareExtras(start, *wrapped);
  body->set_root(body->Adopt(std::move(wrapped)));
  body->RebuildParameters();
  start.set_called({module_->Adopt(std::move(body))});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
