// Transfers keep what users say of them and the pairs of devices that they name; an infeed its layouts; an outfeed is
// of a tuple; operands of a collective go through a tuple, all as in XLA's conversion. A dot of tf32 in three products.
// RUN: hlo-opt %s
// CHECK: %[[ALL:[a-z.0-9]+]] = (f32[2,2]{1,0}, s32[4]{0}) tuple(
// CHECK: %[[ONE:[a-z.0-9-]+]] = f32[2,2]{1,0} get-tuple-element(%[[ALL]]), index=0
// CHECK: all-gather(%[[ONE]],
// CHECK: algorithm=dot_tf32_tf32_f32_x3
// CHECK: send({{.*}}), channel_id=6, frontend_attributes={_xla_send_recv_source_target_pairs={{.*0,0.*}},a="b"}
// CHECK: send-done({{.*}}), channel_id=6, frontend_attributes={_xla_send_recv_source_target_pairs={{.*0,0.*}},a="b"}
// CHECK: recv({{.*}}), channel_id=7, is_host_transfer=true, frontend_attributes={rendezvous="r"}
// CHECK: recv-done({{.*}}), channel_id=7, is_host_transfer=true, frontend_attributes={rendezvous="r"}
// CHECK: ((f32[4,2]{0,1}, s32[]), token[]) infeed({{.*}}), infeed_config="x"
// CHECK: outfeed({{.*}}), outfeed_shape=(f32[2,2]{1,0})
module @transfers {
  func.func @main(%m: tensor<2x2xf32>, %n: tensor<4xi32>, %t: !stablehlo.token) -> (tensor<4x2xf32>, tensor<4xf32>, tensor<2x2xf32>, tensor<4xi32>, tensor<2x2xf32>, !stablehlo.token) {
    %0:2 = "stablehlo.all_gather"(%m, %n) <{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<2x2xf32>, tensor<4xi32>) -> (tensor<2x2xf32>, tensor<4xi32>)
    %1 = stablehlo.dot_general %m, %0#0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %2 = "stablehlo.send"(%1, %t) <{channel_handle = #stablehlo.channel_handle<handle = 6, type = 1>, source_target_pairs = dense<0> : tensor<1x2xi64>}> {mhlo.frontend_attributes = {a = "b"}} : (tensor<2x2xf32>, !stablehlo.token) -> !stablehlo.token
    %3:2 = "stablehlo.recv"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 7, type = 3>, is_host_transfer = true}> {mhlo.frontend_attributes = {rendezvous = "r"}} : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
    %4:3 = "stablehlo.infeed"(%3#1) <{infeed_config = "x", layout = [[0, 1], []]}> : (!stablehlo.token) -> (tensor<4x2xf32>, tensor<i32>, !stablehlo.token)
    %5 = "stablehlo.outfeed"(%1, %4#2) : (tensor<2x2xf32>, !stablehlo.token) -> !stablehlo.token
    %6 = "stablehlo.cross-replica-sum"(%m) <{replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %7 = stablehlo.einsum %6, %m, config = "ab,bc->ac" : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %8 = stablehlo.unary_einsum %7, config = "ab->b" : (tensor<2x2xf32>) -> tensor<2xf32>
    return %4#0, %3#0, %1, %0#1, %7, %5 : tensor<4x2xf32>, tensor<4xf32>, tensor<2x2xf32>, tensor<4xi32>, tensor<2x2xf32>, !stablehlo.token
  }
}
