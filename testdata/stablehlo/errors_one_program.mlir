// RUN: not hlo-cost %s
func.func @a() { return }
func.func @b() { return }
// CHECK: error: this file has 2 programs (a, b); hlo-run and hlo-opt take all, here it has to be one
