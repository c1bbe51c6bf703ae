// Shardings of several partitions are handed on as XLA's partitioner reads them.
// RUN: hlo-opt %s
module @shardy attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %arg1: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, tensor<4xf32>) {
    %0 = sdy.sharding_constraint %arg1 <@mesh, [{"y", "x"}]> : tensor<4xf32>
    %1 = sdy.propagation_barrier %0 allowed_direction=NONE : tensor<4xf32>
    %2:2 = sdy.manual_computation(%arg0, %1) in_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"y"}]>] out_shardings=[<@mesh, [{}, {"y"}]>, <@mesh, [{"y"}]>] manual_axes={"x", "y"} (%arg2: tensor<2x2xf32>, %arg3: tensor<2xf32>) {
      %3 = stablehlo.negate %arg2 : tensor<2x2xf32>
      sdy.return %3, %arg3 : tensor<2x2xf32>, tensor<2xf32>
    } : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>)
    return %2#0, %2#1 : tensor<2x4xf32>, tensor<4xf32>
  }
}
// CHECK: HloModule shardy, {{.*}}num_partitions=4, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=2]>}}
// CHECK: %xla.sdy.manual_computation_body
// CHECK: %Arg_0 = f32[4,4]{1,0} parameter(0), sharding={devices=[2,2]<=[4]}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"x\"}, {\"y\"}]>"}
// CHECK: %Arg_1 = f32[4]{0} parameter(1), sharding={replicated}
// CHECK: custom_call_target="Sharding", sharding={devices=[4]<=[2,2]T(1,0)}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"y\", \"x\"}]>]>"}
// CHECK: (f32[2,2]{1,0}, f32[2]{0}) custom-call({{.*}}), custom_call_target="xla.sdy.GlobalToLocalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\"}, {\"y\"}]>, <@mesh, [{\"y\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"x\", \"y\"}>"}
// CHECK: call({{.*}}), to_apply=%xla.sdy.manual_computation_body, frontend_attributes={inlineable="false"}
// CHECK: custom_call_target="xla.sdy.LocalToGlobalShape", {{.*}}xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{}, {\"y\"}]>, <@mesh, [{\"y\"}]>]>"
// CHECK: custom_call_target="xla.sdy.FuncResultSharding", {{.*}}xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{}, {\"y\"}]>]>"
