// Ragged all-to-alls across hosts as exchanges within each host and dense ones between hosts.
//
// A group of hosts x locals devices is read as a table, host by host; `across` are the groups of
// the devices in one column, `within` those of one row. Where the operand is not longer than the
// result (tokens are sent out), it goes to all hosts first:
//   x' = all-gather(x, across)                    what each host has
//   ragged-all-to-all(x', y, ..., within)         each device sends for its column
// Else (results come home) rows are collected within a host, each at its place in the result:
//   b = ragged-all-to-all(x, zeros, ..., within)  a block for each host
//   c = all-to-all(b, across)
//   ragged-all-to-all(c, y, ..., {{0},{1},...})   from each block what belongs into y
#include <algorithm>
#include <map>

#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

using DeviceLists = std::vector<std::vector<int64_t>>;

struct HostTable {
  int64_t hosts = 0, locals = 0;
  std::vector<int64_t> order;  // places of a group, host by host
  DeviceLists within, across, alone;
};

// The places of `group`, host by host in the order in which hosts come; empty where hosts have
// different numbers of members.
std::vector<int64_t> OrderByHost(const std::vector<int64_t>& group, int64_t devices_per_host,
                                 int64_t& hosts) {
  std::vector<int64_t> seen;
  std::map<int64_t, std::vector<int64_t>> places;
  for (size_t p = 0; p < group.size(); ++p) {
    const int64_t host = group[p] / devices_per_host;
    if (places.count(host) == 0) seen.push_back(host);
    places[host].push_back(static_cast<int64_t>(p));
  }
  hosts = static_cast<int64_t>(seen.size());
  std::vector<int64_t> order;
  for (const int64_t host : seen) {
    if (places[host].size() != places[seen[0]].size()) return {};
    order.insert(order.end(), places[host].begin(), places[host].end());
  }
  return order;
}

// Nothing where groups lie within hosts, or are not spread over hosts all in one way.
std::optional<HostTable> TableOf(const DeviceLists& groups, int64_t devices_per_host) {
  HostTable table;
  for (const std::vector<int64_t>& group : groups) {
    int64_t hosts = 0;
    const std::vector<int64_t> order = OrderByHost(group, devices_per_host, hosts);
    if (order.empty() || hosts < 2) return std::nullopt;
    if (table.order.empty()) {
      table.order = order;
      table.hosts = hosts;
      table.locals = static_cast<int64_t>(order.size()) / hosts;
    }
    if (order != table.order || hosts != table.hosts) return std::nullopt;
    for (int64_t h = 0; h < hosts; ++h) {
      std::vector<int64_t>& row = table.within.emplace_back();
      for (int64_t j = 0; j < table.locals; ++j) row.push_back(group[order[h * table.locals + j]]);
    }
    for (int64_t j = 0; j < table.locals; ++j) {
      std::vector<int64_t>& column = table.across.emplace_back();
      for (int64_t h = 0; h < hosts; ++h) column.push_back(group[order[h * table.locals + j]]);
    }
    for (const int64_t device : group) table.alone.push_back({device});
  }
  return table;
}

ReplicaGroups GroupsFrom(const DeviceLists& lists) {
  ReplicaGroups groups;
  groups.lists = lists;
  return groups;
}

class HostExchange {
 public:
  HostExchange(Instruction* i, Rewriter& r, const HostTable& table)
      : i_(i),
        r_(r),
        w_(r),
        t_(table),
        members_(table.hosts * table.locals),
        updates_(i->operand(2)->shape().dims[0] / members_),
        channel_(Attrs().channel_id ? LargestChannel(*i->parent()->module()) : 0) {}

  Instruction* SendOut() {
    Instruction* x = i_->operand(0);
    const int64_t rows = x->shape().dims[0];
    Instruction* everywhere =
        r_.Add(Opcode::kAllGather, ForEachHost(x->shape()), {x},
               AllGatherAttrs{
                   Channel(), GroupsFrom(t_.across), false, {0}, Attrs().channel_id.has_value()});
    Instruction* numbers = w_.Concatenate({Rows(2), Rows(3), Rows(4), Rows(5)}, 1);
    // Those of one column tell each other what they would have sent to this host.
    Instruction* sent =
        w_.Reshape(w_.SliceOf(numbers, 1, 0, 3 * updates_), {t_.hosts, t_.locals * 3 * updates_});
    sent = AllToAll(sent, t_.across);
    Instruction* received = w_.SliceOf(numbers, 1, 3 * updates_, 4 * updates_);
    sent = ByLocal(sent, 3);
    const auto part = [&](int64_t k) {
      return w_.SliceOf(sent, 2, k * updates_, (k + 1) * updates_);
    };
    return Ragged(everywhere, i_->operand(1), AfterHosts(part(0), rows), part(1), part(2),
                  ByLocal(received, 1), t_.within);
  }

  Instruction* BringHome() {
    const int64_t rows = i_->shape().dims[0];
    Instruction* sizes = ByLocal(Rows(3), 1);
    Instruction* block_sizes =
        AllToAll(w_.Reshape(sizes, {t_.locals, t_.hosts * updates_}), t_.within);
    Instruction* blocks = w_.FillInteger(ForEachHost(i_->shape()), 0);
    blocks = Ragged(i_->operand(0), blocks, ByLocal(Rows(2), 1), sizes,
                    AfterHosts(ByLocal(Rows(4), 1), rows), block_sizes, t_.within);
    blocks = AllToAll(blocks, t_.across);
    Instruction* places = w_.Reshape(Wide(4), {members_, updates_});
    places = AllToAll(places, Attrs().replica_groups.Expand());
    return Ragged(blocks, i_->operand(1), InBlocks(places, rows), Wide(5), places, Wide(5),
                  t_.alone);
  }

 private:
  const RaggedAllToAllAttrs& Attrs() const { return i_->attr<RaggedAllToAllAttrs>(); }
  std::optional<int64_t> Channel() {
    if (!Attrs().channel_id) return std::nullopt;
    return ++channel_;
  }
  Shape ForEachHost(Shape shape) const {
    shape.dims[0] *= t_.hosts;
    return shape;
  }
  Instruction* Wide(int64_t k) { return w_.Convert(i_->operand(k), ElementType::kS64); }

  // Numbers of operand k, a row for each member, host by host.
  Instruction* Rows(int64_t k) {
    Instruction* rows = w_.Reshape(Wide(k), {members_, updates_});
    if (std::is_sorted(t_.order.begin(), t_.order.end())) return rows;
    GatherAttrs attrs;
    attrs.offset_dims = {1};
    attrs.collapsed_slice_dims = attrs.start_index_map = {0};
    attrs.index_vector_dim = 1;
    attrs.slice_sizes = {1, updates_};
    return r_.Add(Opcode::kGather, rows->shape(), {rows, w_.List(ElementType::kS64, t_.order)},
                  std::move(attrs));
  }

  // [hosts, locals, n * updates] as [locals, hosts, n * updates].
  Instruction* ByLocal(Instruction* numbers, int64_t n) {
    return w_.Transpose(w_.Reshape(numbers, {t_.hosts, t_.locals, n * updates_}), {1, 0, 2});
  }

  // Plus `rows` for each host before the number's own, in dimension 1.
  Instruction* AfterHosts(Instruction* numbers, int64_t rows) {
    Instruction* hosts = w_.Iota(ElementType::kS64, numbers->shape().dims, 1);
    return w_.Binary(Opcode::kAdd, numbers, w_.WithInteger(Opcode::kMultiply, hosts, rows));
  }

  // The same for members in the order of the group.
  Instruction* InBlocks(Instruction* places, int64_t rows) {
    DimVector starts(members_);
    for (int64_t k = 0; k < members_; ++k) starts[t_.order[k]] = k / t_.locals * rows;
    Instruction* blocks =
        w_.Broadcast(w_.List(ElementType::kS64, starts), places->shape().dims, {0});
    return w_.Binary(Opcode::kAdd, places, blocks);
  }

  Instruction* AllToAll(Instruction* x, const DeviceLists& groups) {
    return r_.Add(Opcode::kAllToAll, x->shape(), {x},
                  AllToAllAttrs{Channel(), GroupsFrom(groups), false, DimVector{0}});
  }

  Instruction* Ragged(Instruction* x, Instruction* y, Instruction* starts, Instruction* sizes,
                      Instruction* places, Instruction* received, const DeviceLists& groups) {
    std::vector<Instruction*> operands = {x, y};
    for (Instruction* numbers : {starts, sizes, places, received})
      operands.push_back(w_.Reshape(numbers, {numbers->shape().ElementCount()}));
    return r_.Add(Opcode::kRaggedAllToAll, y->shape(), operands,
                  RaggedAllToAllAttrs{Channel(), GroupsFrom(groups)});
  }

  Instruction* i_;
  Rewriter& r_;
  HloWriter w_;
  const HostTable& t_;
  int64_t members_, updates_;
  int64_t channel_;  // the last one taken
};

bool IsDecomposable(const Instruction& i) {
  const ElementType type = i.shape().type;
  if (i.opcode() != Opcode::kRaggedAllToAll || !i.shape().IsArray() || i.shape().rank() == 0 ||
      !(IsFloat(type) || IsInteger(type)) || i.shape().dims[0] == 0 ||
      i.operand(0)->shape().dims[0] == 0)
    return false;
  for (int64_t k = 2; k < 6; ++k)
    if (i.operand(k)->shape().rank() != 1) return false;
  const RaggedAllToAllAttrs& attrs = i.attr<RaggedAllToAllAttrs>();
  // With a channel groups are of partitions, which all-gather numbers as devices.
  return !attrs.replica_groups.empty() &&
         (!attrs.channel_id || i.parent()->module()->header().replica_count == 1);
}

absl::StatusOr<Instruction*> AcrossHosts(Instruction* i, Rewriter& r, int64_t devices_per_host) {
  if (!IsDecomposable(*i)) return nullptr;
  const auto table = TableOf(GroupsOf(*i), devices_per_host);
  if (!table || i->operand(2)->shape().dims[0] % (table->hosts * table->locals) != 0)
    return nullptr;
  HostExchange exchange(i, r, *table);
  return i->operand(0)->shape().dims[0] <= i->shape().dims[0] ? exchange.SendOut()
                                                              : exchange.BringHome();
}

}  // namespace

// ragged-all-to-all-multi-host-decomposer: a ragged all-to-all whose groups span hosts becomes an
// all-gather between hosts and a ragged all-to-all within each (where the operand is not longer
// than the result), or a ragged one within each host, a dense one between them and one on each
// device. Option `devices-per-host` (8). DeviceLists that hosts do not share evenly, and those that
// are not named, stay. Exact. Cost: between hosts every device sends its operand, or blocks as long
// as the result, in full length.
std::unique_ptr<Pass> CreateRaggedAllToAllMultiHostDecomposer(PassArguments& arguments) {
  const int64_t devices =
      std::max<int64_t>(1, arguments.Int("devices-per-host", 8, "how many devices share a host"));
  return MakeExpander(
      "ragged-all-to-all-multi-host-decomposer",
      [devices](Instruction* i, Rewriter& r) { return AcrossHosts(i, r, devices); });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
