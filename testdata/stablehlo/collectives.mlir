// Replica groups over the axes of a mesh, or parts of them, and Shardy's own collectives, which state a sharding.
// RUN: hlo-opt %s
module @main attributes {mhlo.num_partitions = 8 : i32}{
      sdy.mesh @mesh = <["a"=2, "b"=4], device_ids=[7,6,5,4,3,2,1,0]>
      func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %arg9: tensor<2x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<16x4xf32>, tensor<4x4xf32>) {
        %0 = "stablehlo.all_reduce"(%arg0) <{
          channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>,
          replica_groups = #stablehlo.replica_group_mesh_axes<
            mesh = @mesh, axes = [#stablehlo.axis_ref<name = "b", sub_axis_info = (1)2>] >, use_global_device_ids }> ({
        ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
          %1 = "stablehlo.add"(%arg1, %arg2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
          "stablehlo.return"(%1) : (tensor<f32>) -> ()
        }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
        %2 = sdy.all_gather [{"a"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
        %3 = sdy.all_to_all [{"a"}: 0->1] %arg0 out_sharding=<@mesh, [{}, {"a"}]> : tensor<8x8xf32>
        %4 = stablehlo.add %2, %3 : tensor<8x8xf32>
  %5:2 = "stablehlo.all_to_all"(%arg0, %arg9) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 0>} : (tensor<8x8xf32>, tensor<2x8xf32>) -> (tensor<16x4xf32>, tensor<4x4xf32>)
        return %0, %4, %5#0, %5#1 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<16x4xf32>, tensor<4x4xf32> } }
// CHECK: all-reduce({{.*}}), channel_id=1, replica_groups=mesh['a'=2,'b'=4], device_ids=(7,6,5,4,3,2,1,0) {'b':(1)2}, use_global_device_ids=true
// CHECK: custom-call(%Arg_0), custom_call_target="Sharding", sharding={replicated}
// CHECK: custom-call(%Arg_0), custom_call_target="Sharding", sharding={devices=[1,2,4]
// CHECK: f32[8,8]{1,0} all-to-all(%Arg_0), channel_id=2, replica_groups={{.*}}, dimensions={1}
// CHECK: f32[2,8]{1,0} all-to-all(%Arg_1), channel_id=2, replica_groups={{.*}}, dimensions={1}
