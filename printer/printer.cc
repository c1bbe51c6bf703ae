// Modules and computations as text: header line, stack-frame tables, order of computations,
// signatures.
//
// Computations are printed callees first. The order is XLA's own depth-first walk, which claims all
// computations that one instruction calls before it visits any of them (PrintingOrder). Stack
// frames are renumbered by first use, as XLA does when it reads a module.
#include "printer/printer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "printer/attribute_text_internal.h"
#include "printer/writer_internal.h"

namespace hlokit {
namespace {

// What each calling instruction calls, in XLA's own order: a while loop's body stands before its
// condition.
std::vector<std::vector<Computation*>> Callees(const Computation& computation) {
  std::vector<std::vector<Computation*>> groups;
  computation.ForEach([&](const Instruction* i) {
    if (i->called().empty()) return;
    groups.emplace_back(i->called().begin(), i->called().end());
    if (Info(i->opcode()).calls == CallForm::kCondBody)
      std::reverse(groups.back().begin(), groups.back().end());
  });
  return groups;
}

void AppendShapes(std::string& out, absl::Span<const Shape* const> shapes) {
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (i > 0) out += ", ";
    if (i > 0 && i % 5 == 0) absl::StrAppend(&out, "/*index=", i, "*/");
    AppendText(out, *shapes[i], /*with_layout=*/true);
  }
}

// Where the header states none, the entry computation's own shapes.
void AppendEntryLayout(std::string& out, const Module& module) {
  const auto& given = module.header().entry_layout;
  const Computation* entry = module.entry();
  if (!given && (entry == nullptr || entry->root() == nullptr)) return;
  std::vector<const Shape*> parameters;
  if (given) {
    for (const Shape& shape : given->parameters) parameters.push_back(&shape);
  } else {
    for (const Instruction* parameter : entry->parameters())
      if (parameter != nullptr) parameters.push_back(&parameter->shape());
  }
  out += ", entry_computation_layout={(";
  AppendShapes(out, parameters);
  out += ")->";
  AppendText(out, given ? given->result : entry->root()->shape(), /*with_layout=*/true);
  out += '}';
}

void AppendPropagation(std::string& out, const char* name, const std::vector<bool>& flags) {
  if (flags.empty() || (flags.size() == 1 && !flags[0])) return;
  absl::StrAppend(&out, ", ", name, "=");
  AppendValue(out, flags);
}

void AppendOriginal(std::string& out, const OriginRecovery::Array& array) {
  absl::StrAppend(&out, "{\"", array.instruction, "\"");
  if (!array.index.empty()) {
    out += ' ';
    AppendIndex(out, array.index);
  }
  out += '}';
}

void AppendRecoveryTable(std::string& out, const std::vector<OriginRecovery>& table,
                         int64_t indent) {
  if (table.empty()) return;
  const std::string margin(Writer::kIndent * (indent + 1), ' ');
  out += ", origin_recovery_table={\n";
  for (const OriginRecovery& row : table) {
    out += margin;
    AppendOriginal(out, row.lost);
    out += " : ";
    AppendOriginal(out, row.from);
    if (row.module != nullptr) {
      PrintOptions nested;
      nested.indent_amount = indent + 2;
      absl::StrAppend(&out, ",\n", margin, "\"\n", Print(*row.module, nested), "\n", margin, "\"");
    }
    out += '\n';
  }
  out += "}\n";
}

void AppendHeader(std::string& out, const Module& module, const PrintOptions& options) {
  const ModuleHeader& header = module.header();
  out.append(Writer::kIndent * options.indent_amount, ' ');
  absl::StrAppend(&out, "HloModule ", options.ids ? module.name() : "");
  if (header.is_scheduled) out += ", is_scheduled=true";
  if (!header.aliases.empty()) {
    out += ", input_output_alias={ ";
    AppendAliases(out, header.aliases);
    out += " }";
  }
  if (!header.donors.empty()) {
    out += ", buffer_donor={ ";
    AppendDonors(out, header.donors);
    out += " }";
  }
  if (header.alias_passthrough_params) out += ", alias_passthrough_params=true";
  AppendEntryLayout(out, module);
  AppendPropagation(out, "allow_spmd_sharding_propagation_to_parameters",
                    header.propagate_sharding_to_parameters);
  AppendPropagation(out, "allow_spmd_sharding_propagation_to_output",
                    header.propagate_sharding_to_output);
  if (header.replica_count != 1) absl::StrAppend(&out, ", replica_count=", header.replica_count);
  if (header.num_partitions != 1) absl::StrAppend(&out, ", num_partitions=", header.num_partitions);
  if (!header.frontend_attributes.empty()) {
    out += ", frontend_attributes=";
    Writer(out, options).AppendFrontendAttributes(header.frontend_attributes);
  }
  AppendRecoveryTable(out, header.origin_recovery, options.indent_amount);
  for (const auto& [name, text] : header.others) absl::StrAppend(&out, ", ", name, "=", text);
  out += "\n\n";
}

void AppendStrings(std::string& out, const char* title, const std::vector<std::string>& rows) {
  absl::StrAppend(&out, title, "\n");
  for (size_t i = 0; i < rows.size(); ++i) {
    absl::StrAppend(&out, i + 1, " ");
    AppendQuoted(out, rows[i]);
    out += '\n';
  }
  out += '\n';
}

void AppendTables(std::string& out, const StackFrameTables& tables) {
  if (tables.empty()) return;
  AppendStrings(out, "FileNames", tables.file_names);
  AppendStrings(out, "FunctionNames", tables.function_names);
  out += "FileLocations\n";
  for (size_t i = 0; i < tables.locations.size(); ++i) {
    const auto& l = tables.locations[i];
    absl::StrAppend(&out, i + 1, " {file_name_id=", l.file_name_id,
                    " function_name_id=", l.function_name_id);
    absl::StrAppend(&out, " line=", l.line, " end_line=", l.end_line, " column=", l.column,
                    " end_column=", l.end_column, "}\n");
  }
  out += "\nStackFrames\n";
  for (size_t i = 0; i < tables.frames.size(); ++i) {
    const auto& f = tables.frames[i];
    absl::StrAppend(&out, i + 1, " {file_location_id=", f.file_location_id,
                    " parent_frame_id=", f.parent_frame_id, "}\n");
  }
  out += "\n\n";
}

// Numbers frames in the order in which instructions were made: XLA does as it reads a module.
void UseFrames(const Module& module, StackFrameNumbering& frames) {
  for (const Computation* computation : module.Computations())
    computation->ForEach([&](const Instruction* i) {
      if (i->metadata().stack_frame_id != 0) frames.Use(i->metadata().stack_frame_id);
    });
}

// Computations that sugared asynchronous operations stand for.
absl::flat_hash_set<const Computation*> SugaredComputations(const Module& module) {
  absl::flat_hash_set<const Computation*> sugared;
  for (const Computation* computation : module.Computations())
    computation->ForEach([&](const Instruction* i) {
      if (const Instruction* wrapped = WrappedInstruction(*i)) sugared.insert(wrapped->parent());
    });
  return sugared;
}

// A guess from above, so that the text is seldom moved.
size_t SizeGuess(const Module& module) {
  if (module.source() != nullptr) return module.source()->text().size() * 5 / 4 + 1024;
  int64_t instructions = 0;
  for (const Computation* computation : module.Computations())
    instructions += computation->instruction_count();
  return 1024 + 128 * instructions;
}

}  // namespace

// As XLA walks: all that one instruction calls is claimed at once, so a branch that another branch
// calls stands after it. Computations that nothing calls stand where they were added.
std::vector<Computation*> PrintingOrder(const Module& module) {
  const std::vector<Computation*> all = module.Computations();
  std::vector<std::vector<std::vector<Computation*>>> callees(module.computation_id_bound());
  std::vector<bool> is_called(module.computation_id_bound()), seen(module.computation_id_bound());
  for (const Computation* computation : all) {
    callees[computation->id()] = Callees(*computation);
    for (const auto& group : callees[computation->id()])
      for (const Computation* callee : group) is_called[callee->id()] = true;
  }
  std::vector<Computation*> order;
  std::vector<std::pair<Computation*, size_t>> stack;
  auto claim = [&](Computation* computation) {
    if (seen[computation->id()]) return;
    seen[computation->id()] = true;
    stack.emplace_back(computation, 0);
  };
  auto visit = [&](Computation* root) {
    claim(root);
    while (!stack.empty()) {
      Computation* const top = stack.back().first;
      const auto& groups = callees[top->id()];
      if (stack.back().second == groups.size()) {
        order.push_back(top);
        stack.pop_back();
        continue;
      }
      const auto& group = groups[stack.back().second++];
      for (auto callee = group.rbegin(); callee != group.rend(); ++callee) claim(*callee);
    }
  };
  for (Computation* computation : all)
    if (!is_called[computation->id()]) visit(computation);
  for (Computation* computation : all) visit(computation);  // cycles, before verification
  return order;
}

Writer::Names Writer::NumbersOf(absl::Span<Instruction* const> order) {
  Names numbers;
  for (const Instruction* i : order) numbers.emplace(i, static_cast<int64_t>(numbers.size()));
  return numbers;
}

void Writer::AppendSignature(const Computation& computation) {
  out_ += '(';
  for (int64_t n = 0; n < computation.parameter_count(); ++n) {
    const Instruction* parameter = computation.parameter(n);
    if (n > 0) out_ += ", ";
    if (parameter == nullptr) continue;  // only before verification
    AppendIdentifier(parameter->name());
    out_ += ": ";
    AppendShape(parameter->shape(), /*with_layout=*/false);
  }
  out_ += ") -> ";
  if (computation.root() != nullptr)
    AppendShape(computation.root()->shape(), /*with_layout=*/false);
  out_ += ' ';
}

void Writer::AppendBody(const Computation& computation, int indent, bool in_place) {
  const Names* const outer = numbers_;
  const int outer_indent = indent_;
  // XLA asks for the schedule only where a computation stands by itself.
  const auto order = in_place ? computation.PostOrder() : computation.ScheduleOrPostOrder();
  Names numbers;
  if (options_.canonical_names) {
    numbers = NumbersOf(order);
    numbers_ = &numbers;
  }
  indent_ = indent + kIndent;
  out_ += "{\n";
  for (const Instruction* i : order) {
    out_.append(indent_, ' ');
    if (i == computation.root()) out_ += "ROOT ";
    AppendInstruction(*i);
    out_ += '\n';
  }
  out_.append(indent, ' ');
  out_ += '}';
  const std::string& thread = computation.execution_thread();
  if (options_.ids && !thread.empty() && thread != "main") {
    out_ += ", execution_thread=";
    AppendQuotedRaw(out_, thread);
  }
  numbers_ = outer;
  indent_ = outer_indent;
}

void Writer::AppendComputation(const Computation& computation) {
  written_.resize(size_t{1} << kWrittenBits);
  const int indent = kIndent * static_cast<int>(options_.indent_amount);
  out_.append(indent, ' ');
  if (computation.IsEntry()) out_ += "ENTRY ";
  if (options_.percent) out_ += '%';
  if (options_.ids) absl::StrAppend(&out_, computation.name(), " ");
  if (options_.program_shape) AppendSignature(computation);
  AppendBody(computation, indent, /*in_place=*/false);
}

std::string Print(const Module& module, const PrintOptions& options) {
  std::string out;
  out.reserve(SizeGuess(module));
  AppendHeader(out, module, options);
  std::vector<Computation*> order =
      options.canonical_order ? module.Computations() : PrintingOrder(module);
  if (options.sugar_async) {
    const auto sugared = SugaredComputations(module);
    std::erase_if(order,
                  [&](const Computation* computation) { return sugared.contains(computation); });
  }
  StackFrameNumbering frames(module.header().stack_frames);
  if (options.metadata && !module.header().stack_frames.empty()) {
    UseFrames(module, frames);
    AppendTables(out, frames.tables());
  }
  Writer writer(out, options, &frames);
  for (const Computation* computation : order) {
    writer.AppendComputation(*computation);
    out += "\n\n";
  }
  return out;
}

std::string Print(const Computation& computation, const PrintOptions& options) {
  std::string out;
  Writer(out, options).AppendComputation(computation);
  return out;
}

std::string Print(const Instruction& instruction, const PrintOptions& options) {
  std::string out;
  Writer(out, options).AppendInstruction(instruction);
  return out;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
