// Modules: the entry and the functions that it calls.
//
// The entry is `main` and keeps its signature: tuples that are arguments stay tuples, and a result
// that is a tuple of two or more arrays is as many results, which is how JAX and others call it.
//   ENTRY e { ... ROOT t = (f32[2], s32[]) tuple(a, b) }  ->  func @main(...) -> (tensor<2xf32>,
//                                                                                tensor<i32>)
// Functions that are called have no tuples: each argument and result is an array or a token, taken
// apart and put together at the call. They are written when a first call names them, from a stack
// of those not yet written, so a function that nothing calls is left out.
#include "absl/strings/str_cat.h"
#include "stablehlo/write/body_writer_internal.h"
#include "stablehlo/write/module_attributes_internal.h"
#include "stablehlo/write/text_internal.h"
#include "stablehlo/write/writer.h"
#include "support/status.h"

namespace hlokit {
namespace {

struct Signature {
  std::vector<Shape> in, out;
  std::string arguments;  // names and types
};

// Opens a function; its attributes besides name and type are `more`.
void OpenFunction(WriterState& state, absl::string_view symbol, const Signature& signature,
                  absl::string_view more) {
  absl::string_view name = symbol.substr(1);
  const std::string quoted = name.front() == '"' ? absl::StrCat(name) : QuotedMlir(name);
  const std::string out = StablehloTypes(signature.out);
  absl::StrAppend(&state.out(), "  \"func.func\"() <{", more, "function_type = (",
                  StablehloTypes(signature.in), ") -> ",
                  signature.out.size() == 1 ? out : absl::StrCat("(", out, ")"),
                  ", sym_name = ", quoted, "}> ({\n");
  if (!signature.arguments.empty())
    absl::StrAppend(&state.out(), "  ^bb0(", signature.arguments, "):\n");
}

void AddArgument(Signature& signature, const WrittenValue& value) {
  signature.in.push_back(value.shape);
  absl::StrAppend(&signature.arguments, signature.arguments.empty() ? "" : ", ", value.name, ": ",
                  StablehloType(value.shape));
}

// A called computation, with tuples taken apart.
absl::Status WriteFunction(WriterState& state, const Computation& computation) {
  Signature signature;
  std::vector<WrittenValues> arguments;
  for (const Instruction* parameter : computation.parameters()) {
    WrittenValues& values = arguments.emplace_back();
    for (const Shape& leaf : LeavesOf(parameter->shape())) {
      values.push_back({state.NewName(), leaf});
      AddArgument(signature, values.back());
    }
  }
  signature.out = LeavesOf(computation.root()->shape());
  OpenFunction(state, state.FunctionOf(&computation), signature, "sym_visibility = \"private\", ");
  BodyWriter body(state, 0);
  ASSIGN_OR_RETURN(const WrittenValues root, body.Write(computation, arguments));
  body.Emit("func.return", root, "", "", {});
  state.out() += "  }) : () -> ()\n";
  return absl::OkStatus();
}

// What the header and the parameters say of each argument.
std::string ArgumentAttributes(const Module& module) {
  std::string all;
  bool any = false;
  for (const Instruction* parameter : module.entry()->parameters()) {
    AttributeText text;
    if (const std::string extra = ExtraAttributes(*parameter); !extra.empty()) text.Add(extra, "");
    for (const InputOutputAlias& alias : module.header().aliases)
      if (alias.parameter == parameter->parameter_number() && alias.parameter_index.empty() &&
          alias.output.size() <= 1)
        text.Add("tf.aliasing_output",
                 absl::StrCat(alias.output.empty() ? 0 : alias.output[0], " : i32"));
    for (const BufferDonor& donor : module.header().donors)
      if (donor.parameter == parameter->parameter_number() && donor.index.empty())
        text.Add("jax.buffer_donor", "true");
    any |= !text.text().empty();
    absl::StrAppend(&all, all.empty() ? "" : ", ", "{", text.text(), "}");
  }
  return any ? absl::StrCat("arg_attrs = [", all, "], ") : "";
}

// A sharding for each of the shapes, a tuple's own in order; nothing where there is none.
std::string ShardingList(absl::string_view name, const std::vector<const Sharding*>& shardings) {
  std::string all;
  bool any = false;
  for (const Sharding* sharding : shardings) {
    AttributeText text;
    if (sharding != nullptr) text.Add("mhlo.sharding", QuotedMlir(Text(*sharding)));
    any |= sharding != nullptr;
    absl::StrAppend(&all, all.empty() ? "" : ", ", "{", text.text(), "}");
  }
  return any ? absl::StrCat(name, " = [", all, "], ") : "";
}

// The shardings of the values that `i` is: one, or those of its arrays or elements.
void AddShardings(const Instruction& i, size_t count, std::vector<const Sharding*>& all) {
  const Sharding* const own = i.sharding();
  if (own != nullptr && own->kind == Sharding::Kind::kTuple && own->elements.size() == count) {
    for (const Sharding& element : own->elements) all.push_back(&element);
  } else {
    all.insert(all.end(), count, count == 1 ? own : nullptr);
  }
}

std::string ArgumentShardings(const Computation& entry, bool flatten) {
  std::vector<const Sharding*> all;
  for (const Instruction* parameter : entry.parameters())
    AddShardings(*parameter, flatten ? LeavesOf(parameter->shape()).size() : 1, all);
  return ShardingList("arg_attrs", all);
}

std::string ResultShardings(const Computation& entry) {
  std::vector<const Sharding*> all;
  AddShardings(*entry.root(), LeavesOf(entry.root()->shape()).size(), all);
  return ShardingList("res_attrs", all);
}

// Arguments and results stay as they are, or are the arrays of their tuples; several results are a
// tuple, so a tuple of two or more becomes them.
absl::Status WriteEntry(WriterState& state, const Module& module, const StablehloOptions& options) {
  const bool flatten = options.flatten_entry;
  const Computation& entry = *module.entry();
  Signature signature;
  WrittenValues arguments;
  std::vector<size_t> widths;  // how many arguments each parameter is
  for (const Instruction* parameter : entry.parameters()) {
    const Shape& own = parameter->shape();
    const std::vector<Shape> shapes = flatten ? LeavesOf(own) : std::vector<Shape>{own};
    widths.push_back(shapes.size());
    for (const Shape& shape : shapes) {
      arguments.push_back({state.NewName(), shape});
      AddArgument(signature, arguments.back());
    }
  }
  const Shape& result = entry.root()->shape();
  const bool spread = result.IsTuple() && result.elements.size() != 1;
  signature.out = flatten  ? LeavesOf(result)
                  : spread ? result.elements
                           : std::vector<Shape>{result};
  OpenFunction(state, "@main", signature,
               options.importer_forms
                   ? absl::StrCat(ArgumentShardings(entry, flatten), ResultShardings(entry))
               : flatten ? ""
                         : ArgumentAttributes(module));
  BodyWriter body(state, 0);
  std::vector<WrittenValues> values;
  const WrittenValue* argument = arguments.data();
  for (const size_t width : widths) {
    values.push_back(width == 1 ? body.TakenApart(*argument)
                                : WrittenValues(argument, argument + width));
    argument += width;
  }
  ASSIGN_OR_RETURN(const WrittenValues root, body.Write(entry, values));
  WrittenValues results;
  size_t next = 0;
  for (const Shape& shape : signature.out) results.push_back(body.PutTogether(shape, root, next));
  body.Emit("func.return", results, "", "", {});
  state.out() += "  }) : () -> ()\n";
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> WriteStablehlo(const Module& module, const StablehloOptions& options) {
  if (module.entry() == nullptr) return InvalidArgument("the module has no entry");
  WriterState state(options.importer_forms);
  absl::StrAppend(&state.out(), "\"builtin.module\"() <{sym_name = ", QuotedMlir(module.name()),
                  "}> ({\n");
  std::vector<const Computation*> written = {module.entry()};
  if (options.all_computations) {
    const auto all = module.Computations();
    written.assign(all.begin(), all.end());
    for (const Computation* computation : written) state.FunctionOf(computation);
    while (state.TakeUnwritten() != nullptr) continue;
  }
  for (const Computation* computation : written)
    RETURN_IF_ERROR(computation == module.entry() ? WriteEntry(state, module, options)
                                                  : WriteFunction(state, *computation));
  while (const Computation* computation = state.TakeUnwritten())
    RETURN_IF_ERROR(WriteFunction(state, *computation));
  const std::string header = options.importer_forms
                                 ? ImporterAttributes(module, options.flatten_entry)
                                 : ProgramAttributes(module);
  return absl::StrCat(state.out(), "}) {", header, "} : () -> ()\n");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
