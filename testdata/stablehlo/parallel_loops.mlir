// Collectives in loops and branches of programs that run side by side, which go through them in step;
// the values are worked out by hand (StableHLO's reference interpreter races here).
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: s64[2] {1, 2}      INPUT: s64[2] {3, 4}
// EXPECT: (s64[2], s64[2], s64[4]) ({29, 44}, {13, 20}, {1, 2, 3, 4})
func.func @sum(%x: tensor<2xi64>) -> tensor<2xi64> {
  %0 = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %1 = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %1 : tensor<i64>
  }) {replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
// Pairs of programs make different numbers of steps.
func.func @loop(%x: tensor<2xi64>, %n: tensor<i64>) -> (tensor<i64>, tensor<2xi64>) {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i64>, tensor<2xi64>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i64>
    %s = func.call @sum(%v) : (tensor<2xi64>) -> tensor<2xi64>
    %w = stablehlo.add %s, %x : tensor<2xi64>
    stablehlo.return %j, %w : tensor<i64>, tensor<2xi64>
  }
  return %r#0, %r#1 : tensor<i64>, tensor<2xi64>
}
// The condition meets too: all go on until the largest value of both is reached.
func.func @agreed(%x: tensor<i64>) -> tensor<i64> {
  %limit = stablehlo.constant dense<40> : tensor<i64>
  %two = stablehlo.constant dense<2> : tensor<i64>
  %r = stablehlo.while(%v = %x) : tensor<i64>
  cond {
    %m = "stablehlo.all_reduce"(%v) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %1 = stablehlo.maximum %a, %b : tensor<i64>
      stablehlo.return %1 : tensor<i64>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<i64>) -> tensor<i64>
    %p = stablehlo.compare LT, %m, %limit : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %w = stablehlo.multiply %v, %two : tensor<i64>
    stablehlo.return %w : tensor<i64>
  }
  return %r : tensor<i64>
}
// A branch that the process's own number chooses: one sends what the other takes.
func.func @exchange(%x: tensor<2xi64>) -> tensor<2xi64> {
  %id = stablehlo.replica_id : tensor<ui32>
  %zero = stablehlo.constant dense<0> : tensor<ui32>
  %first = stablehlo.compare EQ, %id, %zero : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  %token = stablehlo.after_all : !stablehlo.token
  %0 = "stablehlo.if"(%first) ({
    %t = "stablehlo.send"(%x, %token) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
    stablehlo.return %x : tensor<2xi64>
  }, {
    %r:2 = "stablehlo.recv"(%token) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
    %s = stablehlo.add %r#0, %x : tensor<2xi64>
    stablehlo.return %s : tensor<2xi64>
  }) : (tensor<i1>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
// Branches that only the values choose, with loops in them.
func.func @chosen(%x: tensor<2xi64>, %k: tensor<i32>, %n: tensor<i64>) -> tensor<2xi64> {
  %0 = "stablehlo.case"(%k) ({
    %s:2 = func.call @loop(%x, %n) : (tensor<2xi64>, tensor<i64>) -> (tensor<i64>, tensor<2xi64>)
    stablehlo.return %s#1 : tensor<2xi64>
  }, {
    %g = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
    stablehlo.return %g : tensor<2xi64>
  }, {
    stablehlo.return %x : tensor<2xi64>
  }) : (tensor<i32>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
// A value handed on from step to step.
func.func @passed_on(%x: tensor<2xi64>) -> tensor<4xi64> {
  %n = stablehlo.constant dense<2> : tensor<i64>
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %none = stablehlo.constant dense<0> : tensor<4xi64>
  %size = stablehlo.constant dense<2> : tensor<i64>
  %id = stablehlo.replica_id : tensor<ui32>
  %r:3 = stablehlo.while(%i = %zero, %v = %x, %all = %none) : tensor<i64>, tensor<2xi64>, tensor<4xi64>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %own = stablehlo.convert %id : (tensor<ui32>) -> tensor<i64>
    %from = stablehlo.add %own, %i : tensor<i64>
    %at = stablehlo.remainder %from, %size : tensor<i64>
    %place = stablehlo.multiply %at, %size : tensor<i64>
    %next = stablehlo.dynamic_update_slice %all, %v, %place : (tensor<4xi64>, tensor<2xi64>, tensor<i64>) -> tensor<4xi64>
    %got = "stablehlo.collective_permute"(%v) {source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>} : (tensor<2xi64>) -> tensor<2xi64>
    %j = stablehlo.add %i, %one : tensor<i64>
    stablehlo.return %j, %got, %next : tensor<i64>, tensor<2xi64>, tensor<4xi64>
  }
  return %r#2 : tensor<4xi64>
}
func.func @main(%a: tensor<2xi64>, %b: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>, tensor<4xi64>) {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %two = stablehlo.constant dense<2> : tensor<i64>
  %three = stablehlo.constant dense<3> : tensor<i64>
  %branch = stablehlo.constant dense<0> : tensor<i32>
  %0:8 = "interpreter.run_parallel"(%a, %three, %b, %three, %a, %two, %b, %two) {programs = [[@loop], [@loop], [@loop], [@loop]]} : (tensor<2xi64>, tensor<i64>, tensor<2xi64>, tensor<i64>, tensor<2xi64>, tensor<i64>, tensor<2xi64>, tensor<i64>) -> (tensor<i64>, tensor<2xi64>, tensor<i64>, tensor<2xi64>, tensor<i64>, tensor<2xi64>, tensor<i64>, tensor<2xi64>)
  check.expect_eq_const %0#0, dense<3> : tensor<i64>
  check.expect_eq_const %0#4, dense<2> : tensor<i64>
  %1:2 = "interpreter.run_parallel"(%two, %three) {programs = [[@agreed], [@agreed]]} : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
  check.expect_eq_const %1#0, dense<32> : tensor<i64>
  check.expect_eq_const %1#1, dense<48> : tensor<i64>
  %2:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@exchange], [@exchange]]} : (tensor<2xi64>, tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>)
  %3 = stablehlo.add %a, %b : tensor<2xi64>
  check.expect_eq %2#1, %3 : tensor<2xi64>
  %k = stablehlo.reduce(%a init: %zero) applies stablehlo.minimum across dimensions = [0] : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
  %kk = stablehlo.convert %k : (tensor<i64>) -> tensor<i32>
  %4:4 = "interpreter.run_parallel"(%a, %kk, %three, %b, %kk, %three, %a, %kk, %two, %b, %kk, %two) {programs = [[@chosen], [@chosen], [@chosen], [@chosen]]} : (tensor<2xi64>, tensor<i32>, tensor<i64>, tensor<2xi64>, tensor<i32>, tensor<i64>, tensor<2xi64>, tensor<i32>, tensor<i64>, tensor<2xi64>, tensor<i32>, tensor<i64>) -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
  check.expect_eq %4#0, %0#1 : tensor<2xi64>
  check.expect_eq %4#3, %0#7 : tensor<2xi64>
  %5:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@passed_on], [@passed_on]]} : (tensor<2xi64>, tensor<2xi64>) -> (tensor<4xi64>, tensor<4xi64>)
  check.expect_eq %5#0, %5#1 : tensor<4xi64>
  return %0#1, %0#5, %5#0 : tensor<2xi64>, tensor<2xi64>, tensor<4xi64>
}
