// Reads computations: signature, body, parameters, root.
//   [ENTRY] %name (p: f32[8]) -> f32[8] { instructions }[, execution_thread="..."]
// The signature may be left out; where it is given, its result must agree with the root. A
// computation with errors is kept aside, since instructions of others may refer to it while reading
// goes on.
#include "parser/module_parser_internal.h"
#include "parser/shapes_internal.h"

namespace hlokit {

bool ModuleParser::ReadComputation() {
  const char* start = reader_.Here();
  if (reader_.Peek() == '}')
    return reader_.Error(start, "this brace closes nothing: no computation is open");
  const bool is_entry = reader_.TryEatWord("ENTRY");
  const char* name_at = reader_.Here();
  absl::string_view name;
  if (!reader_.Name(name, "a computation")) return false;
  if (!is_entry && name == "HloModule") {
    reader_.MoveTo(reader_.end());  // all that follows would be in the first one's way
    return reader_.Error(name_at,
                         "a second module; a text holds one, and hlo-opt "
                         "--split-input-file reads several, between lines of `// -----`");
  }
  if (!Reader::IsMarked(name_at, name) && IsKeyword(name)) {
    computations_.try_emplace(name, KnownComputation{});  // what calls it is no error of its own
    return reader_.Error(name_at, "'", name, "' is reserved and cannot name a computation");
  }
  const SourcePlace place{static_cast<uint32_t>(name_at - reader_.begin()),
                          static_cast<uint32_t>(name.data() + name.size() - name_at)};
  auto [known, is_new] = computations_.try_emplace(name, KnownComputation{nullptr, place, true});
  if (!is_new) {
    diagnostics()
        .Error(place, "", "the computation '", name, "' is defined twice")
        .Note(known->second.place, "first defined here");
  }
  if (is_entry && entry_place_.valid()) {
    diagnostics()
        .Error(reader_.PlaceAt(start), "", "a second ENTRY")
        .Note(entry_place_, "the first one");
  }
  Shared<Shape> result;
  const char* result_at = nullptr;
  if (reader_.Peek() == '(' && !ReadSignature(result, result_at)) {
    computations_[name].open = false;
    return false;
  }
  Computation* body = ReadBody(name, place);
  if (is_entry) entry_place_ = place;
  KnownComputation& done = computations_[name];
  done.open = false;
  if (body == nullptr) return false;
  done.computation = body;
  last_ = body;
  if (is_entry) module_->set_entry(body);
  if (result_at != nullptr && !Compatible(body->root()->shape(), *result))
    return reader_.Error(result_at, "the signature says ", Text(*result), ", the root is ",
                         Text(body->root()->shape()));
  if (!reader_.TryEat(',')) return true;
  std::string thread;
  if (!reader_.TryEatWord("execution_thread")) return reader_.Expected("execution_thread=");
  if (!reader_.Eat('=', "after execution_thread") || !reader_.String(thread)) return false;
  if (thread != "main") body->set_execution_thread(std::move(thread));
  return true;
}

// `(name: shape, ...) -> shape`. As in XLA, the parameters are those of the body, whatever stands
// here.
bool ModuleParser::ReadSignature(Shared<Shape>& result, const char*& result_at) {
  const bool parameters = reader_.List('(', ')', [&] {
    absl::string_view name;
    const char* at = reader_.Here();
    Shared<Shape> ignored;
    if (!reader_.Name(name, "a parameter's name")) return false;
    const bool marked = Reader::IsMarked(at, name);
    if (!marked && IsKeyword(name))
      return reader_.Error(at, "'", name, "' is reserved and cannot name a parameter");
    if (!marked && reader_.Peek() == ':')
      return reader_.Error(reader_.Here(), "':' must follow the name without a blank");
    return ReadSharedShape(ignored);
  });
  if (!parameters) return false;
  if (!reader_.TryEat("->")) return reader_.Expected("'->' before the result's shape");
  result_at = reader_.Here();
  return ReadSharedShape(result);
}

void ModuleParser::OpenScope(Scope& scope, absl::string_view name, SourcePlace place) {
  scope.computation = std::make_unique<Computation>(module_, std::string(name));
  scope.computation->set_place(place);
  if (open_scopes_ == tables_.size()) tables_.emplace_back();
  scope.names = &tables_[open_scopes_++];
  scope.names->Clear();
}

// A text of one instruction without a computation, with or without a name.
void ModuleParser::ReadLoneInstruction() {
  lone_ = true;
  Scope scope;
  OpenScope(scope, "_", reader_.PlaceAt(reader_.Here()));
  const bool unnamed = StartsShape(reader_);
  const SourcePlace place = reader_.PlaceAt(reader_.Here());
  const bool ok = unnamed ? ReadRightHandSide(scope, "_", place, /*nested=*/false) != nullptr
                          : ReadInstruction(scope);
  --open_scopes_;
  if (ok && FinishBody(scope) && (reader_.AtEnd() || reader_.Expected("the end of the text"))) {
    last_ = module_->Adopt(std::move(scope.computation));
    module_->header().is_scheduled = true;
  } else {
    broken_bodies_.push_back(std::move(scope.computation));
    reader_.MoveTo(reader_.end());
  }
}

Computation* ModuleParser::ReadBody(absl::string_view name, SourcePlace place) {
  Reader::Depth depth(reader_);
  if (!depth.ok() || !reader_.Eat('{', "before the instructions")) return nullptr;
  Scope scope;
  OpenScope(scope, name, place);
  const bool complete = ReadInstructions(scope) && !scope.broken && FinishBody(scope);
  --open_scopes_;
  if (complete) return module_->Adopt(std::move(scope.computation));
  broken_bodies_.push_back(std::move(scope.computation));
  return nullptr;
}

// Up to the closing brace. After an error goes on at the next line that looks like an instruction;
// false where there is none, with the reader at what comes after the body.
bool ModuleParser::ReadInstructions(Scope& scope) {
  const char* open = reader_.raw_position() - 1;
  if (reader_.Peek() == '}')
    return reader_.Expected("an instruction: a computation cannot be empty");
  while (!reader_.TryEat('}')) {
    if (diagnostics().full()) return false;
    const char* start = reader_.Here();
    body_open_ = !reader_.AtEnd();
    if (body_open_ && ReadInstruction(scope)) continue;
    scope.broken = true;
    if (body_open_) {
      if (SkipToInstruction(scope, start)) continue;
      return false;
    }
    reader_.MoveTo(start);
    diagnostics()
        .Error(reader_.PlaceAt(start), "", "expected an instruction or '}', found ",
               reader_.AtEnd() ? "the end of the text" : "the start of a computation")
        .Note(reader_.PlaceAt(open), "the body opened here is not closed");
    return false;
  }
  return true;
}

bool ModuleParser::FinishBody(Scope& scope) {
  scope.computation->set_root(scope.root != nullptr ? scope.root : scope.last);
  return CheckParameters(scope);
}

bool ModuleParser::CheckParameters(Scope& scope) {
  if (scope.parameter_count == 0) return true;
  std::vector<const Instruction*> by_number(scope.parameter_count, nullptr);
  bool ok = true;
  scope.computation->ForEach([&](const Instruction* i) {
    if (!i->IsParameter()) return;
    const int64_t number = i->parameter_number();
    if (number >= scope.parameter_count) {
      diagnostics().Error(i->place(), "computation-c6", "parameter ", number,
                          " of a computation with ", scope.parameter_count,
                          scope.parameter_count == 1 ? " parameter" : " parameters",
                          ", which are numbered from 0");
      ok = false;
    } else if (by_number[number] != nullptr) {
      diagnostics()
          .Error(i->place(), "computation-c6", "a second parameter ", number)
          .Note(by_number[number]->place(), "the first one");
      ok = false;
    } else {
      by_number[number] = i;
    }
  });
  if (!ok) return false;
  scope.computation->RebuildParameters();
  return true;
}

Computation* ModuleParser::ReadCalled() {
  if (reader_.Peek() == '{') return ReadBody("_", reader_.PlaceAt(reader_.Here()));
  const char* at = reader_.Here();
  absl::string_view name;
  if (!reader_.Name(name, "a computation")) return nullptr;
  auto known = computations_.find(name);
  if (known == computations_.end()) {
    UndefinedComputation(name, at);
    return nullptr;
  }
  if (known->second.open)
    diagnostics()
        .Error(reader_.PlaceAt(at), "", "the computation '", name, "' calls itself")
        .Note(known->second.place, "its body starts here");
  return known->second.computation;
}

bool ModuleParser::ReadCalledList(std::vector<Computation*>& list) {
  return reader_.List('{', '}', [&] {
    Computation* called = ReadCalled();
    list.push_back(called);
    return called != nullptr;
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
