// Checks of what probes have seen, run by run, in loops, in loops inside loops and in branches.
// RUN: hlo-run --platform=interpreter %s
func.func @straight() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %1 = interpreter.probe %0, probe_id = "a/b" : tensor<2xi64>
  %2 = stablehlo.add %1, %1 : tensor<2xi64>
  %3 = interpreter.probe %2, probe_id = "seen by none" : tensor<2xi64>
  check.expect_serialized_eq %0, probe_id = "a/b" : tensor<2xi64>
  func.return
}

// -----
func.func @loops() {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %two = stablehlo.constant dense<2> : tensor<i64>
  %r:2 = stablehlo.while(%i = %zero, %s = %zero) : tensor<i64>, tensor<i64>
  cond {
    %c = stablehlo.compare LT, %i, %two : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %q:2 = stablehlo.while(%k = %zero, %t = %s) : tensor<i64>, tensor<i64>
    cond {
      %c = stablehlo.compare LT, %k, %two : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %u = stablehlo.add %t, %one : tensor<i64>
      %v = interpreter.probe %u, probe_id = "inner" : tensor<i64>
      %l = stablehlo.add %k, %one : tensor<i64>
      stablehlo.return %l, %v : tensor<i64>, tensor<i64>
    }
    %line = stablehlo.broadcast_in_dim %q#1, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %m = interpreter.probe %line, probe_id = "outer" : tensor<3xi64>
    %j = stablehlo.add %i, %one : tensor<i64>
    stablehlo.return %j, %q#1 : tensor<i64>, tensor<i64>
  }
  %three = stablehlo.constant dense<3> : tensor<i64>
  %four = stablehlo.constant dense<4> : tensor<3xi64>
  check.expect_eq_const %r#1, dense<4> : tensor<i64>
  check.expect_serialized_eq %one, probe_id = "inner", iter = 0 : tensor<i64>
  check.expect_serialized_eq %three, probe_id = "inner", iter = 2 : tensor<i64>
  check.expect_serialized_eq %four, probe_id = "outer", iter = 1 : tensor<3xi64>
  func.return
}

// -----
func.func @branches() {
  %x = stablehlo.constant dense<3> : tensor<i64>
  %two = stablehlo.constant dense<2> : tensor<i64>
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %r:2 = stablehlo.while(%i = %zero, %s = %zero) : tensor<i64>, tensor<i64>
  cond {
    %c = stablehlo.compare LT, %i, %two : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %p = stablehlo.compare EQ, %i, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %t = "stablehlo.if"(%p) ({
      %u = interpreter.probe %x, probe_id = "either" : tensor<i64>
      stablehlo.return %u : tensor<i64>
    }, {
      %v = stablehlo.add %s, %x : tensor<i64>
      %u = interpreter.probe %v, probe_id = "either" : tensor<i64>
      %w = interpreter.probe %i, probe_id = "second" : tensor<i64>
      stablehlo.return %u : tensor<i64>
    }) : (tensor<i1>) -> tensor<i64>
    %j = stablehlo.add %i, %one : tensor<i64>
    stablehlo.return %j, %t : tensor<i64>, tensor<i64>
  }
  %six = stablehlo.constant dense<6> : tensor<i64>
  check.expect_eq %r#1, %six : tensor<i64>
  check.expect_serialized_eq %x, probe_id = "either", iter = 0 : tensor<i64>
  check.expect_serialized_eq %six, probe_id = "either", iter = 1 : tensor<i64>
  check.expect_serialized_eq %one, probe_id = "second" : tensor<i64>
  func.return
}
// CHECK: == straight
// CHECK: == loops
// CHECK: 1 run
// CHECK: == branches
// CHECK: 1 run
