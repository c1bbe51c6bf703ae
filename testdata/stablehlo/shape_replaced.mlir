// A conversion was dropped now and then: its shape was looked at through a reference to one that had just been replaced (seen by valgrind each time).
// RUN: hlo-opt %s
func.func @main(%b: tensor<3xi32>) -> tensor<3xf64> {
  %a = stablehlo.convert %b : (tensor<3xi32>) -> tensor<3xf64>
  %r = stablehlo.add %a, %a : tensor<3xf64>
  return %r : tensor<3xf64>
}
// CHECK: %convert = f64[3]{0} convert(%Arg_0)
// CHECK: ROOT %add = f64[3]{0} add(%convert, %convert)
