// Instructions as text: `name = shape opcode(operands), attributes`.
//
// The order of attributes is XLA's: the opcode's own, called computations, sharding, frontend
// attributes, control predecessors, statistics, origin, metadata, backend_config, unknown ones. The
// text must equal XLA's HloModule::ToString byte for byte (score.py text); every deviation in this
// file is therefore XLA's, not a choice. Shapes and metadata that instructions share are formatted
// once: AppendOnce copies the earlier output.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "ir/op_facts.h"
#include "printer/attribute_text_internal.h"
#include "printer/printer.h"
#include "printer/writer_internal.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

// More elements than this print as `{...}` unless PrintOptions::large_constants.
constexpr int64_t kMaxElements = 10;
// Bodies stand in place up to this depth; below it, names do.
constexpr int kDeepestBody = 64;
// Operands that PrintOptions::compact_operands leaves.
constexpr int64_t kMaxCompact = 4;

// "-start", "-update" or "-done".
absl::string_view AsyncSuffix(Opcode opcode) { return Text(opcode).substr(sizeof("async") - 1); }

// Equal, and no negative zero.
bool Is(double x, int value) { return x == value && !std::signbit(x); }

// True if every element of an array is `value`.
bool IsAll(const Literal& literal, int value) {
  const ElementType type = literal.type();
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    if (IsComplex(type)) {
      const std::complex<double> x = literal.GetComplex(i);
      if (!Is(x.real(), value) || !Is(x.imag(), 0)) return false;
    } else if (IsFloat(type) ? !Is(literal.GetDouble(i), value) : literal.GetInt(i) != value) {
      return false;
    }
  }
  return true;
}

// Whether all arrays of a tuple are of integers.
bool HoldsIntegers(const Literal& literal) {
  if (!literal.shape().IsTuple()) return IsInteger(literal.type());
  return std::all_of(literal.elements().begin(), literal.elements().end(), HoldsIntegers);
}

// What a fingerprint holds of a constant.
std::string EssentialText(const Literal& literal) {
  if (!literal.shape().IsArray()) return HoldsIntegers(literal) ? Text(literal) : "{...}";
  if (IsAll(literal, 0)) return "0";
  if (IsAll(literal, 1)) return "1";
  return IsInteger(literal.type()) ? Text(literal) : "{...}";
}

// Whether XLA forgets the name to_apply where the body stands in place.
bool IsMerelyCalls(Opcode opcode) {
  return opcode == Opcode::kScan || opcode == Opcode::kReduceScatter;
}

// The reader keeps a custom-call's empty window among the unknown attributes.
bool IsEmptyWindow(const Instruction& i, absl::string_view name) {
  return i.opcode() == Opcode::kCustomCall && name == "window";
}

bool HasEmptyWindow(const Instruction& i) {
  if (!i.HasExtras()) return false;
  const auto& unknown = i.extras().unknown;
  return std::any_of(unknown.begin(), unknown.end(),
                     [&](const auto& attribute) { return IsEmptyWindow(i, attribute.first); });
}

}  // namespace

// XLA prints a configuration that is one balanced {...} without quotes, anything else quoted.
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

void Writer::AppendIdentifier(absl::string_view name) {
  if (!options_.ids) name = name.substr(0, name.find('.'));
  out_.append(name.data(), name.size());
}

void Writer::AppendName(absl::string_view name) {
  if (options_.percent) out_ += '%';
  AppendIdentifier(name);
}

void Writer::AppendNumber(const Instruction& i) {
  const auto found = numbers_->find(&i);
  out_ += "tmp_";
  AppendInt(out_, found == numbers_->end() ? -1 : found->second);
}

void Writer::AppendShape(const Shape& shape, bool with_layout) {
  AppendOnce(reinterpret_cast<const char*>(&shape) + with_layout,
             [&] { AppendText(out_, shape, with_layout); });
}

void Writer::AppendInstruction(const Instruction& i) {
  const bool named = !options_.canonical_names || numbers_ != nullptr;
  if (named) {
    options_.canonical_names ? AppendNumber(i) : AppendName(i.name());
    out_ += " = ";
  }
  if (options_.result_shape) {
    AppendShape(i.shape(), options_.layouts);
    out_ += ' ';
  }
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
  if (i.HasExtras() && options_.original_values && !i.extras().origin.empty())
    absl::StrAppend(&out_, ", origin=", i.extras().origin.view());
  if (options_.metadata && !i.shared_metadata().empty())
    AppendOnce(&i.metadata(), [&] { AppendMetadata(i.metadata()); });
  if (!i.HasExtras()) return;
  if (options_.backend_config) AppendBackendConfig(i);
  for (const auto& [name, text] : i.extras().unknown)
    if (!IsEmptyWindow(i, name)) absl::StrAppend(&out_, ", ", name, "=", text);
}

void Writer::AppendOperand(const Instruction& operand) {
  bool blank = options_.operand_shapes;
  if (blank) AppendShape(operand.shape(), options_.layouts);
  const bool named = options_.canonical_names ? numbers_ != nullptr : options_.operand_names;
  if (!named) return;
  if (blank) out_ += ' ';
  options_.canonical_names ? AppendNumber(operand) : AppendName(operand.name());
}

void Writer::AppendOperands(const Instruction& i) {
  if (i.opcode() == Opcode::kParameter) return AppendInt(out_, i.parameter_number());
  if (i.opcode() == Opcode::kConstant) return AppendConstant(i);
  const int64_t shown =
      options_.compact_operands ? std::min(i.operand_count(), kMaxCompact) : i.operand_count();
  for (int64_t n = 0; n < shown; ++n) {
    if (n > 0) out_ += ", ";
    if (n > 0 && options_.operand_index_every > 0 && n % options_.operand_index_every == 0)
      absl::StrAppend(&out_, "/*index=", n, "*/");
    if (i.operand(n) != nullptr) AppendOperand(*i.operand(n));  // null only before verification
  }
  if (shown < i.operand_count()) absl::StrAppend(&out_, ", ...(+", i.operand_count() - shown, ")");
}

void Writer::AppendConstant(const Instruction& i) {
  const Literal* literal = i.literal();
  const bool array = literal != nullptr && literal->shape().IsArray();
  if (options_.essential_constants) {
    out_ += literal != nullptr ? EssentialText(*literal) : "{...}";
  } else if (literal != nullptr &&
             (options_.large_constants || (array && literal->element_count() <= kMaxElements))) {
    AppendText(out_, *literal, LiteralTextOptions());
  } else {
    out_ += "{...}";
  }
}

void Writer::AppendExtraAttributes(const Instruction& i, const Instruction* sugared,
                                   const Instruction* around) {
  auto append = [&](AttributeStage stage) {
    VisitAttributes(i.opcode(), i.attributes(), [&](const auto& attributes) {
      AppendAttributes(out_, attributes, stage, options_);
    });
  };
  if (options_.extra_attributes && HasEmptyWindow(i)) out_ += ", window={}";
  if (options_.extra_attributes) append(AttributeStage::kFirst);
  if (sugared != nullptr && i.opcode() == Opcode::kAsyncStart && options_.extra_attributes)
    AppendExtraAttributes(*sugared, nullptr, &i);
  if (options_.extra_attributes) append(AttributeStage::kAfterWrapped);
  if (sugared == nullptr || options_.full_bodies) AppendCalls(i);
  append(AttributeStage::kAfterCalls);
  AppendTraits(i, around);
  append(AttributeStage::kAfterStatistics);
}

void Writer::AppendCall(absl::string_view attribute, const Computation* called) {
  absl::StrAppend(&out_, attribute, "=");
  AppendCalled(called);
}

void Writer::AppendCalled(const Computation* called) {
  if (!options_.full_bodies || indent_ > 2 * kDeepestBody) {
    AppendName(called->name());
    return;
  }
  out_ += '\n';
  out_.append(indent_, ' ');
  if (options_.program_shape) AppendSignature(*called);
  AppendBody(*called, indent_, /*in_place=*/true);
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
      return AppendCall(
          options_.full_bodies && IsMerelyCalls(i.opcode()) ? ", calls" : ", to_apply", called[0]);
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

void Writer::AppendTraits(const Instruction& i, const Instruction* around) {
  if (i.HasExtras()) {
    const InstructionExtras& extras = i.extras();
    if (extras.sharding != nullptr) {
      out_ += ", sharding=";
      AppendSharding(out_, *extras.sharding, options_.metadata);
    }
    const bool twice = around != nullptr && !around->extras().frontend_attributes.empty();
    if (!twice && !extras.frontend_attributes.empty()) {
      out_ += ", frontend_attributes=";
      AppendFrontendAttributes(extras.frontend_attributes);
    }
  }
  if (options_.control_dependencies && !i.control_predecessors().empty()) {
    out_ += ", control-predecessors={";
    for (size_t n = 0; n < i.control_predecessors().size(); ++n) {
      if (n > 0) out_ += ", ";
      AppendName(i.control_predecessors()[n]->name());
    }
    out_ += '}';
  }
  const bool twice = around != nullptr && !around->extras().statistics.empty();
  if (!twice && i.HasExtras() && !i.extras().statistics.empty())
    absl::StrAppend(&out_, ", statistics=", i.extras().statistics.view());
}

void Writer::AppendMetadata(const OpMetadata& m) {
  const int64_t frame = frames_ != nullptr ? frames_->NewId(m.stack_frame_id) : m.stack_frame_id;
  if (m.op_type.empty() && m.op_name.empty() && m.source_file.empty() &&
      m.scheduling_name.empty() && m.metadata_payload.empty() && m.others.empty() && frame == 0)
    return;
  out_ += ", metadata=";
  AppendMetadataValue(out_, m, frame);
}

void Writer::AppendBackendConfig(const Instruction& i) {
  const absl::string_view config = i.backend_config();
  if (config.empty()) return;
  out_ += ", backend_config=";
  if (IsDictionary(config)) {
    out_.append(config.data(), config.size());
  } else {
    AppendQuoted(out_, config);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
