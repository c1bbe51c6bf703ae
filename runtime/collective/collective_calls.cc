// Calls of compiled code, read into calls of the run's communicator.
#include "runtime/collective/collective.h"

#include <string.h>

#include <algorithm>
#include <exception>
#include <vector>

#include "runtime/collective/communicator.h"
#include "runtime/context.h"

namespace hlokit {
namespace {

using End = Communicator::End;

int64_t Bytes(const HlokitCollectiveArray& array) { return array.rows * array.row_bytes; }

std::span<const HlokitCollectiveArray> ArraysOf(const HlokitCollective& c) {
  return {c.arrays, static_cast<size_t>(c.array_count)};
}

void ZeroResults(const HlokitCollective& c, void* const* results) {
  for (const HlokitCollectiveArray& array : ArraysOf(c)) {
    if (Bytes(array) > 0) memset(*results, 0, static_cast<size_t>(Bytes(array)));
    ++results;
  }
}

Communicator::Waiter WaiterAt(const HlokitRunContext& ctx, const HlokitCollective& c) {
  return {ctx.device_ordinal, c.name, c.id, hlokit_cancelled, &ctx};
}

// Sets an error in the context where a wait has ended in vain.
void Report(const Communicator& communicator, HlokitRunContext& ctx, const HlokitCollective& c,
            End end) {
  if (end != End::kNone)
    SetKernelError(&ctx, "%s", communicator.Text(end, WaiterAt(ctx, c)).c_str());
}

void Send(Communicator& communicator, const HlokitRunContext& ctx, const HlokitCollective& c,
          const void* const* operands) {
  std::vector<std::span<const char>> message;
  for (const HlokitCollectiveArray& array : ArraysOf(c))
    message.emplace_back(static_cast<const char*>(*operands++), static_cast<size_t>(Bytes(array)));
  const auto send = [&](int64_t target) {
    communicator.Send(WaiterAt(ctx, c), c.channel, target, message);
  };
  if (c.pair_count == 0) send(-1);
  for (int64_t p = 0; p < c.pair_count; ++p)
    if (c.pairs[2 * p] == ctx.device_ordinal) send(c.pairs[2 * p + 1]);
}

void Receive(Communicator& communicator, HlokitRunContext& ctx, const HlokitCollective& c,
             void* const* results) {
  bool expected = c.pair_count == 0;
  for (int64_t p = 0; p < c.pair_count; ++p) expected |= c.pairs[2 * p + 1] == ctx.device_ordinal;
  if (!expected) return ZeroResults(c, results);
  const auto take = [&](std::span<const std::span<const char>> message) {
    for (size_t array = 0; array < ArraysOf(c).size(); ++array) {
      const auto bytes = static_cast<size_t>(Bytes(c.arrays[array]));
      if (array >= message.size() || message[array].size() != bytes)
        return SetKernelError(&ctx, "%s: the message is of another size", c.name);
      if (bytes > 0) memcpy(results[array], message[array].data(), bytes);
    }
  };
  const int64_t target = c.pair_count == 0 ? -1 : ctx.device_ordinal;
  Report(communicator, ctx, c, communicator.Receive(WaiterAt(ctx, c), c.channel, target, take));
}

End RunPart(Communicator& communicator, HlokitRunContext& ctx, const HlokitCollective& c,
            const Communicator::Part& part) {
  switch (c.kind) {
    case HLOKIT_ALL_REDUCE:
      return communicator.AllReduce(part);
    case HLOKIT_ALL_GATHER:
      return communicator.AllGather(part);
    case HLOKIT_REDUCE_SCATTER:
      return communicator.ReduceScatter(part);
    case HLOKIT_ALL_TO_ALL:
      return communicator.AllToAll(part);
    case HLOKIT_ALL_TO_ALL_TUPLE:
      return communicator.AllToAllArrays(part);
    case HLOKIT_PERMUTE:
      return communicator.Permute(part, {c.pairs, static_cast<size_t>(2 * c.pair_count)});
    case HLOKIT_BROADCAST:
      return communicator.Broadcast(part);
    default:
      break;
  }
  int64_t outside = -1;
  const End end = communicator.RaggedAllToAll(part, outside);
  if (outside >= 0)
    SetKernelError(&ctx, "%s: piece %lld is out of bounds", c.name,
                   static_cast<long long>(outside));
  return end;
}

void Collective(Communicator& communicator, HlokitRunContext& ctx, const HlokitCollective& c,
                const void* const* operands, void* const* results) {
  const int64_t begin = c.groups[ctx.device_ordinal];
  if (begin == 0 && c.kind == HLOKIT_BROADCAST) return ZeroResults(c, results);
  if (begin == 0)
    return SetKernelError(&ctx, "%s: device %d is in no replica group", c.name, ctx.device_ordinal);
  Communicator::Part part;
  part.waiter = WaiterAt(ctx, c);
  part.group = {c.groups + begin + 1, static_cast<size_t>(c.groups[begin])};
  part.place = static_cast<size_t>(
      std::find(part.group.begin(), part.group.end(), ctx.device_ordinal) - part.group.begin());
  part.arrays = ArraysOf(c);
  part.operands = operands;
  part.results = results;
  Report(communicator, ctx, c, RunPart(communicator, ctx, c, part));
}

}  // namespace
}  // namespace hlokit

extern "C" void hlokit_collective(void* ctx, const HlokitCollective* collective,
                                  const void* const* operands, void* const* results) {
  auto* run = static_cast<HlokitRunContext*>(ctx);
  if (hlokit_cancelled(run)) return;
  auto* communicator = static_cast<hlokit::Communicator*>(run->communicator);
  if (communicator == nullptr)
    return hlokit_set_error(run, "the program exchanges arrays, but the run has no devices");
  try {
    if (collective->kind == HLOKIT_SEND)
      hlokit::Send(*communicator, *run, *collective, operands);
    else if (collective->kind == HLOKIT_RECEIVE)
      hlokit::Receive(*communicator, *run, *collective, results);
    else
      hlokit::Collective(*communicator, *run, *collective, operands, results);
  } catch (const std::exception&) {
    hlokit_set_error(run, "there is not enough memory for a collective");
  }
}
// SPDX-License-Identifier: Apache-2.0
