// Collectives that are to be launched together, as one asynchronous operation.
//   all-gather(a), key g; reduce-scatter(b), key g
//     -> async-start(a, b), calls={all-gather, reduce-scatter}; async-done; get-tuple-element each
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "passes/collectives/collective_keys.h"
#include "passes/framework/pass.h"
#include "passes/gpu/async_pairs.h"
#include "passes/gpu/backend_config.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/hlo_writer.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr absl::string_view kKey = "collective_group_key";
constexpr absl::string_view kMarker = "_collectives_group";
constexpr absl::string_view kDomain = "collective_communication_domain";
constexpr absl::string_view kDomainField = "communication_domain";

bool IsWholeCollective(const Instruction& i) {
  return HasTrait(i.opcode(), kCollective) && !HasTrait(i.opcode(), kAsyncStart);
}

std::string DomainOf(const Instruction& i) {
  const BackendConfig collective(BackendConfig::Of(i).Raw(kCollectiveConfig));
  return std::string(collective.Text(kDomainField));
}

// What all that have an attribute agree on.
std::vector<std::pair<std::string, std::string>> CommonAttributes(
    absl::Span<Instruction* const> members) {
  std::map<std::string, std::string> merged;
  std::map<std::string, bool> conflicts;
  for (const Instruction* i : members)
    for (const auto& [name, value] : i->extras().frontend_attributes) {
      const auto [at, is_new] = merged.emplace(name, value);
      if (!is_new && at->second != value) conflicts[name] = true;
    }
  std::vector<std::pair<std::string, std::string>> common;
  for (const auto& [name, value] : merged)
    if (!conflicts[name]) common.emplace_back(name, value);
  return common;
}

Sharding ShardingOrReplicated(const Instruction& i) {
  return i.sharding() != nullptr ? *i.sharding() : Sharding();
}

// Writes the members' shardings on what takes their place; nothing where one has none.
void SetShardings(absl::Span<Instruction* const> members, Instruction* body_root,
                  Instruction* start, Instruction* done) {
  Sharding operands, results;
  operands.kind = results.kind = Sharding::Kind::kTuple;
  for (const Instruction* i : members) {
    if (i->sharding() == nullptr) return;
    for (const Instruction* operand : i->operands())
      operands.elements.push_back(ShardingOrReplicated(*operand));
    if (i->sharding()->kind == Sharding::Kind::kTuple)
      results.elements.insert(results.elements.end(), i->sharding()->elements.begin(),
                              i->sharding()->elements.end());
    else
      results.elements.push_back(*i->sharding());
  }
  body_root->mutable_extras().sharding = std::make_unique<Sharding>(results);
  done->mutable_extras().sharding = std::make_unique<Sharding>(results);
  operands.elements.insert(operands.elements.end(), results.elements.begin(),
                           results.elements.end());
  start->mutable_extras().sharding = std::make_unique<Sharding>(std::move(operands));
}

void FormGroup(Computation& c, absl::Span<Instruction* const> members) {
  Computation* body = c.module()->AddComputation("collectives_group");
  std::vector<Instruction*> operands, inner;
  std::vector<Shape> results;
  for (const Instruction* i : members) {
    std::vector<Instruction*> parameters;
    for (Instruction* operand : i->operands()) {
      operands.push_back(operand);
      parameters.push_back(
          body->AddParameter(body->parameter_count(), operand->shape(),
                             absl::StrCat("c", inner.size(), "_operand_", parameters.size())));
    }
    inner.push_back(body->Add(i->CloneWith(i->shape(), parameters), i->name()));
    DropFrontendAttribute(*inner.back(), kSchedulingGroup);
    results.push_back(i->shape());
  }
  const Shape result = Shape::Tuple(std::move(results));
  body->set_root(body->Add(Opcode::kTuple, result, inner));
  Instruction* done =
      AddAsyncPair(c, body, operands, result, {{}, c.execution_thread()}, body->name());
  Instruction* start = done->operand(0);
  auto attributes = CommonAttributes(members);
  attributes.emplace_back(std::string(kMarker), "");
  body->root()->mutable_extras().frontend_attributes = attributes;
  for (Instruction* half : {start, done}) {
    half->mutable_extras().frontend_attributes = attributes;
    half->set_metadata(members[0]->shared_metadata());
    if (!members[0]->backend_config().empty())
      half->mutable_extras().backend_config = members[0]->extras().backend_config;
  }
  SetShardings(members, body->root(), start, done);
  for (size_t k = 0; k < members.size(); ++k) {
    Instruction* i = members[k];
    Instruction* part = c.Add(Opcode::kGetTupleElement, i->shape(), {done},
                              GetTupleElementAttrs{static_cast<int64_t>(k)});
    if (i->sharding() != nullptr)
      part->mutable_extras().sharding = std::make_unique<Sharding>(*i->sharding());
    MoveControlEdges(i, start, done);
    i->ReplaceAllUsesWith(part);
    c.Remove(i);
  }
}

using Groups = std::vector<std::vector<Instruction*>>;

absl::StatusOr<Groups> GroupsByKey(const Computation& c) {
  std::map<std::pair<std::string, std::string>, std::vector<Instruction*>> by_key;
  for (Instruction* i : c.PostOrder()) {
    if (!IsWholeCollective(*i)) continue;
    const std::string* key = FindFrontendAttribute(*i, kKey);
    if (key != nullptr) by_key[{*key, DomainOf(*i)}].push_back(i);
  }
  Groups groups;
  for (auto& [key, members] : by_key) {
    if (members.size() < 2) continue;
    for (const Instruction* i : members)
      for (Instruction* other : members)
        if (i != other && Needs(i, {other}))
          return FailedPrecondition("collectives ", other->name(), " and ", i->name(),
                                    " of the group ", key.first,
                                    " cannot run together: the second needs the first");
    groups.push_back(std::move(members));
  }
  return groups;
}

absl::StatusOr<bool> GroupByKey(Module& module) {
  const std::vector<bool> asynchronous = ComputationsOfStarts(module);
  const std::vector<bool> running = RunningComputations(module);
  std::vector<std::pair<Computation*, Groups>> all;  // every group is checked before one is made
  for (Computation* c : module.ComputationsPostOrder()) {
    if (asynchronous[c->id()] || !running[c->id()]) continue;
    ASSIGN_OR_RETURN(Groups groups, GroupsByKey(*c));
    if (!groups.empty()) all.emplace_back(c, std::move(groups));
  }
  for (const auto& [c, groups] : all)
    for (const std::vector<Instruction*>& members : groups) FormGroup(*c, members);
  return !all.empty();
}

absl::StatusOr<bool> WrapGroups(Computation& c) {
  bool changed = false;
  for (Instruction* i : c.PostOrder()) {
    if (i->opcode() != Opcode::kCall || FindFrontendAttribute(*i, kMarker) == nullptr) continue;
    Computation* body = i->to_apply()->Clone(".collectives_group");
    body->ForEach([](Instruction* inner) { DropFrontendAttribute(*inner, kSchedulingGroup); });
    Instruction* done = AddAsyncPair(c, body, i->operands(), i->shape(), {}, "async");
    for (Instruction* half : {done->operand(0), done}) {
      half->mutable_extras().frontend_attributes = i->extras().frontend_attributes;
      half->set_metadata(i->shared_metadata());
      if (!i->backend_config().empty())
        half->mutable_extras().backend_config = i->extras().backend_config;
    }
    BackendConfig config = BackendConfig::Of(*done);
    config.SetBool("force_earliest_schedule", false);
    config.WriteTo(*done);
    MoveControlEdges(i, done->operand(0), done);
    i->ReplaceAllUsesWith(done);
    c.Remove(i);
    changed = true;
  }
  if (changed) RemoveUncalled(*c.module());
  return changed;
}

// ---- transfers

bool IsWholeTransfer(const Instruction& i) {
  if (i.opcode() != Opcode::kSend && i.opcode() != Opcode::kRecv) return false;
  if (i.attr<SendRecvAttrs>().is_host_transfer || i.users().size() != 1 || i.IsRoot()) return false;
  const Opcode user = i.users()[0]->opcode();
  return user == Opcode::kSendDone || user == Opcode::kRecvDone;
}

// One asynchronous operation for all transfers of the computation, by number `number`.
void CombineTransfers(Computation& c, absl::Span<Instruction* const> transfers, int64_t number) {
  Computation* body = c.module()->AddComputation(absl::StrCat("send_recv_group_", number));
  std::vector<Instruction*> operands, inner;
  std::vector<Shape> results;
  for (const Instruction* i : transfers) {
    std::vector<Instruction*> parameters;
    for (Instruction* operand : i->operands()) {
      parameters.push_back(body->AddParameter(body->parameter_count(), operand->shape(),
                                              absl::StrCat("param", body->parameter_count())));
      operands.push_back(operand);
    }
    inner.push_back(body->Add(i->CloneWith(i->shape(), parameters), i->name()));
    results.push_back(i->shape());
  }
  const Shape result = Shape::Tuple(std::move(results));
  body->set_root(body->Add(Opcode::kTuple, result, inner));
  const Shape context = RowMajor(ElementType::kS32, {});
  Instruction* done = AddAsyncPair(c, body, operands, result, {{&context, 1}, ""}, "async");
  Instruction* start = done->operand(0);
  start->set_name(c.module()->UniqueName(absl::StrCat(body->name(), ".start")));
  done->set_name(c.module()->UniqueName(absl::StrCat(body->name(), ".done")));
  start->mutable_extras().frontend_attributes.emplace_back(std::string(kMarker), "");
  Rewriter r(c);
  HloWriter w(r);
  for (size_t k = 0; k < transfers.size(); ++k) {
    Instruction *i = transfers[k], *end = i->users()[0];
    Instruction* part = w.Part(done, static_cast<int64_t>(k));
    Instruction* made = i->opcode() == Opcode::kSend ? w.Part(part, 2)
                                                     : w.Tuple({w.Part(part, 0), w.Part(part, 2)});
    // What waited for a half waits for its group; one half of the group needs no order to another.
    std::vector<Instruction*> after(end->control_successors().begin(),
                                    end->control_successors().end());
    for (Instruction* before : i->control_predecessors())
      if (!Needs(before, {start})) start->AddControlPredecessor(before);
    i->DropControlEdges();
    end->DropControlEdges();
    end->ReplaceAllUsesWith(made);
    for (Instruction* next : after)
      if (!Needs(made, {next})) next->AddControlPredecessor(made);
    c.Remove(end);
    c.Remove(i);
  }
}

absl::StatusOr<bool> CombineAllTransfers(Module& module) {
  int64_t number = 0;
  const std::vector<bool> asynchronous = ComputationsOfStarts(module);
  for (Computation* c : module.ComputationsPostOrder()) {
    if (asynchronous[c->id()]) continue;
    std::vector<Instruction*> transfers;
    for (Instruction* i : c->PostOrder())
      if (IsWholeTransfer(*i) && !Needs(i, transfers)) transfers.push_back(i);
    if (!transfers.empty()) CombineTransfers(*c, transfers, ++number);
  }
  return number > 0;
}

// ---- domains of communication

absl::StatusOr<std::string> DomainValue(absl::string_view name) {
  const std::string lower = absl::AsciiStrToLower(name);
  if (lower == "scale_up_fabric")
    return std::string("COLLECTIVE_COMMUNICATION_DOMAIN_SCALE_UP_FABRIC");
  if (lower == "unspecified" || lower == "default") return std::string();
  return InvalidArgument("unknown communication domain ", name);
}

absl::StatusOr<bool> LegalizeDomain(Instruction* i) {
  const std::string* attribute = FindFrontendAttribute(*i, kDomain);
  const bool communicates = HasTrait(i->opcode(), kCollective);
  if (attribute == nullptr) return false;
  if (!communicates)
    return InvalidArgument(i->name(), " has the frontend attribute ", kDomain,
                           ", which collectives alone may have");
  ASSIGN_OR_RETURN(const std::string domain, DomainValue(*attribute));
  BackendConfig config = BackendConfig::Of(*i);
  BackendConfig collective(config.Raw(kCollectiveConfig));
  const std::string before(collective.Text(kDomainField));
  if (!domain.empty()) {
    const std::string* stream = FindFrontendAttribute(*i, "_xla_stream_annotation");
    if (stream != nullptr && absl::AsciiStrToLower(*stream) != "collective")
      return InvalidArgument(i->name(), " is of the communication domain ", *attribute,
                             " and of the stream ", *stream);
    if (!before.empty() && before != domain)
      return InvalidArgument(i->name(), " is of the communication domains ", before, " and ",
                             domain);
    collective.SetText(kDomainField, domain);
    config.SetRaw(kCollectiveConfig, collective.Json());
    config.WriteTo(*i);
  }
  return DropFrontendAttribute(*i, kDomain);
}

absl::StatusOr<bool> LegalizeDomains(Computation& c) {
  bool changed = false;
  for (Instruction* i : c.PostOrder()) {
    ASSIGN_OR_RETURN(const bool legalized, LegalizeDomain(i));
    changed |= legalized;
  }
  return changed;
}

}  // namespace

// group-collectives-by-key: collectives of one computation with the same frontend attribute
// collective_group_key and communication domain become one async-start of a computation that holds
// them all, and its async-done. A key that one collective has alone is left. Errors:
// FailedPrecondition where one of a group needs another. Exact.
std::unique_ptr<Pass> CreateGroupCollectivesByKey() {
  return MakeModulePass("group-collectives-by-key", GroupByKey);
}

// explicit-collectives-group-async-wrapper: calls with the frontend attribute _collectives_group
// become async-start and async-done of a copy of what they call. Exact.
std::unique_ptr<Pass> CreateExplicitCollectivesGroupAsyncWrapper() {
  return MakeComputationPass("explicit-collectives-group-async-wrapper", WrapGroups);
}

// collective-send-recv-combiner: the sends and receives of a computation that their own dones alone
// read and that need none of the others become one asynchronous operation; transfers with the host
// stay. Exact.
std::unique_ptr<Pass> CreateCollectiveSendRecvCombiner() {
  return MakeModulePass("collective-send-recv-combiner", CombineAllTransfers);
}

// legalize-collective-domain: the frontend attribute collective_communication_domain moves into the
// backend_config of its collective. Errors: InvalidArgument for an unknown domain, for one on
// something else, and for two that differ. Values stay as they were.
std::unique_ptr<Pass> CreateLegalizeCollectiveDomain() {
  return MakeComputationPass("legalize-collective-domain", LegalizeDomains);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
