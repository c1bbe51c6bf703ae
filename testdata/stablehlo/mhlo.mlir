// Operations of mhlo, from which StableHLO came.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: f32[3] {0, 3, -2}
// EXPECT: (f32[3], f32[2], s32[2]) ({0, 6, -4}, {3, 0}, {1, 0})
func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<2xf32>, tensor<2xi32>) {
  %0 = mhlo.add %x, %x : tensor<3xf32>
  %1 = "mhlo.erf"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %2 = mhlo.constant dense<0.0> : tensor<f32>
  %3 = mhlo.reduce(%1 init: %2) applies mhlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  %4:2 = "mhlo.topk"(%x) {k = 2 : i64, largest = true} : (tensor<3xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %0, %4#0, %4#1 : tensor<3xf32>, tensor<2xf32>, tensor<2xi32>
}
