// RUN: hlo-opt %s
// Lines past 32 bits with a sign, which MLIR has and HLO has not, are 0.
func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32> loc("a.py":4294967295:7)
  return %0 : tensor<2xf32>
}
// CHECK: line=0 end_line=0 column=7
