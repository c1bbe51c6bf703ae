// A sharding whose text does not read is refused where it stands.
// RUN: not hlo-opt %s
module @m {
  func.func @main(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2,1]0,zz}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}
// CHECK: errors_sharding_text.mlir:5:10: error: mhlo.sharding = "{devices=[2,1]0,zz}": expected an integer, found 'zz'
