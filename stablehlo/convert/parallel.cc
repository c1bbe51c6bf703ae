// Programs that run side by side, as the tests of StableHLO's collectives have them:
//
//   %results:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@all_reduce], [@all_reduce]]}
//
// runs a grid of processes, a row for each replica and a column for each partition. All are
// converted into the computation at hand, and a collective is what it computes of its participants'
// values: an all_gather joins them, an all_reduce applies its region to them one after the other.
//
// Each process is a list of operations. One goes on until it meets others at a collective; when all
// members of a group wait, the group's results are made and they go on. Calls are followed into.
// The region of an async_start is followed into at once. Limits: inside loops and branches, and in
// what is called there, collectives and ids of processes are refused.
#include <algorithm>
#include <deque>
#include <map>
#include <numeric>

#include "absl/strings/strip.h"
#include "stablehlo/convert/collectives_internal.h"
#include "stablehlo/convert/converter_internal.h"

namespace hlokit {
namespace {

constexpr size_t kMaxProcesses = 1024;
constexpr size_t kMaxCallDepth = 100;

// A function that a process is in, and the operation that called it; null for its program.
struct Frame {
  const MlirBlock* block;
  size_t next = 0;
  const MlirOperation* call = nullptr;
};

struct Process {
  int64_t replica = 0, partition = 0;
  std::unique_ptr<BodyConverter> body;
  std::vector<Frame> frames;
  const MlirOperation* waits = nullptr;  // a collective or receive
  bool done = false;
  std::vector<Instruction*> results;
};

class ParallelRun {
 public:
  ParallelRun(BodyConverter& around, const MlirOperation& op) : around_(around), op_(op) {}

  absl::Status Run();

 private:
  absl::Status StartProcesses();
  absl::StatusOr<const MlirBlock*> BlockOfFunction(const std::string& name) const;
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

  BodyConverter& around_;
  const MlirOperation& op_;
  int64_t replicas_ = 0, partitions_ = 0;
  std::deque<Process> processes_;
  std::map<int64_t, std::deque<std::pair<size_t, std::vector<Instruction*>>>> sent_;  // by channel
  size_t next_infeed_ = 0;
};

absl::StatusOr<const MlirBlock*> ParallelRun::BlockOfFunction(const std::string& name) const {
  const MlirOperation* function = around_.module().FunctionOperation(name);
  if (function == nullptr || function->regions.size() != 1 ||
      function->regions[0].blocks.size() != 1 || function->regions[0].blocks[0]->operations.empty())
    return InvalidArgument(op_.name, ": there is no function ", name, " with a body");
  return function->regions[0].blocks[0].get();
}

// Inputs are those of the first process, then of the second, and so on.
absl::Status ParallelRun::StartProcesses() {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> inputs, around_.Operands(op_));
  const MlirAttribute* programs = op_.Find("programs");
  if (programs == nullptr || programs->elements.empty() || programs->elements[0]->elements.empty())
    return InvalidArgument(op_.name, ": expected a grid of programs");
  replicas_ = static_cast<int64_t>(programs->elements.size());
  partitions_ = static_cast<int64_t>(programs->elements[0]->elements.size());
  size_t next = 0;
  for (const MlirAttribute* row : programs->elements) {
    if (static_cast<int64_t>(row->elements.size()) != partitions_)
      return InvalidArgument(op_.name, ": the rows of programs differ in length");
    for (const MlirAttribute* program : row->elements) {
      if (processes_.size() >= kMaxProcesses)
        return Unimplemented(op_.name, " of more than ", kMaxProcesses, " processes");
      ASSIGN_OR_RETURN(const MlirBlock* block, BlockOfFunction(program->text));
      Process& p = processes_.emplace_back();
      const int64_t number = static_cast<int64_t>(processes_.size()) - 1;
      p.replica = number / partitions_;
      p.partition = number % partitions_;
      p.body = std::make_unique<BodyConverter>(around_.module(), around_.computation(), nullptr);
      p.frames.push_back({block});
      if (next + block->arguments.size() > inputs.size())
        return InvalidArgument(op_.name, ": the programs take more than ", inputs.size(),
                               " values");
      for (const MlirValue& argument : block->arguments) p.body->Set(argument, inputs[next++]);
    }
  }
  if (next == inputs.size()) return absl::OkStatus();
  return InvalidArgument(op_.name, ": the programs take ", next, " values, but there are ",
                         inputs.size());
}

absl::Status ParallelRun::Run() {
  RETURN_IF_ERROR(StartProcesses());
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t i = 0; i < processes_.size(); ++i) {
      Process& p = processes_[i];
      if (!p.done && p.waits == nullptr) {
        RETURN_IF_ERROR(Advance(i));
        moved = true;
      }
    }
    for (size_t i = 0; i < processes_.size(); ++i) {
      if (processes_[i].waits == nullptr) continue;
      const bool receives = processes_[i].waits->name == "stablehlo.recv";
      ASSIGN_OR_RETURN(const bool met, receives ? Receive(i) : Meet(i));
      moved |= met;
    }
  }
  std::vector<Instruction*> results;
  for (const Process& p : processes_) {
    if (!p.done)
      return WithPlace(InvalidArgument(p.waits->name, ": not all of its participants reach it"),
                       p.waits->place);
    results.insert(results.end(), p.results.begin(), p.results.end());
  }
  if (results.size() != op_.results.size())
    return InvalidArgument(op_.name, ": the programs return ", results.size(), " values, expected ",
                           op_.results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    if (!SameIgnoringLayout(results[i]->shape(), BodyConverter::ShapeOf(*op_.results[i].type)))
      return InvalidArgument(op_.name, ": result ", i, " is ", Text(results[i]->shape()));
    around_.Set(op_.results[i], results[i]);
  }
  return absl::OkStatus();
}

// Through the operations before the next one that waits.
absl::Status ParallelRun::Advance(size_t process) {
  Process& p = processes_[process];
  while (!p.done && p.waits == nullptr) {
    Frame& frame = p.frames.back();
    if (frame.next >= frame.block->operations.size())
      return InvalidArgument(op_.name, ": a program does not return");
    const MlirOperation& op = *frame.block->operations[frame.next];
    if (MeetingOf(op.name) != Meeting::kNone || op.name == "stablehlo.recv") {
      p.waits = &op;
      return absl::OkStatus();
    }
    ++frame.next;  // before a call, which adds a frame
    absl::StatusOr<bool> stepped = Step(p, op);
    if (!stepped.ok()) return WithPlace(stepped.status(), op.place);
    if (*stepped) continue;
    if (const MlirOperation* inner = MeetingInside(op, around_.module()))
      return WithPlace(Unimplemented(inner->name, " inside of ", op.name,
                                     ", where programs run side by side, has no equal in HLO"),
                       inner->place);
    RETURN_IF_ERROR(p.body->ConvertOne(op));
  }
  return absl::OkStatus();
}

// Whether the operation is one that has a meaning of its own here; it is done then.
absl::StatusOr<bool> ParallelRun::Step(Process& p, const MlirOperation& op) {
  absl::Status done;
  if (op.name == "func.return" || op.name == "stablehlo.return") {
    done = Leave(p, op);
  } else if (op.name == "stablehlo.replica_id") {
    done = SetIndex(p, op, p.replica);
  } else if (op.name == "stablehlo.partition_id") {
    done = SetIndex(p, op, p.partition);
  } else if (op.name == "stablehlo.send") {
    done = Send(p, op);
  } else if (op.name == "stablehlo.infeed") {
    done = Infeed(p, op);
  } else if (op.name == "func.call" || op.name == "stablehlo.composite") {
    const MlirAttribute* callee = op.Find(op.name == "func.call" ? "callee" : "decomposition");
    if (callee == nullptr || p.frames.size() >= kMaxCallDepth)
      return InvalidArgument(op.name, ": no function, or calls nest too deeply");
    ASSIGN_OR_RETURN(const MlirBlock* block, BlockOfFunction(callee->text));
    ASSIGN_OR_RETURN(const std::vector<Instruction*> arguments, p.body->Operands(op));
    if (arguments.size() != block->arguments.size())
      return InvalidArgument(op.name, ": expected ", block->arguments.size(), " arguments");
    for (size_t i = 0; i < arguments.size(); ++i) p.body->Set(block->arguments[i], arguments[i]);
    p.frames.push_back({block, 0, &op});
  } else if (op.name == "stablehlo.async_start") {
    ASSIGN_OR_RETURN(const MlirBlock* block, BlockOf(op, 0, op.operands.size()));
    ASSIGN_OR_RETURN(const std::vector<Instruction*> arguments, p.body->Operands(op));
    for (size_t i = 0; i < arguments.size(); ++i) p.body->Set(block->arguments[i], arguments[i]);
    p.frames.push_back({block, 0, &op});
  } else {
    return false;
  }
  RETURN_IF_ERROR(done);
  return true;
}

// Returns from a function to its caller, or ends the process.
absl::Status ParallelRun::Leave(Process& p, const MlirOperation& last) {
  ASSIGN_OR_RETURN(std::vector<Instruction*> values, p.body->Operands(last));
  const MlirOperation* call = p.frames.back().call;
  p.frames.pop_back();
  if (call == nullptr) {
    p.done = true;
    p.results = std::move(values);
    return absl::OkStatus();
  }
  if (call->name == "stablehlo.async_start" && call->results.size() == 1 && !values.empty())
    values = {values.size() == 1 ? values[0] : p.body->Tuple(values)};
  if (values.size() != call->results.size())
    return InvalidArgument(call->name, ": the function returns ", values.size(), " values");
  for (size_t i = 0; i < values.size(); ++i) p.body->Set(call->results[i], values[i]);
  return absl::OkStatus();
}

absl::Status ParallelRun::SetIndex(Process& p, const MlirOperation& op, int64_t index) {
  if (op.results.size() != 1) return InvalidArgument(op.name, ": expected one result");
  p.body->Set(op.results[0], around_.Splat(static_cast<double>(index),
                                           Shape::Scalar(ElementType::kU32).WithDefaultLayout()));
  return absl::OkStatus();
}

absl::Status ParallelRun::Send(Process& p, const MlirOperation& op) {
  ASSIGN_OR_RETURN(std::vector<Instruction*> operands, p.body->Operands(op));
  ASSIGN_OR_RETURN(const auto channel, ChannelOf(op));
  if (operands.empty() || op.results.size() != 1)
    return InvalidArgument(op.name, ": expected data and a token, and a token as the result");
  p.body->Set(op.results[0], operands.back());
  operands.pop_back();
  const size_t number = static_cast<size_t>(p.replica * partitions_ + p.partition);
  sent_[channel.value_or(0)].emplace_back(number, std::move(operands));
  return absl::OkStatus();
}

// Takes what its channel has; of its own source where the operation names one.
absl::StatusOr<bool> ParallelRun::Receive(size_t process) {
  Process& p = processes_[process];
  ASSIGN_OR_RETURN(const auto channel, ChannelOf(*p.waits));
  ASSIGN_OR_RETURN(const DimVector pairs,
                   OpAttributes(*p.waits).OptionalInts("source_target_pairs"));
  int64_t source = -1;
  for (size_t i = 0; i + 1 < pairs.size(); i += 2)
    if (pairs[i + 1] == static_cast<int64_t>(process)) source = pairs[i];
  auto& queue = sent_[channel.value_or(0)];
  const auto found = std::find_if(queue.begin(), queue.end(), [&](const auto& item) {
    return source < 0 || static_cast<int64_t>(item.first) == source;
  });
  if (found == queue.end()) return false;
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, p.body->Operands(*p.waits));
  std::vector<Instruction*> results = found->second;
  queue.erase(found);
  if (operands.size() != 1) return InvalidArgument(p.waits->name, ": expected a token");
  results.push_back(operands[0]);
  if (results.size() != p.waits->results.size())
    return InvalidArgument(p.waits->name, ": ", results.size() - 1, " values were sent");
  Finish(p, results);
  return true;
}

// The values of the next function in the list of infeeds.
absl::Status ParallelRun::Infeed(Process& p, const MlirOperation& op) {
  const MlirAttribute* queue = op_.Find("infeed");
  if (queue == nullptr || next_infeed_ >= queue->elements.size())
    return InvalidArgument(op.name, ": the infeed is empty");
  ASSIGN_OR_RETURN(const MlirBlock* block, BlockOfFunction(queue->elements[next_infeed_++]->text));
  BodyConverter inside(around_.module(), around_.computation(), nullptr);
  ASSIGN_OR_RETURN(const MlirOperation* last, inside.ConvertOperations(*block));
  ASSIGN_OR_RETURN(std::vector<Instruction*> values, inside.Operands(*last));
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, p.body->Operands(op));
  values.insert(values.end(), operands.begin(), operands.end());
  if (values.size() != op.results.size())
    return InvalidArgument(op.name, ": the infeed has ", values.size() - 1, " values");
  for (size_t i = 0; i < values.size(); ++i) p.body->Set(op.results[i], values[i]);
  return absl::OkStatus();
}

// The groups of the collective that a process waits at, as numbers of processes: of replicas those
// of its partition, of partitions those of its replica, else all.
absl::StatusOr<std::vector<std::vector<size_t>>> ParallelRun::GroupsAround(size_t process) const {
  const Process& p = processes_[process];
  const MlirOperation& op = *p.waits;
  ASSIGN_OR_RETURN(const auto channel, ChannelOf(op));
  ASSIGN_OR_RETURN(const bool global, OpAttributes(op).Bool("use_global_device_ids", false));
  ASSIGN_OR_RETURN(const ReplicaGroups stated, GroupsOf(*p.body, op));
  Meeting meeting = channel ? MeetingOf(op.name) : Meeting::kReplicas;
  const int64_t ids = meeting == Meeting::kPartitions            ? partitions_
                      : meeting == Meeting::kByChannel && global ? replicas_ * partitions_
                                                                 : replicas_;
  std::vector<std::vector<int64_t>> lists = stated.lists;
  if (lists.empty()) {
    lists.emplace_back(ids);
    std::iota(lists[0].begin(), lists[0].end(), 0);
  }
  std::vector<std::vector<size_t>> groups;
  for (const std::vector<int64_t>& list : lists) {
    std::vector<size_t>& group = groups.emplace_back();
    for (const int64_t id : list) {
      if (id < 0 || id >= ids || std::count(list.begin(), list.end(), id) > 1)
        return InvalidArgument(op.name, ": participant ", id, " is none, or named twice");
      if (meeting == Meeting::kPartitions) {
        group.push_back(p.replica * partitions_ + id);
      } else if (meeting == Meeting::kReplicas) {
        group.push_back(id * partitions_ + p.partition);
      } else if (global) {
        group.push_back(id);
      } else {
        for (int64_t k = 0; k < partitions_; ++k) group.push_back(id * partitions_ + k);
      }
    }
  }
  return groups;
}

absl::StatusOr<std::vector<size_t>> ParallelRun::GroupOf(size_t process) const {
  ASSIGN_OR_RETURN(const auto groups, GroupsAround(process));
  for (const std::vector<size_t>& group : groups)
    if (std::find(group.begin(), group.end(), process) != group.end()) return group;
  return std::vector<size_t>();
}

// Whether all participants of the collective at which `process` waits are there; it is done then.
absl::StatusOr<bool> ParallelRun::Meet(size_t process) {
  const MlirOperation& op = *processes_[process].waits;
  std::vector<size_t> group;
  ASSIGN_OR_RETURN(const auto channel, ChannelOf(op));
  const bool permutes = op.name == "stablehlo.collective_permute";
  if (permutes) {
    const Process& p = processes_[process];
    for (size_t i = 0; i < processes_.size(); ++i)
      if (channel ? processes_[i].replica == p.replica : processes_[i].partition == p.partition)
        group.push_back(i);
  } else {
    ASSIGN_OR_RETURN(group, GroupOf(process));
  }
  for (const size_t member : group) {
    const MlirOperation* other = processes_[member].waits;
    if (other == nullptr) return false;
    if (other->name != op.name || other->operands.size() != op.operands.size() ||
        other->results.size() != op.results.size())
      return WithPlace(InvalidArgument(op.name, ": a participant waits at ", other->name),
                       op.place);
  }
  absl::Status met = permutes ? Permute(group) : MeetGroup(group, process);
  if (!met.ok()) return WithPlace(std::move(met), op.place);
  return true;
}

void ParallelRun::Finish(Process& p, absl::Span<Instruction* const> results) {
  for (size_t i = 0; i < results.size(); ++i) p.body->Set(p.waits->results[i], results[i]);
  p.waits = nullptr;
  ++p.frames.back().next;
}

// Operand `i` of each member.
absl::StatusOr<std::vector<Instruction*>> ParallelRun::Values(const std::vector<size_t>& group,
                                                              size_t i) {
  std::vector<Instruction*> values;
  for (const size_t member : group) {
    const Process& p = processes_[member];
    ASSIGN_OR_RETURN(values.emplace_back(), p.body->Value(*p.waits->operands[i]));
    if (!values.back()->shape().IsArray() ||
        !SameIgnoringLayout(values.back()->shape(), values.front()->shape()))
      return InvalidArgument(p.waits->name, ": the participants' values differ in type");
  }
  return values;
}

// The region, applied element by element to the values of the first two, to that and the third ...
absl::StatusOr<Instruction*> ParallelRun::Reduced(const std::vector<size_t>& group, size_t i) {
  Process& first = processes_[group[0]];
  const MlirOperation& op = *first.waits;
  RETURN_IF_ERROR(BlockOf(op, 0, 2).status());
  ASSIGN_OR_RETURN(const std::vector<Instruction*> values, Values(group, i));
  Instruction* sum = values[0];
  DimVector dimensions(sum->shape().rank());
  std::iota(dimensions.begin(), dimensions.end(), 0);
  for (size_t k = 1; k < values.size(); ++k) {
    ASSIGN_OR_RETURN(Computation * region, first.body->Region(op.regions[0]));
    sum = around_.Add(Opcode::kMap, sum->shape(), {sum, values[k]}, MapAttrs{dimensions});
    sum->set_called({region});
  }
  return sum;
}

Instruction* ParallelRun::Joined(const std::vector<Instruction*>& parts, int64_t dimension) {
  if (parts.size() == 1) return parts[0];
  Shape shape = parts[0]->shape();
  shape.dims[dimension] *= static_cast<int64_t>(parts.size());
  return around_.Add(Opcode::kConcatenate, shape, parts, DimensionsAttrs{{dimension}});
}

Instruction* ParallelRun::Part(Instruction* whole, int64_t dimension, int64_t part, int64_t parts) {
  Shape shape = whole->shape();
  shape.dims[dimension] /= parts;
  SliceAttrs slice;
  for (int d = 0; d < shape.rank(); ++d) {
    const int64_t start = d == dimension ? part * shape.dims[d] : 0;
    slice.slice.push_back({start, start + shape.dims[d], 1});
  }
  return around_.Add(Opcode::kSlice, shape, {whole}, std::move(slice));
}

// Result `i` of a member of the group; `member` is its position there.
absl::StatusOr<Instruction*> ParallelRun::ResultOf(const std::vector<size_t>& group, size_t member,
                                                   size_t i) {
  const MlirOperation& op = *processes_[group[member]].waits;
  const OpAttributes attributes(op);
  ASSIGN_OR_RETURN(const std::vector<Instruction*> values, Values(group, i));
  const Shape shape = values[0]->shape();
  const int64_t size = static_cast<int64_t>(group.size());
  const auto fits = [&](int64_t d, int64_t parts) {
    return d >= 0 && d < shape.rank() && parts > 0 && shape.dims[d] % parts == 0;
  };
  const absl::Status wrong = InvalidArgument(op.name, ": a dimension does not fit ", Text(shape));
  if (op.name == "stablehlo.all_gather") {
    ASSIGN_OR_RETURN(const int64_t d, attributes.Int("all_gather_dim"));
    if (!fits(d, 1)) return wrong;
    return Joined(values, d);
  }
  if (op.name == "stablehlo.all_to_all") {
    ASSIGN_OR_RETURN(const int64_t split, attributes.Int("split_dimension"));
    ASSIGN_OR_RETURN(const int64_t join, attributes.Int("concat_dimension"));
    if (!fits(split, size) || !fits(join, 1)) return wrong;
    std::vector<Instruction*> parts;
    for (Instruction* value : values)
      parts.push_back(Part(value, split, static_cast<int64_t>(member), size));
    return Joined(parts, join);
  }
  ASSIGN_OR_RETURN(Instruction * sum, Reduced(group, i));
  if (op.name == "stablehlo.collective_reduce") return member == 0 ? sum : around_.Splat(0, shape);
  if (op.name == "stablehlo.all_reduce") return sum;
  ASSIGN_OR_RETURN(const int64_t d, attributes.Int("scatter_dimension"));
  if (!fits(d, size)) return wrong;
  return Part(sum, d, static_cast<int64_t>(member), size);
}

// The results of all members, before any of them goes on. A process without a group gets zeros.
absl::Status ParallelRun::MeetGroup(const std::vector<size_t>& group, size_t process) {
  const MlirOperation& op = *processes_[process].waits;
  std::vector<std::vector<Instruction*>> results(group.size());
  const bool broadcasts = op.name == "stablehlo.collective_broadcast";
  if (group.empty()) {
    if (!broadcasts && op.name != "stablehlo.collective_reduce")
      return InvalidArgument(op.name, ": a process is in no group");
    std::vector<Instruction*> zeros;
    for (const MlirValue& result : op.results)
      zeros.push_back(around_.Splat(0, BodyConverter::ShapeOf(*result.type)));
    Finish(processes_[process], zeros);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const bool rooted, OpAttributes(op).Bool("has_dynamic_root", false));
  std::vector<int64_t> roots(op.results.size(), 0);
  if (rooted) {
    ASSIGN_OR_RETURN(const Instruction* root, processes_[process].body->Value(*op.operands.back()));
    const auto ints = ConstantInts(*root);
    if (!ints || ints->size() != roots.size())
      return Unimplemented(op.name, ": the roots are known only at run time");
    roots = *ints;
  }
  if (op.operands.size() != op.results.size() + (rooted ? 1 : 0))
    return InvalidArgument(op.name, ": expected a result for each operand");
  for (size_t member = 0; member < group.size(); ++member)
    for (size_t i = 0; i < op.results.size(); ++i) {
      if (broadcasts) {
        ASSIGN_OR_RETURN(const std::vector<Instruction*> values, Values(group, i));
        if (roots[i] < 0 || roots[i] >= static_cast<int64_t>(values.size()))
          return InvalidArgument(op.name, ": there is no root ", roots[i]);
        results[member].push_back(values[roots[i]]);
        continue;
      }
      ASSIGN_OR_RETURN(results[member].emplace_back(), ResultOf(group, member, i));
    }
  for (size_t member = 0; member < group.size(); ++member)
    Finish(processes_[group[member]], results[member]);
  return absl::OkStatus();
}

// Each target gets its source's value, those that are no target zeros.
absl::Status ParallelRun::Permute(const std::vector<size_t>& all) {
  const MlirOperation& op = *processes_[all[0]].waits;
  ASSIGN_OR_RETURN(const DimVector pairs, OpAttributes(op).Ints("source_target_pairs"));
  if (pairs.size() % 2 != 0 || op.operands.size() != op.results.size())
    return InvalidArgument(op.name, ": expected pairs, and a result for each operand");
  std::vector<std::vector<Instruction*>> results(all.size());
  for (size_t i = 0; i < op.results.size(); ++i) {
    ASSIGN_OR_RETURN(const std::vector<Instruction*> values, Values(all, i));
    for (size_t target = 0; target < all.size(); ++target) {
      Instruction* value = nullptr;
      for (size_t k = 0; k < pairs.size(); k += 2)
        if (pairs[k + 1] == static_cast<int64_t>(target) && pairs[k] >= 0 &&
            pairs[k] < static_cast<int64_t>(all.size()))
          value = values[pairs[k]];
      if (value == nullptr) value = around_.Splat(0, values[0]->shape());
      results[target].push_back(value);
    }
  }
  for (size_t target = 0; target < all.size(); ++target)
    Finish(processes_[all[target]], results[target]);
  return absl::OkStatus();
}

}  // namespace

absl::Status ConvertRunParallel(BodyConverter& body, const MlirOperation& op) {
  return ParallelRun(body, op).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
