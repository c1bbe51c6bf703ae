// A sharding over a mesh that is not there.
// RUN: not hlo-opt %s
module @hints attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = sdy.sharding_constraint %arg0 <@other, [{"x"}]> : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
// CHECK: errors_sharding_hints.mlir:6:10: error: the module has no mesh other
