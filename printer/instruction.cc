// Instructions as text: name, shape, operands, and everything after the operands in XLA's order.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "printer/attribute_text_internal.h"
#include "printer/writer_internal.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

// More elements than this print as `{...}` unless PrintOptions::large_constants.
constexpr int64_t kMostElements = 10;
// Bodies stand in place up to this depth; below it, names do.
constexpr int kDeepestBody = 64;
// Operand lists and tuples name every fifth position.
constexpr int64_t kIndexEvery = 5;

bool IsAsync(Opcode opcode) { return Info(opcode).calls == CallForm::kAsyncCalls; }

// "-start", "-update" or "-done".
absl::string_view AsyncSuffix(Opcode opcode) { return Text(opcode).substr(sizeof("async") - 1); }

// `name="text"` inside metadata={...}, where the text is not empty.
void AppendMetadataText(std::string& out, const char* name, const std::string& text) {
  if (text.empty()) return;
  absl::StrAppend(&out, out.back() == '{' ? "" : " ", name, "=");
  AppendQuoted(out, text);
}

void AppendMetadataNumber(std::string& out, const char* name, int64_t value) {
  if (value == 0) return;
  absl::StrAppend(&out, out.back() == '{' ? "" : " ", name, "=", value);
}

void AppendMetadataRaw(std::string& out, const char* name, const std::string& text) {
  if (!text.empty()) absl::StrAppend(&out, out.back() == '{' ? "" : " ", name, text);
}

}  // namespace

bool IsDictionary(absl::string_view text) {
  if (text.empty() || text.front() != '{') return false;
  int64_t depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1 == text.size();
    }
  }
  return false;
}

const Instruction* WrappedInstruction(const Instruction& async) {
  if (!IsAsync(async.opcode())) return nullptr;
  const Instruction* start = &async;
  while (start->called().empty() && start->operand_count() > 0 && start->operand(0) != nullptr &&
         IsAsync(start->operand(0)->opcode()))
    start = start->operand(0);
  const Computation* wrapped = start->to_apply();
  if (wrapped == nullptr || wrapped->root() == nullptr) return nullptr;
  if (wrapped->instruction_count() != wrapped->parameter_count() + 1 ||
      wrapped->root()->IsParameter())
    return nullptr;
  return wrapped->root();
}

void Writer::AppendName(const Instruction& i) {
  if (numbers_ != nullptr) {
    const auto found = numbers_->find(&i);
    out_ += "tmp_";
    AppendInt(out_, found == numbers_->end() ? -1 : found->second);
    return;
  }
  if (options_.percent) out_ += '%';
  out_ += i.name();
}

void Writer::AppendInstruction(const Instruction& i) {
  AppendName(i);
  out_ += " = ";
  AppendText(out_, i.shape(), options_.layouts);
  out_ += ' ';
  const Instruction* sugared = options_.sugar_async ? WrappedInstruction(i) : nullptr;
  if (sugared != nullptr) {
    absl::StrAppend(&out_, Text(sugared->opcode()), AsyncSuffix(i.opcode()));
  } else {
    const absl::string_view opcode = Text(i.opcode());
    out_.append(opcode.data(), opcode.size());
  }
  out_ += '(';
  AppendOperands(i);
  out_ += ')';
  AppendExtraAttributes(i, sugared);
  if (!i.HasExtras()) return;
  if (options_.metadata) AppendMetadata(i);
  if (options_.backend_config) AppendBackendConfig(i);
  for (const auto& [name, text] : i.extras().unknown) absl::StrAppend(&out_, ", ", name, "=", text);
}

void Writer::AppendOperands(const Instruction& i) {
  if (i.opcode() == Opcode::kParameter) return AppendInt(out_, i.parameter_number());
  if (i.opcode() == Opcode::kConstant) return AppendConstant(i);
  for (int64_t n = 0; n < i.operand_count(); ++n) {
    if (n > 0) out_ += ", ";
    if (n > 0 && n % kIndexEvery == 0) absl::StrAppend(&out_, "/*index=", n, "*/");
    const Instruction* operand = i.operand(n);
    if (operand == nullptr) continue;  // only before verification
    if (options_.operand_shapes) {
      AppendText(out_, operand->shape(), options_.layouts);
      out_ += ' ';
    }
    AppendName(*operand);
  }
}

void Writer::AppendConstant(const Instruction& i) {
  const Literal* literal = i.literal();
  if (literal != nullptr && options_.large_constants)
    return AppendText(out_, *literal, LiteralTextOptions());
  if (literal == nullptr || !literal->shape().IsArray() ||
      literal->element_count() > kMostElements) {
    out_ += "{...}";
    return;
  }
  AppendText(out_, *literal, LiteralTextOptions());
}

void Writer::AppendExtraAttributes(const Instruction& i, const Instruction* sugared) {
  auto append = [&](AttributeStage stage) {
    VisitAttributes(i.opcode(), i.attributes(),
                    [&](const auto& attributes) { AppendAttributes(out_, attributes, stage); });
  };
  append(AttributeStage::kFirst);
  if (sugared != nullptr && i.opcode() == Opcode::kAsyncStart)
    AppendExtraAttributes(*sugared, nullptr);
  if (sugared == nullptr) AppendCalls(i);
  append(AttributeStage::kAfterCalls);
  AppendTraits(i);
  append(AttributeStage::kAfterStatistics);
  if (i.HasExtras() && !i.extras().origin.empty())
    absl::StrAppend(&out_, ", origin=", i.extras().origin);
}

void Writer::AppendCall(absl::string_view attribute, const Computation* called) {
  absl::StrAppend(&out_, attribute, "=");
  AppendCalled(called);
}

void Writer::AppendCalled(const Computation* called) {
  if (!options_.full_bodies || indent_ > 2 * kDeepestBody) {
    absl::StrAppend(&out_, options_.percent ? "%" : "", called->name());
    return;
  }
  out_ += '\n';
  AppendBody(*called, indent_);
}

void Writer::AppendCallList(absl::string_view attribute, absl::Span<Computation* const> called) {
  absl::StrAppend(&out_, ", ", attribute, "={");
  for (size_t n = 0; n < called.size(); ++n) {
    if (n > 0) out_ += options_.full_bodies ? "," : ", ";
    AppendCalled(called[n]);
  }
  out_ += options_.full_bodies ? "\n}" : "}";
}

void Writer::AppendCalls(const Instruction& i) {
  const auto called = i.called();
  if (called.empty()) return;
  switch (Info(i.opcode()).calls) {
    case CallForm::kCondBody:
      AppendCall(", condition", called.front());
      return AppendCall(", body", called.back());
    case CallForm::kSelectScatter:
      AppendCall(", select", called.front());
      return AppendCall(", scatter", called.back());
    case CallForm::kBranches:
      if (called.size() != 2 || i.operand_count() == 0 || !IsPred(i.operand(0)->shape().type))
        return AppendCallList("branch_computations", called);
      AppendCall(", true_computation", called[0]);
      return AppendCall(", false_computation", called[1]);
    case CallForm::kCustomCalls:
      return AppendCallList("called_computations", called);
    case CallForm::kFusionCalls:
      return AppendCall(", calls", called[0]);
    case CallForm::kAsyncCalls:
      if (i.opcode() == Opcode::kAsyncStart) AppendCall(", calls", called[0]);
      return;
    case CallForm::kToApply:
    case CallForm::kNoCalls:
      return AppendCall(", to_apply", called[0]);
  }
}

void Writer::AppendFrontendAttributes(FrontendAttributes attributes) {
  std::stable_sort(attributes.begin(), attributes.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  out_ += '{';
  for (size_t n = 0; n < attributes.size(); ++n) {
    absl::StrAppend(&out_, n > 0 ? "," : "", attributes[n].first, "=");
    if (IsDictionary(attributes[n].second)) {
      out_ += attributes[n].second;
    } else {
      AppendQuoted(out_, attributes[n].second);
    }
  }
  out_ += '}';
}

void Writer::AppendTraits(const Instruction& i) {
  if (i.HasExtras()) {
    const InstructionExtras& extras = i.extras();
    if (extras.sharding != nullptr) {
      out_ += ", sharding=";
      AppendSharding(out_, *extras.sharding);
    }
    if (!extras.frontend_attributes.empty()) {
      out_ += ", frontend_attributes=";
      AppendFrontendAttributes(extras.frontend_attributes);
    }
  }
  if (options_.control_predecessors && !i.control_predecessors().empty()) {
    out_ += ", control-predecessors={";
    for (size_t n = 0; n < i.control_predecessors().size(); ++n) {
      if (n > 0) out_ += ", ";
      AppendName(*i.control_predecessors()[n]);
    }
    out_ += '}';
  }
  if (i.HasExtras() && !i.extras().statistics.empty())
    absl::StrAppend(&out_, ", statistics=", i.extras().statistics);
}

void AppendMetadataValue(std::string& out, const OpMetadata& m, int64_t frame) {
  out += '{';
  AppendMetadataText(out, "op_type", m.op_type);
  AppendMetadataText(out, "op_name", m.op_name);
  AppendMetadataText(out, "source_file", m.source_file);
  AppendMetadataNumber(out, "source_line", m.source_line);
  AppendMetadataNumber(out, "source_end_line", m.source_end_line);
  AppendMetadataNumber(out, "source_column", m.source_column);
  AppendMetadataNumber(out, "source_end_column", m.source_end_column);
  AppendMetadataRaw(out, "profile_type=", m.profile_type);
  AppendMetadataText(out, "deduplicated_name", m.deduplicated_name);
  AppendMetadataText(out, "scheduling_name", m.scheduling_name);
  AppendMetadataText(out, "metadata_payload", m.metadata_payload);
  AppendMetadataNumber(out, "stack_frame_id", frame);
  AppendMetadataRaw(out, "", m.others);
  out += '}';
}

void Writer::AppendMetadata(const Instruction& i) {
  const OpMetadata& m = i.metadata();
  const int64_t frame = frames_ != nullptr ? frames_->NewId(m.stack_frame_id) : m.stack_frame_id;
  if (m.op_type.empty() && m.op_name.empty() && m.source_file.empty() &&
      m.scheduling_name.empty() && m.metadata_payload.empty() && m.others.empty() && frame == 0)
    return;
  out_ += ", metadata=";
  AppendMetadataValue(out_, m, frame);
}

void Writer::AppendBackendConfig(const Instruction& i) {
  const std::string& config = i.backend_config();
  if (config.empty()) return;
  out_ += ", backend_config=";
  if (IsDictionary(config)) {
    out_ += config;
  } else {
    AppendQuoted(out_, config);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
