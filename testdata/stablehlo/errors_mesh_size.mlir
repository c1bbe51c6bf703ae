// A mesh of fewer devices than there are partitions.
// RUN: not hlo-opt %s
module @hints attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%arg0: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<2xf32> {
    return %arg0 : tensor<2xf32>
  }
}
// CHECK: error: a mesh of 2 devices, the module runs on 4
