// Values of a group that are to be cut alike: a call for each of them says so, as XLA converts it.
// RUN: hlo-opt %s
module @groups attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
    %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
    sdy.sharding_group %arg0 group_id = 3 : tensor<4xf32>
    sdy.sharding_group %0 group_id = 3 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
// CHECK: () custom-call(%Arg_0), custom_call_target="xla.sdy.ShardingGroup", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.sharding_group_id="3 : i64"}
// CHECK: () custom-call(%broadcast), custom_call_target="xla.sdy.ShardingGroup", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.sharding_group_id="3 : i64"}
