// What XLA's GPU compiler writes on instructions for its runtime: queues and ways to communicate.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/gpu/backend_config.h"
#include "passes/rewrite/device_groups.h"

namespace hlokit {
namespace {

constexpr absl::string_view kQueue = "operation_queue_id";
constexpr absl::string_view kAwaited = "wait_on_operation_queues";

// True if that changes what stands there.
bool Write(const BackendConfig& config, Instruction& i) {
  const std::string before(i.backend_config());
  config.WriteTo(i);
  return i.backend_config() != before;
}

// Sets a field of the object that `collective_backend_config` is.
bool SetOfCollective(Instruction& i, absl::string_view field, absl::string_view value) {
  BackendConfig config = BackendConfig::Of(i);
  BackendConfig inner(config.Raw(kCollectiveConfig));
  inner.SetRaw(field, value);
  config.SetRaw(kCollectiveConfig, inner.Json());
  return Write(config, i);
}

// The collective that a start begins; null for other instructions.
const Instruction* StartedCollective(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kAllReduceStart:
    case Opcode::kAllGatherStart:
    case Opcode::kCollectivePermuteStart:
      return &i;
    case Opcode::kAsyncStart:
      return HasTrait(i.called(0)->root()->opcode(), kCollective) ? i.called(0)->root() : nullptr;
    default:
      return nullptr;
  }
}

class AsyncCollectiveAnnotator final : public Pass {
 public:
  explicit AsyncCollectiveAnnotator(std::vector<std::string> synchronous)
      : synchronous_(std::move(synchronous)) {}
  absl::string_view name() const override { return "async-collective-annotator"; }
  absl::StatusOr<bool> Run(Module& module) override {
    bool changed = false;
    for (Computation* c : module.Computations())
      for (Instruction* i : c->Instructions())
        if (const Instruction* const collective = StartedCollective(*i))
          changed |= SetOfCollective(*i, "is_sync", IsSynchronous(*collective) ? "true" : "false");
    return changed;
  }

 private:
  bool IsSynchronous(const Instruction& collective) const {
    absl::string_view opcode = Text(collective.opcode());
    absl::ConsumeSuffix(&opcode, "-start");
    return std::find(synchronous_.begin(), synchronous_.end(), opcode) != synchronous_.end();
  }

  std::vector<std::string> synchronous_;
};

class CollectiveBackendAssigner final : public Pass {
 public:
  explicit CollectiveBackendAssigner(std::string permute_mode) : permute_mode_(permute_mode) {}
  absl::string_view name() const override { return "collective-backend-assigner"; }
  absl::StatusOr<bool> Run(Module& module) override {
    bool changed = false;
    if (permute_mode_.empty()) return changed;
    for (Computation* c : module.Computations())
      for (Instruction* i : c->Instructions())
        if (i->opcode() == Opcode::kCollectivePermute ||
            i->opcode() == Opcode::kCollectivePermuteStart)
          changed |=
              SetOfCollective(*i, "collectives_mode", absl::StrCat("\"", permute_mode_, "\""));
    return changed;
  }

 private:
  std::string permute_mode_;
};

// The queue of an instruction, "0" where none is named.
std::string QueueOf(const Instruction& i) {
  const std::string queue(BackendConfig::Of(i).Text(kQueue));
  return queue.empty() ? "0" : queue;
}

// Whether a fusion's body runs in the queue of its root: no instruction names a third one.
bool RunsInRootsQueue(const Computation& body) {
  const std::string queue = QueueOf(*body.root());
  if (body.root()->opcode() == Opcode::kTuple || queue == "0") return false;
  bool alone = true;
  body.ForEach([&](const Instruction* i) {
    const std::string own = QueueOf(*i);
    alone &= own == "0" || own == queue;
  });
  return alone;
}

bool TakeQueueOfRoot(Instruction& fusion) {
  const Instruction& root = *fusion.to_apply()->root();
  if (QueueOf(fusion) != "0" || !RunsInRootsQueue(*root.parent())) return false;
  const BackendConfig from = BackendConfig::Of(root);
  BackendConfig config = BackendConfig::Of(fusion);
  config.SetRaw(kQueue, from.Raw(kQueue));
  if (!from.Raw(kAwaited).empty()) config.SetRaw(kAwaited, from.Raw(kAwaited));
  return Write(config, fusion);
}

// Adds `queue` to those that `user` waits for.
bool Await(Instruction& user, const std::string& queue) {
  BackendConfig config = BackendConfig::Of(user);
  const std::string own = QueueOf(user);
  absl::string_view list = config.Raw(kAwaited);
  absl::ConsumePrefix(&list, "[");
  absl::ConsumeSuffix(&list, "]");
  std::vector<std::string> queues = absl::StrSplit(list, ',', absl::SkipWhitespace());
  const std::string entry = absl::StrCat("\"", queue, "\"");
  if (own == queue || std::find(queues.begin(), queues.end(), entry) != queues.end()) return false;
  queues.push_back(entry);
  config.SetText(kQueue, own);
  config.SetRaw(kAwaited, absl::StrCat("[", absl::StrJoin(queues, ","), "]"));
  return Write(config, user);
}

bool MakeUsersWait(const Instruction& i) {
  const std::string queue = QueueOf(i);
  if (queue == "0") return false;
  std::vector<Instruction*> users;
  for (Instruction* user : i.users())
    if (user->opcode() != Opcode::kGetTupleElement) {
      users.push_back(user);
    } else if (!user->users().empty()) {
      users.push_back(user->users()[0]);
    }
  bool changed = false;
  for (Instruction* user : users) changed |= Await(*user, queue);
  return changed;
}

absl::StatusOr<bool> AnnotateQueues(Module& module) {
  const int64_t queue = LargestChannel(module) + 1;
  bool changed = false;
  for (Computation* c : module.Computations())
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() == Opcode::kFusion) {
        changed |= TakeQueueOfRoot(*i);
      } else if (i->opcode() == Opcode::kCopyStart && module.header().is_scheduled &&
                 QueueOf(*i) == "0") {
        BackendConfig config = BackendConfig::Of(*i);
        config.SetInt(kQueue, queue);
        changed |= Write(config, *i);
      }
      changed |= MakeUsersWait(*i);
    }
  return changed;
}

class StreamAttributeAnnotator final : public Pass {
 public:
  absl::string_view name() const override { return "stream-attribute-annotator"; }
  bool handles_schedules() const override { return true; }
  absl::StatusOr<bool> Run(Module& module) override { return AnnotateQueues(module); }
};

}  // namespace

// async-collective-annotator: writes on the start of each collective whether it is synchronous
// (collective_backend_config's is_sync). Option `sync` lists opcodes that are; none is by default.
std::unique_ptr<Pass> CreateAsyncCollectiveAnnotator(PassArguments& arguments) {
  return std::make_unique<AsyncCollectiveAnnotator>(
      arguments.List("sync",
                     {"all-reduce", "all-gather", "collective-permute", "all-to-all",
                      "reduce-scatter", "collective-broadcast", "ragged-all-to-all"},
                     "collectives that are synchronous"));
}

// collective-backend-assigner: writes on collective-permutes how their memory is shared
// (collective_backend_config's collectives_mode). Option `permute-mode`, a name of XLA's
// (COLLECTIVES_SYMMETRIC_MEMORY); without it nothing is written.
std::unique_ptr<Pass> CreateCollectiveBackendAssigner(PassArguments& arguments) {
  return std::make_unique<CollectiveBackendAssigner>(
      arguments.String("permute-mode", "", "what collective-permutes get as collectives_mode"));
}

// stream-attribute-annotator: a fusion whose root names another operation queue than 0 takes it, a
// copy-start of a scheduled module gets one, and what uses a result of another queue waits for
// that queue (wait_on_operation_queues).
std::unique_ptr<Pass> CreateStreamAttributeAnnotator() {
  return std::make_unique<StreamAttributeAnnotator>();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
