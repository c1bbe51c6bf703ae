// Module-wide rules on texts: each row is a module and the label of the first rule it breaks.
#include "gtest/gtest.h"
#include "parser/parser.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

struct Row {
  const char* header;  // after `HloModule m`
  const char* body;    // of the entry computation
  const char* label;   // empty: the module is sound
};

constexpr char kComputations[] = R"(
add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }
neg { x = f32[4] parameter(0)  ROOT n = f32[4] negate(x) }
abs { x = f32[4] parameter(0)  ROOT n = f32[4] abs(x) }
)";

std::string FirstLabel(const Row& row) {
  std::string text = absl::StrCat("HloModule m", row.header, "\n", kComputations,
                                  "ENTRY e {\n  p = f32[4] parameter(0)\n  ", row.body, "\n}\n");
  Diagnostics parse, out;
  auto file = std::make_shared<SourceFile>("test", text);
  auto module = ParseModule(file, {}, parse);
  if (!module.ok()) return parse.Render(*file);
  const absl::Status status = Verify(**module, out);
  for (const Diagnostic& item : out.items()) EXPECT_TRUE(item.place.valid()) << item.message;
  return status.ok() ? "" : LabelOf(status);
}

void CheckRows(absl::Span<const Row> rows) {
  for (const Row& row : rows)
    EXPECT_EQ(FirstLabel(row), row.label) << row.header << "\n" << row.body;
}

TEST(RulesTest, Header) {
  const char* pair = "ROOT r = (f32[4], f32[4]) tuple(p, p)";
  CheckRows({
      {", entry_computation_layout={(f32[4]{0})->(f32[4]{0}, f32[4]{0})}", pair, ""},
      {", entry_computation_layout={(f32[5]{0})->(f32[4]{0}, f32[4]{0})}", pair, "entry-c1"},
      {", entry_computation_layout={(f32[4]{0})->f32[4]{0}}", pair, "entry-c1"},
      {", entry_computation_layout={()->(f32[4]{0}, f32[4]{0})}", pair, "entry-c1"},
      {", input_output_alias={ {1}: (0, {}, may-alias) }", pair, ""},
      {", input_output_alias={ {2}: (0, {}, may-alias) }", pair, "alias-c1"},
      {", input_output_alias={ {1}: (1, {}, may-alias) }", pair, "alias-c2"},
      {", input_output_alias={ {1}: (0, {0}, may-alias) }", pair, "alias-c2"},
      {", input_output_alias={ {0}: (0, {}), {1}: (0, {}) }", pair, "alias-c3"},
      {", input_output_alias={ {}: (0, {}, may-alias) }", "ROOT r = f32[2] slice(p), slice={[0:2]}",
       "alias-c4"},
      {", buffer_donor={ (0, {}) }", pair, ""},
      {", buffer_donor={ (1, {}) }", pair, "donor-c1"},
      {", buffer_donor={ (0, {}) }, input_output_alias={ {1}: (0, {}) }", pair, "donor-c2"},
  });
}

TEST(RulesTest, DeviceGroups) {
  CheckRows({
      {"", "ROOT r = f32[4] all-reduce(p), replica_groups={{0,1},{2,3}}, to_apply=add", ""},
      {", replica_count=4",
       "ROOT r = f32[4] all-reduce(p), replica_groups={{0,1},{2,3}}, to_apply=add", ""},
      {", replica_count=4",
       "ROOT r = f32[4] all-reduce(p), replica_groups={{0,1,2},{3}}, to_apply=add", ""},
      {", replica_count=4",
       "ROOT r = f32[4] all-reduce(p), replica_groups=[2,2]<=[4], to_apply=add", ""},
      {"", "ROOT r = f32[4] all-reduce(p), replica_groups={{0,1},{}}, to_apply=add", "group-c1"},
      {"", "ROOT r = f32[8] all-gather(p), replica_groups={{0,1},{2}}, dimensions={0}", "group-c2"},
      {"", "ROOT r = f32[4] all-reduce(p), replica_groups={{0,1},{1,2}}, to_apply=add", "group-c3"},
      {"", "ROOT r = f32[4] all-reduce(p), replica_groups={{0,1},{2,4}}, to_apply=add", "group-c4"},
      {", replica_count=4", "ROOT r = f32[4] all-reduce(p), replica_groups={{0,1}}, to_apply=add",
       "group-c5"},
      {", num_partitions=4",
       "ROOT r = f32[4] all-reduce(p), channel_id=1, replica_groups={{0,1,2,3}}, "
       "use_global_device_ids=true, to_apply=add",
       ""},
      {", num_partitions=4",
       "ROOT r = f32[4] all-reduce(p), channel_id=1, replica_groups={{0,1}}, "
       "use_global_device_ids=true, to_apply=add",
       "group-c5"},
      {"",
       "ROOT r = f32[4] all-reduce(p), replica_groups={}, use_global_device_ids=true, to_apply=add",
       "group-c6"},
      {", replica_count=2", "ROOT r = f32[8] all-gather(p), replica_groups={}, dimensions={0}", ""},
      {", replica_count=2", "ROOT r = f32[16] all-gather(p), replica_groups={}, dimensions={0}",
       "all-gather-c10"},
      {", replica_count=2", "ROOT r = f32[8] all-gather(p), replica_groups={}, dimensions={3}",
       "all-gather-c2"},
      {", replica_count=2",
       "ROOT r = f32[1] reduce-scatter(p), replica_groups={}, dimensions={0}, to_apply=add",
       "reduce-scatter-c10"},
      {", replica_count=4",
       "ROOT r = f32[4] collective-permute(p), source_target_pairs={{0,1},{1,2},{3,3}}", ""},
      {"", "ROOT r = f32[4] collective-permute(p), source_target_pairs={{0,1},{0,2}}",
       "collective-permute-c10"},
      {"", "ROOT r = f32[4] collective-permute(p), source_target_pairs={{0,1},{2,1}}",
       "collective-permute-c10"},
      {", replica_count=4", "ROOT r = f32[4] collective-permute(p), source_target_pairs={{0,4}}",
       "collective-permute-c11"},
  });
}

TEST(RulesTest, AsynchronousPairs) {
  CheckRows({
      {"", "s = f32[4] all-reduce-start(p), to_apply=add\n ROOT r = f32[4] all-reduce-done(s)", ""},
      {"", "ROOT s = f32[4] all-reduce-start(p), to_apply=add", "async-c1"},
      {"", "ROOT r = f32[4] all-reduce-done(p)", "async-c2"},
      {"",
       "s = (f32[4], f32[4], u32[]) copy-start(p)\n d = f32[4] copy-done(s)\n ROOT r = f32[4] "
       "copy-done(s)",
       "async-c1"},
      {"",
       "s = ((f32[4]), f32[4], s32[]) async-start(p), calls=neg\n"
       "u = ((f32[4]), f32[4], s32[]) async-update(s)\n ROOT r = f32[4] async-done(u)",
       ""},
      {"", "ROOT s = ((f32[4]), f32[4]) async-start(p), calls=neg", "async-c1"},
      {"",
       "t = token[] after-all()\n s = (f32[4], u32[], token[]) send(p, t), channel_id=1\n"
       "ROOT r = token[] send-done(s), channel_id=1",
       ""},
      {"",
       "t = token[] after-all()\n s = (f32[4], u32[], token[]) send(p, t), channel_id=1\n"
       "ROOT r = token[] send-done(s), channel_id=2",
       "async-c5"},
      {"",
       "t = token[] after-all()\n s = (f32[4], u32[], token[]) send(p, t), channel_id=1\n"
       "ROOT r = (f32[4], token[]) recv-done(s), channel_id=1",
       "async-c4"},
  });
}

TEST(RulesTest, CallsAndShardings) {
  CheckRows({
      {"",
       "a = f32[4] fusion(p), kind=kLoop, calls=neg\n ROOT r = f32[4] fusion(a), kind=kLoop, "
       "calls=abs",
       ""},
      {"",
       "a = f32[4] fusion(p), kind=kLoop, calls=neg\n ROOT r = f32[4] fusion(a), kind=kLoop, "
       "calls=neg",
       "fusion-c11"},
      {"",
       "ROOT r = f32[4] custom-call(p), custom_call_target=\"f\", output_to_operand_aliasing={{}: "
       "(0, {})}",
       ""},
      {"",
       "ROOT r = f32[4] custom-call(p), custom_call_target=\"f\", output_to_operand_aliasing={{}: "
       "(1, {})}",
       "custom-call-c10"},
      {"",
       "ROOT r = f32[4] custom-call(p), custom_call_target=\"f\", "
       "operand_layout_constraints={f32[4]{0}}",
       ""},
      {"",
       "ROOT r = f32[4] custom-call(p), custom_call_target=\"f\", "
       "operand_layout_constraints={f32[5]{0}}",
       "custom-call-c11"},
      {"", "ROOT r = f32[4] negate(p), sharding={devices=[2]<=[2]}", ""},
      {"", "ROOT r = f32[4] negate(p), sharding={devices=[2,2]<=[4] last_tile_dim_replicate}", ""},
      {"", "ROOT r = f32[4] negate(p), sharding={devices=[2]0,0}", "sharding-c1"},
      {"", "ROOT r = f32[4] negate(p), sharding={devices=[2,2]<=[4]}", "sharding-c2"},
      {"", "ROOT r = (f32[4], f32[4]) tuple(p, p), sharding={{replicated}, {replicated}}", ""},
      {"", "ROOT r = (f32[4], f32[4]) tuple(p, p), sharding={{replicated}}", "sharding-c3"},
  });
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
