// Collectives in counted loops whose results only fill arrays of the loop's state, slice by slice.
//   s = while { s' = dynamic-update-slice(s, reshape(all-reduce(f(i))), i) }
// What collective-pipeliner-forward delays by an iteration and collective-pipeliner-forward-sink
// moves after the loop.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {

struct CollectiveLoop {
  WhileState state;
  LoopCount count;
};

// The loop, if it runs a known number of times, at least once, its state is read by parts alone,
// and nothing in it has a side effect but transfers to the host.
std::optional<CollectiveLoop> MatchCountedLoop(Instruction* i);

// A collective of one array, in one piece, without control edges.
bool IsPlainCollective(const Instruction* i);

// A send, receive or the end of one, between device and host.
bool IsHostTransfer(const Instruction* i);

// Some collectives and all that is computed from them: nothing but updates of parts of the state.
struct LoopUpdates {
  std::vector<Instruction*> moved;    // in order: the collectives, and what makes updates of them
  std::vector<Instruction*> updates;  // dynamic-update-slices, each the next state of a part
  DimVector parts;                    // the part of each update

  // What moved instructions and updates read that are neither, nor the arrays updated; each once.
  std::vector<Instruction*> Inputs() const;
};

// The groups of the loop that begin at collectives of these opcodes, in the body's order. Groups
// that share an instruction are one. `inner_updates` also takes updates of other arrays on the way.
std::vector<LoopUpdates> FindLoopUpdates(const CollectiveLoop& loop,
                                         absl::Span<const Opcode> collectives, bool inner_updates);

// The dimension along which the update moves: the only one whose start is no constant.
std::optional<int64_t> MovingDimension(const Instruction* update);
// The start along that dimension in each of the first kMaxRows iterations; nothing where it follows
// from more than the counter and constants. Cost: an evaluation of each instruction of the index
// for each iteration.
constexpr int64_t kMaxRows = 4096;
std::optional<std::vector<int64_t>> RowsWritten(const Instruction* update,
                                                const CollectiveLoop& loop);

// How a value of an iteration reaches a later place.
enum class LoopInputKind {
  kConstant,  // follows from constants: CopyExpression
  kPart,      // a part of the state that never changes
  kOther,     // must be kept
};
LoopInputKind KindOf(const Instruction* input, const WhileState& loop);

// Copies a kConstant and what it is computed from.
Instruction* CopyExpression(Rewriter& r, const Instruction* i);

// A loop over `start` with the body that `round` writes: it gets the state and gives the next. The
// condition is the old one on what `tested` makes of the state.
using StateWriter = std::function<Instruction*(Rewriter&, Instruction* state)>;
Instruction* MakeLoop(Rewriter& r, const WhileState& old, Instruction* start,
                      const StateWriter& round, const StateWriter& tested);
// The first parts of `state`, as a tuple.
Instruction* Narrow(Rewriter& r, Instruction* state, size_t parts);

// The parts of a tuple; the operands where it is built by one.
std::vector<Instruction*> PartsOf(HloWriter& w, Instruction* tuple);

// The collectives that option `opcodes` of a pass names; `otherwise` where it names none.
std::vector<Opcode> CollectivesOf(PassArguments& arguments,
                                  absl::Span<const absl::string_view> otherwise);
constexpr absl::string_view kPipelinedCollectives[] = {
    "all-gather",         "all-reduce",        "all-to-all",    "collective-broadcast",
    "collective-permute", "ragged-all-to-all", "reduce-scatter"};

// Gives the loop's body a root with other parts while it lives: copies made meanwhile have it.
class OtherRoot {
 public:
  OtherRoot(const WhileState& loop, absl::Span<Instruction* const> parts);
  ~OtherRoot();
  OtherRoot(const OtherRoot&) = delete;
  OtherRoot& operator=(const OtherRoot&) = delete;

 private:
  const WhileState& loop_;
  Instruction* root_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
