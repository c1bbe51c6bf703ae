// A number of partitions that makes no sense.
// RUN: not hlo-opt %s
module @hints attributes {mhlo.num_partitions = -2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%arg0: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<2xf32> {
    return %arg0 : tensor<2xf32>
  }
}
// CHECK: error: a program of -2 partitions; 1 to 65536 are possible
