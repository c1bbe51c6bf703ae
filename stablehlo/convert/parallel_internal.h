// Programs that run side by side while they are converted: where each of them is, and how they
// meet. parallel.cc starts them and takes them from one meeting to the next, parallel_meetings.cc
// makes the results of collectives, parallel_control.cc takes them through loops and branches in
// step.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stablehlo/convert/converter_internal.h"

namespace hlokit {

// A function that a process is in, and the operation that called it; null for its program.
struct ProcessFrame {
  const MlirBlock* block;
  size_t next = 0;
  const MlirOperation* call = nullptr;
};

struct Process {
  int64_t replica = 0, partition = 0;
  std::shared_ptr<BodyConverter> body;  // null: it takes no part in this region
  std::vector<ProcessFrame> frames;
  const MlirOperation* waits =
      nullptr;                   // a collective, a receive, a loop or branch with such inside
  Instruction* guard = nullptr;  // whether it is really there: others may be alone in a loop's step
  bool done = false;
  std::vector<Instruction*> results;
};

class ParallelRun {
 public:
  ParallelRun(BodyConverter& around, const MlirOperation& op) : around_(around), op_(op) {}

  absl::Status Run();

 private:
  // A process at a loop or branch that others are at too.
  struct Member {
    size_t process;
    const MlirOperation* op;
  };
  // The results of a region, of each member that has it.
  using RegionResults = std::vector<std::vector<Instruction*>>;

  // The processes of `outside` in a region, of which none takes part yet.
  ParallelRun(BodyConverter& around, const ParallelRun& outside);

  absl::Status StartProcesses();
  absl::StatusOr<const MlirBlock*> BlockOfFunction(const std::string& name) const;
  absl::Status Proceed();
  absl::Status Advance(size_t process);
  absl::StatusOr<bool> Step(Process& p, const MlirOperation& op);
  absl::Status Leave(Process& p, const MlirOperation& last);
  absl::Status SetIndex(Process& p, const MlirOperation& op, int64_t index);
  absl::Status Send(Process& p, const MlirOperation& op);
  absl::StatusOr<bool> Receive(size_t process);
  absl::Status Infeed(Process& p, const MlirOperation& op);

  // The processes of the group of `process` in order; empty where it is in none.
  absl::StatusOr<std::vector<size_t>> GroupOf(size_t process) const;
  absl::StatusOr<std::vector<std::vector<size_t>>> GroupsAround(size_t process) const;
  absl::StatusOr<bool> Meet(size_t process);
  absl::Status MeetGroup(const std::vector<size_t>& group, size_t process);
  absl::Status Permute(const std::vector<size_t>& all);
  absl::StatusOr<std::vector<Instruction*>> Values(const std::vector<size_t>& group, size_t i);
  absl::StatusOr<Instruction*> Reduced(const std::vector<size_t>& group, size_t i);
  Instruction* Joined(const std::vector<Instruction*>& parts, int64_t dimension);
  Instruction* Part(Instruction* whole, int64_t dimension, int64_t part, int64_t parts);
  absl::StatusOr<Instruction*> ResultOf(const std::vector<size_t>& group, size_t member, size_t i);
  void Finish(Process& p, absl::Span<Instruction* const> results);

  // Whether the process waits at this loop or branch, because others are met inside.
  bool WaitsForOthers(const Process& p, const MlirOperation& op) const;
  // The branch that a known operand takes; null where it is none or unknown.
  absl::StatusOr<const MlirBlock*> KnownBranch(Process& p, const MlirOperation& op) const;
  // Takes all that wait at loops, or at branches, through them; false where none does.
  absl::StatusOr<bool> RunControl();
  absl::Status RunLoops(const std::vector<Member>& members);
  absl::Status RunBranches(const std::vector<Member>& members);
  absl::StatusOr<RegionResults> RunRegion(BodyConverter& inside, const std::vector<Member>& members,
                                          size_t region, const RegionResults& arguments,
                                          absl::Span<Instruction* const> guards);

  BodyConverter& around_;
  const MlirOperation& op_;
  bool inside_ = false;  // of a loop or branch
  int64_t replicas_ = 0, partitions_ = 0;
  std::deque<Process> processes_;
  std::map<int64_t, std::deque<std::pair<size_t, std::vector<Instruction*>>>> sent_;  // by channel
  size_t next_infeed_ = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
