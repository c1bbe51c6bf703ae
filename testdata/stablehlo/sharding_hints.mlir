// Hints of sharding leave values as they are in a program of one partition.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: f32[2] {1, 2}
// EXPECT: f32[2] {2, 4}
module @hints attributes {mhlo.num_partitions = 1 : i32} {
  sdy.mesh @mesh = <["x"=1]>
  func.func @main(%arg0: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<2xf32> {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]> : tensor<2xf32>
    %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<2xf32>
    %2 = sdy.propagation_barrier %1 allowed_direction=NONE : tensor<2xf32>
    sdy.sharding_group %2 group_id = 3 : tensor<2xf32>
    %3 = stablehlo.add %2, %2 : tensor<2xf32>
    return %3 : tensor<2xf32>
  }
}
