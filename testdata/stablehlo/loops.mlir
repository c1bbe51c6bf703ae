// A while loop with a value that stays and one from outside, a case, an if, a call.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: f32[3] {1, 2, 3}      INPUT: s32[] 2
// EXPECT: f32[3] {17, 34, 51}
#loc = loc(unknown)
module @loops attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<3xf32> loc("x"), %n: tensor<i32>) -> (tensor<3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %zero = stablehlo.constant dense<0.0> : tensor<3xf32>
    %0:3 = stablehlo.while(%a = %x, %i = %c, %s = %zero) : tensor<3xf32>, tensor<i32>, tensor<3xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.add %i, %one : tensor<i32>
      %2 = func.call @twice(%a) : (tensor<3xf32>) -> tensor<3xf32>
      %3 = stablehlo.add %s, %2 : tensor<3xf32> loc(#loc)
      stablehlo.return %a, %1, %3 : tensor<3xf32>, tensor<i32>, tensor<3xf32>
    }
    %4:2 = "stablehlo.case"(%n) ({
      stablehlo.return %x, %0#2 : tensor<3xf32>, tensor<3xf32>
    }, {
      stablehlo.return %0#2, %x : tensor<3xf32>, tensor<3xf32>
    }, {
      %5 = stablehlo.add %x, %0#2 : tensor<3xf32>
      stablehlo.return %5, %0#2 : tensor<3xf32>, tensor<3xf32>
    }) : (tensor<i32>) -> (tensor<3xf32>, tensor<3xf32>)
    %6 = stablehlo.compare GT, %0#1, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = "stablehlo.if"(%6) ({
      %8 = stablehlo.multiply %4#1, %4#1 : tensor<3xf32>
      %9 = stablehlo.divide %8, %x : tensor<3xf32>
      stablehlo.return %9 : tensor<3xf32>
    }, {
      stablehlo.return %x : tensor<3xf32>
    }) : (tensor<i1>) -> tensor<3xf32>
    %10 = stablehlo.add %7, %4#0 : tensor<3xf32>
    %11 = stablehlo.subtract %10, %0#2 : tensor<3xf32>
    return %11 : tensor<3xf32>
  } loc(#loc)
  func.func private @twice(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.add %x, %x : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
