#!/usr/bin/env python3
"""Writes testdata/ptxsim/forms.txt: every form of an instruction that NVIDIA's ptxas takes, out of the templates below.

    ptx_forms.py [--ptxas PATH] [--output FILE]

A template is an instruction whose alternatives stand in <a|b>; `<.ftz|>` is optional. `d`, `a`, `b`, ... are registers: h 16, w 32, q 64,
x 128 bits, c 8 bits, p a predicate; a digit after the letter tells registers of one kind apart. ptxas, which reports each wrong line of a
file, throws out the combinations that are none. Each form is written with the first target of TARGETS that knows it. The simulator's test
(ptxsim/forms_test.cc) decodes each form; docs/ptxsim.md counts them by instruction.
"""
import argparse, itertools, pathlib, re, subprocess, tempfile

TARGETS = ("sm_90a", "sm_100a", "sm_120a")
R = "<.rn|.rz|.rm|.rp|>"
CMP = "<.eq|.ne|.lt|.le|.gt|.ge|.lo|.ls|.hi|.hs|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan>"
SCOPE = "<.cta|.cluster|.gpu|.sys>"
ORDER = f"<.weak|.relaxed{SCOPE}|.acquire{SCOPE}|.volatile|.mmio.relaxed.sys|>"
TEMPLATES = """
add<.u16|.s16> h0,h1,h2
add<.u32|.s32|.sat.s32|.u16x2|.s16x2> w0,w1,w2
add<.u64|.s64> q0,q1,q2
sub<.u16|.s16> h0,h1,h2
sub<.u32|.s32|.sat.s32> w0,w1,w2
sub<.u64|.s64> q0,q1,q2
<add|sub|addc|subc><.cc|><.u32|.s32> w0,w1,w2
<add|sub|addc|subc><.cc|><.u64|.s64> q0,q1,q2
mul<.lo|.hi><.u16|.s16> h0,h1,h2
mul<.lo|.hi><.u32|.s32> w0,w1,w2
mul<.lo|.hi><.u64|.s64> q0,q1,q2
mul.wide<.u16|.s16> w0,h1,h2
mul.wide<.u32|.s32> q0,w1,w2
mad<.lo|.hi><.u16|.s16> h0,h1,h2,h3
mad<.lo|.hi><.u32|.s32> w0,w1,w2,w3
mad.hi.sat.s32 w0,w1,w2,w3
mad<.lo|.hi><.u64|.s64> q0,q1,q2,q3
mad.wide<.u16|.s16> w0,h1,h2,w3
mad.wide<.u32|.s32> q0,w1,w2,q3
<mad|madc><.lo|.hi><.cc|><.u32|.s32> w0,w1,w2,w3
<mad|madc><.lo|.hi><.cc|><.u64|.s64> q0,q1,q2,q3
mul24<.lo|.hi><.u32|.s32> w0,w1,w2
mad24<.lo|.hi><.u32|.s32> w0,w1,w2,w3
mad24.hi.sat.s32 w0,w1,w2,w3
sad<.u16|.s16> h0,h1,h2,h3
sad<.u32|.s32> w0,w1,w2,w3
sad<.u64|.s64> q0,q1,q2,q3
<div|rem><.u16|.s16> h0,h1,h2
<div|rem><.u32|.s32> w0,w1,w2
<div|rem><.u64|.s64> q0,q1,q2
<abs|neg>.s16 h0,h1
<abs|neg>.s32 w0,w1
<abs|neg>.s64 q0,q1
<min|max><.u16|.s16> h0,h1,h2
<min|max><.relu|><.u32|.s32|.u16x2|.s16x2> w0,w1,w2
<min|max><.u64|.s64> q0,q1,q2
<popc|clz>.b32 w0,w1
<popc|clz>.b64 w0,q1
bfind<.shiftamt|><.u32|.s32> w0,w1
bfind<.shiftamt|><.u64|.s64> w0,q1
fns.b32 w0,w1,w2,w3
brev.b32 w0,w1
brev.b64 q0,q1
bfe<.u32|.s32> w0,w1,w2,w3
bfe<.u64|.s64> q0,q1,w2,w3
bfi.b32 w0,w1,w2,w3,w4
bfi.b64 q0,q1,q2,w3,w4
szext<.clamp|.wrap><.u32|.s32> w0,w1,w2
bmsk<.clamp|.wrap>.b32 w0,w1,w2
dp4a<.u32|.s32><.u32|.s32> w0,w1,w2,w3
dp2a<.lo|.hi><.u32|.s32><.u32|.s32> w0,w1,w2,w3
testp<.finite|.infinite|.number|.notanumber|.normal|.subnormal>.f32 p0,w1
testp<.finite|.infinite|.number|.notanumber|.normal|.subnormal>.f64 p0,q1
copysign.f32 w0,w1,w2
copysign.f64 q0,q1,q2
<add|sub|mul>R<.ftz|><.sat|>.f32 w0,w1,w2
<add|sub|mul>R.f64 q0,q1,q2
<add|sub|mul>R<.ftz|>.f32x2 q0,q1,q2
fmaR<.ftz|><.sat|>.f32 w0,w1,w2,w3
fmaR<.ftz|>.f32x2 q0,q1,q2,q3
fmaR.f64 q0,q1,q2,q3
madR<.ftz|><.sat|>.f32 w0,w1,w2,w3
madR.f64 q0,q1,q2,q3
<add|sub>R<.sat|>.f32<.f16|.bf16> w0,h1,w2
fmaR<.sat|>.f32<.f16|.bf16> w0,h1,h2,w3
div<.approx|.full><.ftz|>.f32 w0,w1,w2
divR<.ftz|>.f32 w0,w1,w2
divR.f64 q0,q1,q2
<abs|neg><.ftz|>.f32 w0,w1
<abs|neg>.f64 q0,q1
<min|max><.ftz|><.NaN|><.xorsign.abs|>.f32 w0,w1,w2
<min|max><.ftz|><.NaN|><.abs|>.f32 w0,w1,w2,w3
<min|max>.f64 q0,q1,q2
rcp<.approx|.rn|.rz|.rm|.rp><.ftz|>.f32 w0,w1
rcp<.approx.ftz|.rn|.rz|.rm|.rp>.f64 q0,q1
sqrt<.approx|.rn|.rz|.rm|.rp><.ftz|>.f32 w0,w1
sqrt<.rn|.rz|.rm|.rp>.f64 q0,q1
rsqrt.approx<.ftz|>.f32 w0,w1
rsqrt.approx<.ftz|>.f64 q0,q1
<sin|cos|lg2|ex2>.approx<.ftz|>.f32 w0,w1
tanh.approx.f32 w0,w1
<add|sub|mul><.rn|><.ftz|><.sat|>.f16 h0,h1,h2
<add|sub|mul><.rn|><.ftz|><.sat|>.f16x2 w0,w1,w2
<add|sub|mul><.rn|>.bf16 h0,h1,h2
<add|sub|mul><.rn|>.bf16x2 w0,w1,w2
fma.rn<.ftz|><.sat|.relu|>.f16 h0,h1,h2,h3
fma.rn<.ftz|><.sat|.relu|>.f16x2 w0,w1,w2,w3
fma.rn<.relu|>.bf16 h0,h1,h2,h3
fma.rn<.relu|>.bf16x2 w0,w1,w2,w3
fma.rn.oob<.relu|><.f16|.bf16> h0,h1,h2,h3
fma.rn.oob<.relu|><.f16x2|.bf16x2> w0,w1,w2,w3
<neg|abs><.ftz|><.f16|.bf16> h0,h1
<neg|abs><.ftz|><.f16x2|.bf16x2> w0,w1
<min|max><.ftz|><.NaN|><.xorsign.abs|><.f16|.bf16> h0,h1,h2
<min|max><.ftz|><.NaN|><.xorsign.abs|><.f16x2|.bf16x2> w0,w1,w2
tanh.approx<.f16|.bf16> h0,h1
tanh.approx<.f16x2|.bf16x2> w0,w1
ex2.approx<.ftz|><.f16|.bf16> h0,h1
ex2.approx<.ftz|><.f16x2|.bf16x2> w0,w1
setCMP<.ftz|><.u32|.s32|.f32><.b32|.u32|.s32|.f32> w0,w1,w2
setCMP<.u32|.s32|.f32><.b16|.u16|.s16|.f16|.bf16> w0,h1,h2
setCMP<.u32|.s32|.f32><.b64|.u64|.s64|.f64> w0,q1,q2
set<.lt|.num><.and|.or|.xor><.u32|.f32><.s32|.f32> w0,w1,w2,!p3
setCMP<.ftz|><.f16|.u16|.s16>.f16 h0,h1,h2
setCMP<.ftz|>.f16x2.f16x2 w0,w1,w2
setCMP<.bf16|.u16|.s16>.bf16 h0,h1,h2
setCMP.bf16x2.bf16x2 w0,w1,w2
setpCMP<.ftz|><.b32|.u32|.s32|.f32> p0,w1,w2
setpCMP<.b16|.u16|.s16|.f16|.bf16> p0,h1,h2
setpCMP<.b64|.u64|.s64|.f64> p0|p1,q1,q2
setpCMP<.f16x2|.bf16x2> p0|p1,w1,w2
setp<.lt|.equ><.and|.or|.xor><.s32|.f32> p0|p1,w1,w2,!p3
setp.lt<.and|.or|.xor><.ftz|>.f16x2 p0|p1,w1,w2,p3
selp<.b16|.u16|.s16> h0,h1,h2,p3
selp<.b32|.u32|.s32|.f32> w0,w1,w2,p3
selp<.b64|.u64|.s64|.f64> q0,q1,q2,p3
slct<.b16|.u16|.s16>.s32 h0,h1,h2,w3
slct<.b32|.u32|.s32|.f32>.s32 w0,w1,w2,w3
slct<.b64|.u64|.s64|.f64>.s32 q0,q1,q2,w3
slct<.ftz|><.b16|.u16|.s16>.f32 h0,h1,h2,w3
slct<.ftz|><.b32|.u32|.s32|.f32>.f32 w0,w1,w2,w3
slct<.ftz|><.b64|.u64|.s64|.f64>.f32 q0,q1,q2,w3
<and|or|xor>.pred p0,p1,p2
<and|or|xor>.b16 h0,h1,h2
<and|or|xor>.b32 w0,w1,w2
<and|or|xor>.b64 q0,q1,q2
not.pred p0,p1
<not|cnot>.b16 h0,h1
<not|cnot>.b32 w0,w1
<not|cnot>.b64 q0,q1
lop3.b32 w0,w1,w2,w3,0x96
lop3<.or|.and>.b32 w0|p0,w1,w2,w3,0x96,p1
shf<.l|.r><.clamp|.wrap>.b32 w0,w1,w2,w3
shl.b16 h0,h1,w2
shl.b32 w0,w1,w2
shl.b64 q0,q1,w2
shr<.b16|.u16|.s16> h0,h1,w2
shr<.b32|.u32|.s32> w0,w1,w2
shr<.b64|.u64|.s64> q0,q1,w2
mov<.b16|.u16|.s16> h0,h1
mov<.b32|.u32|.s32|.f32> w0,w1
mov<.b64|.u64|.s64|.f64> q0,q1
mov.pred p0,p1
mov.b16 {c0,c1},h1
mov.b16 h0,{c0,c1}
mov.b32 {h0,h1},w1
mov.b32 w0,{h0,h1}
mov.b32 {c0,c1,c2,c3},w1
mov.b32 w0,{c0,c1,c2,c3}
mov.b64 {w0,w1},q1
mov.b64 {h0,h1,h2,h3},q1
mov.b64 q0,{h0,h1,h2,h3}
mov.b128 {q0,q1},x1
mov.b128 x0,{q0,q1}
prmt.b32<.f4e|.b4e|.rc8|.ecl|.ecr|.rc16|> w0,w1,w2,w3
<ld|ldu>.global.b8 h0,[q1]
ldORDER<.global|.shared|.shared::cta|.shared::cluster|.local|.const|><.u8|.s8|.b8> h0,[q1]
ldORDER<.global|.shared|.local|.const|><.u16|.b16|.s16> h0,[q1]
ldORDER<.global|.shared|.local|.const|><.v2|.v4|.v8><.b32|.f32> {w0,w1,w2,w3,w4,w5,w6,w7},[q1]
ldORDER<.global|.shared|.local|.const|><.v2|.v4><.b64|.f64> {q0,q2,q3,q4},[q1]
ldORDER<.global|.shared|.local|.const|><.u32|.s32|.f32> w0,[q1]
ldORDER<.global|.shared|.local|.const|><.u64|.s64|.f64> q0,[q1]
ldORDER<.global|.shared|.local|.const|>.b128 x0,[q1]
ld<.param|.param::entry|.param::func>.b32 w0,[pin]
ld.global<.ca|.cg|.cs|.lu|.cv>.b32 w0,[q1]
ld.global<.ca|.cg|.cs|>.nc<.L1::no_allocate|.L1::evict_first|.L1::evict_last|.L1::evict_unchanged|.L1::evict_normal|><.L2::64B|.L2::128B|.L2::256B|>.b32 w0,[q1]
ld.global<.L1::no_allocate|.L1::evict_first|.L1::evict_last|><.L2::evict_last|.L2::evict_first|.L2::evict_normal|>.L2::cache_hint.b32 w0,[q1],q2
ld.global<.nc|><.L2::evict_last|.L2::evict_first>.v4.b64 {q0,q2,q3,q4},[q1]
ldu.global<.b32|.f32|.u32> w0,[q1]
ldu.global.v4.f32 {w0,w1,w2,w3},[q1]
st<.weak|.relaxedSCOPE|.releaseSCOPE|.volatile|.mmio.relaxed.sys|><.global|.shared|.shared::cta|.shared::cluster|.local|><.b8|.u8|.s8> [q1],h0
st<.weak|.relaxedSCOPE|.releaseSCOPE|.volatile|><.global|.shared|.local|><.b32|.f32|.u32> [q1],w0
st<.weak|.relaxedSCOPE|.volatile|><.global|.shared|.local|><.v2|.v4|.v8><.b32|.f32> [q1],{w0,w1,w2,w3,w4,w5,w6,w7}
st<.weak|.relaxed.gpu|><.global|.shared|.local|><.v2|.v4><.b64|.f64> [q1],{q0,q2,q3,q4}
st<.weak|.relaxed.gpu|><.global|.shared|.local|>.b128 [q1],x0
st.global<.wb|.cg|.cs|.wt>.b32 [q1],w0
st.global<.L1::no_allocate|.L1::evict_first|.L1::evict_last|><.L2::evict_last|.L2::evict_first|>.b32 [q1],w0
st.global.L2::cache_hint.b32 [q1],w0,q2
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes<.b32|.u32|.s32|.f32> [w1],w0,[w2]
st.async<.weak|>.shared::cluster.mbarrier::complete_tx::bytes<.b64|.u64|.s64|.f64> [w1],q0,[w2]
st.async<.weak|>.shared::cluster.mbarrier::complete_tx::bytes<.v2|.v4><.b32|.f32> [w1],{w0,w3,w4,w5},[w2]
st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [w1],{q0,q1},[w2]
st.async<.mmio|>.release<.gpu|.sys>.global<.b32|.u32> [q1],w0
st.bulk<.weak|>.shared::cta [w0],q1,0
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes<.inc|.dec|.min|.max|.add><.u32|.s32> [w1],w0,[w2]
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes<.and|.or|.xor>.b32 [w1],w0,[w2]
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [w1],q0,[w2]
prefetch<.global|.local|><.L1|.L2> [q1]
prefetch<.const|.param|>.tensormap [q1]
prefetch.global<.L2::evict_last|.L2::evict_normal> [q1]
prefetchu.L1 [q1]
applypriority<.global|>.L2::evict_normal [q1],128
discard<.global|>.L2 [q1],128
createpolicy.fractional<.L2::evict_last|.L2::evict_normal|.L2::evict_first|.L2::evict_unchanged>.b64 q0,1.0
createpolicy.fractional<.L2::evict_last|.L2::evict_first><.L2::evict_first|.L2::evict_unchanged>.b64 q0,0.5
createpolicy.range<.global|><.L2::evict_last|.L2::evict_first><.L2::evict_first|.L2::evict_unchanged|>.b64 q0,[q1],0x1000,0x2000
createpolicy.cvt.L2.b64 q0,0x10000000
isspacep<.const|.global|.local|.shared|.shared::cta|.shared::cluster|.param|.param::entry> p0,q1
cvta<.const|.global|.local|.shared|.shared::cta|.shared::cluster|.param|.param::entry>.u64 q0,q1
cvta.to<.const|.global|.local|.shared|.shared::cta|.shared::cluster|.param|.param::entry>.u64 q0,q1
mapa<.shared::cluster|>.u32 w0,w1,w2
mapa<.shared::cluster|>.u64 q0,q1,w2
getctarank<.shared::cluster|>.u32 w0,w1
getctarank<.shared::cluster|>.u64 w0,q1
cvt<.rni|.rzi|.rmi|.rpi><.ftz|><.sat|><.u8|.s8|.u16|.s16>.f32 h0,w1
cvt<.rni|.rzi|.rmi|.rpi><.ftz|><.sat|><.u32|.s32|.f32>.f32 w0,w1
cvt<.rni|.rzi|.rmi|.rpi><.ftz|><.u64|.s64>.f32 q0,w1
cvt<.rni|.rzi|.rmi|.rpi><.sat|><.u32|.s32>.f64 w0,q1
cvt<.rni|.rzi|.rmi|.rpi><.u64|.s64|.f64>.f64 q0,q1
cvt<.rni|.rzi|.rmi|.rpi><.ftz|><.u32|.s32>.f16 w0,h1
cvt<.rni|.rzi|.rmi|.rpi><.u16|.s16|.u8|.s8|.f16>.f16 h0,h1
cvt<.rni|.rzi|.rmi|.rpi><.u64|.s64>.f16 q0,h1
cvt<.rni|.rzi|.rmi|.rpi><.u16|.s16|.u8|.s8|.bf16>.bf16 h0,h1
cvt<.rni|.rzi|.rmi|.rpi><.u32|.s32>.bf16 w0,h1
cvt<.rn|.rz|.rm|.rp><.sat|>.f32<.u8|.s8|.u16|.s16> w0,h1
cvt<.rn|.rz|.rm|.rp><.sat|>.f32<.u32|.s32> w0,w1
cvt<.rn|.rz|.rm|.rp>.f32<.u64|.s64> w0,q1
cvt<.rn|.rz|.rm|.rp>.f64<.u16|.s16> q0,h1
cvt<.rn|.rz|.rm|.rp>.f64<.u32|.s32> q0,w1
cvt<.rn|.rz|.rm|.rp>.f64<.u64|.s64> q0,q1
cvt<.rn|.rz|.rm|.rp><.f16|.bf16><.u8|.s8|.u16|.s16> h0,h1
cvt<.rn|.rz|.rm|.rp><.f16|.bf16><.u32|.s32> h0,w1
cvt<.rn|.rz|.rm|.rp><.f16|.bf16><.u64|.s64> h0,q1
cvt<.sat|><.u8|.s8|.u16|.s16><.u8|.s8|.u16|.s16> h0,h1
cvt<.sat|><.u8|.s8|.u16|.s16><.u32|.s32> h0,w1
cvt<.sat|><.u8|.s8|.u16|.s16><.u64|.s64> h0,q1
cvt<.sat|><.u32|.s32><.u8|.s8|.u16|.s16> w0,h1
cvt<.sat|><.u32|.s32><.u32|.s32> w0,w1
cvt<.sat|><.u32|.s32><.u64|.s64> w0,q1
cvt<.sat|><.u64|.s64><.u8|.s8|.u16|.s16> q0,h1
cvt<.sat|><.u64|.s64><.u32|.s32> q0,w1
cvt<.sat|><.u64|.s64><.u64|.s64> q0,q1
cvt<.ftz|><.sat|>.f32<.f16|.bf16> w0,h1
cvt.f64<.f16|.bf16> q0,h1
cvt<.ftz|><.sat|>.f64.f32 q0,w1
cvt<.ftz|><.sat|>.f32.f32 w0,w1
cvtR<.ftz|><.sat|>.f32.f64 w0,q1
cvtR<.ftz|><.sat|><.f16|.bf16>.f32 h0,w1
cvtR<.sat|><.f16|.bf16>.f64 h0,q1
cvt<.rn|.rz|.rm|.rp|><.sat|>.f16<.f16|.bf16> h0,h1
cvt<.rn|.rz|.rm|.rp|><.sat|>.bf16<.f16|.bf16> h0,h1
cvt<.rn|.rz><.relu|><.satfinite|><.f16|.bf16>.f32 h0,w1
cvt<.rn|.rz><.relu|><.satfinite|><.f16x2|.bf16x2>.f32 w0,w1,w2
cvt.rs<.relu|><.satfinite|><.f16x2|.bf16x2>.f32 w0,w1,w2,w3
cvt<.rna|.rn|.rz><.relu|><.satfinite|>.tf32.f32 w0,w1
cvt.rn.satfinite<.relu|><.e4m3x2|.e5m2x2>.f32 h0,w1,w2
cvt.rn.satfinite<.relu|><.e4m3x2|.e5m2x2><.f16x2|.bf16x2> h0,w1
cvt.rn<.relu|>.f16x2<.e4m3x2|.e5m2x2|.e2m3x2|.e3m2x2> w0,h1
cvt.rn<.satfinite|><.relu|><.scaled::n2::ue8m0|>.bf16x2<.e4m3x2|.e5m2x2|.e2m3x2|.e3m2x2> w0,h1
cvt.rn<.satfinite|><.relu|>.scaled::n2::ue8m0.bf16x2<.e4m3x2|.e5m2x2|.e2m3x2|.e3m2x2> w0,h1,h2
cvt.rn.satfinite<.relu|><.e2m3x2|.e3m2x2>.f32 h0,w1,w2
cvt.rn.satfinite<.relu|><.e2m3x2|.e3m2x2><.f16x2|.bf16x2> h0,w1
cvt.rn.satfinite<.relu|>.e2m1x2.f32 c0,w1,w2
cvt.rn.satfinite<.relu|>.e2m1x2<.f16x2|.bf16x2> c0,w1
cvt.rn<.relu|>.f16x2.e2m1x2 w0,c1
cvt.rn<.satfinite|><.relu|>.bf16x2.e2m1x2 w0,c1
cvt.rs<.relu|>.satfinite<.e4m3x4|.e5m2x4|.e2m3x4|.e3m2x4>.f32 w0,{w1,w2,w3,w4},w5
cvt.rs<.relu|>.satfinite.e2m1x4.f32 h0,{w1,w2,w3,w4},w5
cvt<.rz|.rp><.satfinite|>.ue8m0x2.f32 h0,w1,w2
cvt<.rz|.rp><.satfinite|>.ue8m0x2.bf16x2 h0,w1
cvt.rn.bf16x2.ue8m0x2 w0,h1
cvt.rn.satfinite<.relu|>.s2f6x2.f32 h0,w1,w2
cvt.rn.satfinite<.relu|>.s2f6x2.bf16x2 h0,w1
cvt.rn<.satfinite|><.relu|>.bf16x2.s2f6x2 w0,h1
cvt.pack.sat<.u16|.s16>.s32 w0,w1,w2
cvt.pack.sat<.u2|.s2|.u4|.s4|.u8|.s8>.s32.b32 w0,w1,w2,w3
atom<.relaxedSCOPE|.acquire.gpu|.release.gpu|.acq_rel.cta|><.global|.shared|.shared::cluster|><.add|.min|.max|.exch><.u32> w0,[q1],w2
atom<.global|.shared|><.and|.or|.xor|.exch>.b32 w0,[q1],w2
atom<.global|.shared|><.and|.or|.xor|.exch>.b64 q0,[q1],q2
atom<.global|.shared|><.add|.min|.max|.inc|.dec><.u32|.s32> w0,[q1],w2
atom<.global|.shared|><.add|.min|.max><.u64|.s64> q0,[q1],q2
atom<.global|.shared|>.add.f32 w0,[q1],w2
atom<.global|.shared|>.add.f64 q0,[q1],q2
atom<.global|.shared|><.add|.min|.max>.noftz<.f16|.bf16> h0,[q1],h2
atom<.global|.shared|><.add|.min|.max>.noftz<.f16x2|.bf16x2> w0,[q1],w2
atom<.global|.shared|><.cas>.b16 h0,[q1],h2,h3
atom<.global|.shared|><.cas><.b32|.u32|.s32> w0,[q1],w2,w3
atom<.global|.shared|><.cas><.b64|.u64|.s64> q0,[q1],q2,q3
atom<.global|.shared|><.cas>.b128 x0,[q1],x2,x3
atom<.global|.shared|>.exch.b128 x0,[q1],x2
atom.global<.v2|.v4>.f32.add {w0,w1,w2,w3},[q1],{w4,w5,w6,w7}
atom.global.add<.v2.f32> {w0,w1},[q1],{w4,w5}
atom.global.add<.v4.f32> {w0,w1,w2,w3},[q1],{w4,w5,w6,w7}
atom.global<.add|.min|.max>.noftz<.v2.f16|.v2.bf16> {h0,h1},[q1],{h2,h3}
atom.global<.add|.min|.max>.noftz<.v4.f16x2|.v4.bf16x2> {w0,w1,w2,w3},[q1],{w4,w5,w6,w7}
atom.global.add.L2::cache_hint.u32 w0,[q1],w2,q3
red<.relaxedSCOPE|.release.gpu|><.global|.shared|><.add|.min|.max|.inc|.dec><.u32|.s32> [q1],w2
red<.global|.shared|><.and|.or|.xor>.b32 [q1],w2
red<.global|.shared|><.and|.or|.xor>.b64 [q1],q2
red<.global|.shared|><.add|.min|.max><.u64|.s64> [q1],q2
red<.global|.shared|>.add.f32 [q1],w2
red<.global|.shared|>.add.f64 [q1],q2
red<.global|.shared|><.add|.min|.max>.noftz<.f16|.bf16> [q1],h2
red<.global|.shared|><.add|.min|.max>.noftz<.f16x2|.bf16x2> [q1],w2
red.global.add<.v2.f32> [q1],{w4,w5}
red.global.add<.v4.f32> [q1],{w4,w5,w6,w7}
red.global<.add|.min|.max>.noftz<.v2.f16|.v2.bf16> [q1],{h2,h3}
red.global<.add|.min|.max>.noftz<.v4.f16x2|.v4.bf16x2> [q1],{w4,w5,w6,w7}
red.global.add.L2::cache_hint.u32 [q1],w2,q3
shfl.sync<.up|.down|.bfly|.idx>.b32 w0,w1,w2,w3,w4
shfl.sync<.up|.down|.bfly|.idx>.b32 w0|p0,w1,w2,w3,w4
vote.sync<.all|.any|.uni>.pred p0,p1,w1
vote.sync.ballot.b32 w0,p1,w1
match.any.sync.b32 w0,w1,w2
match.any.sync.b64 w0,q1,w2
match.all.sync.b32 w0|p0,w1,w2
match.all.sync.b64 w0|p0,q1,w2
activemask.b32 w0
redux.sync<.add|.min|.max><.u32|.s32> w0,w1,w2
redux.sync<.and|.or|.xor>.b32 w0,w1,w2
redux.sync<.min|.max><.abs|><.NaN|>.f32 w0,w1,w2
elect.sync w0|p0,w1
elect.sync _|p0,w1
<bar|barrier><.cta|>.sync<.aligned|> w0
<bar|barrier><.cta|>.sync<.aligned|> w0,w1
<bar|barrier><.cta|>.arrive<.aligned|> w0,w1
<bar|barrier><.cta|>.red.popc<.aligned|>.u32 w2,w0,w1,p0
<bar|barrier><.cta|>.red<.and|.or><.aligned|>.pred p1,w0,w1,p0
bar.warp.sync w0
barrier.cluster.arrive<.release|.relaxed|><.aligned|>
barrier.cluster.wait<.acquire|><.aligned|>
membar<.cta|.gl|.sys>
membar.proxy.alias
fence<.sc|.acq_rel|.acquire|.release|>SCOPE
fence.acquire.sync_restrict::shared::cluster.cluster
fence.release.sync_restrict::shared::cta.cluster
fence.mbarrier_init.release.cluster
fence.proxy<.alias|.async|.async.global|.async.shared::cta|.async.shared::cluster>
fence.proxy.tensormap::generic.release.gpu
fence.proxy.tensormap::generic.acquire.gpu [q0],128
fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster
fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [q0],[q1],128
griddepcontrol<.launch_dependents|.wait>
setmaxnreg<.inc|.dec>.sync.aligned.u32 64
nanosleep.u32 w0
pmevent 3
pmevent.mask 3
brkpt
trap
exit
alloca.u64 q0,q1,16
stacksave.u64 q0
stackrestore.u64 q0
mbarrier.init<.shared|.shared::cta|>.b64 [q0],w1
mbarrier.inval<.shared::cta|>.b64 [q0]
mbarrier.expect_tx<.relaxed|><.cta|.cluster|><.shared::cta|.shared::cluster|>.b64 [q0],w1
mbarrier.complete_tx<.relaxed|><.cta|.cluster|><.shared::cta|.shared::cluster|>.b64 [q0],w1
mbarrier<.arrive|.arrive_drop><.release.cta|.release.cluster|.relaxed.cta|><.shared::cta|>.b64 q1,[q0]
mbarrier<.arrive|.arrive_drop><.release.cta|.release.cluster|><.shared::cta|>.b64 q1,[q0],w1
mbarrier<.arrive|.arrive_drop><.release.cta|.release.cluster|>.shared::cluster.b64 _,[q0],w1
mbarrier<.arrive|.arrive_drop>.expect_tx<.release.cta|.relaxed.cluster|><.shared::cta|>.b64 q1,[q0],w1
mbarrier<.arrive|.arrive_drop>.expect_tx.release.cluster.shared::cluster.b64 _,[q0],w1
mbarrier<.arrive|.arrive_drop>.noComplete<.release.cta|><.shared::cta|>.b64 q1,[q0],w1
mbarrier<.test_wait|.try_wait><.acquire.cta|.acquire.cluster|.relaxed.cta|><.shared::cta|>.b64 p0,[q0],q1
mbarrier<.test_wait|.try_wait>.parity<.acquire.cta|.acquire.cluster|><.shared::cta|>.b64 p0,[q0],w1
mbarrier.try_wait<.acquire.cta|><.shared::cta|>.b64 p0,[q0],q1,w1
mbarrier.try_wait.parity<.acquire.cta|><.shared::cta|>.b64 p0,[q0],w1,w2
mbarrier.pending_count.b64 w0,q1
cp.async.mbarrier.arrive<.noinc|><.shared|.shared::cta|>.b64 [q0]
cp.async.ca.shared<::cta|>.global<.L2::64B|.L2::128B|.L2::256B|> [w0],[q1],<4|8|16>
cp.async.cg.shared.global<.L2::128B|> [w0],[q1],16
cp.async.ca.shared.global [w0],[q1],8,w2
cp.async.ca.shared.global [w0],[q1],8,p0
cp.async.cg.shared.global.L2::cache_hint [w0],[q1],16,q2
cp.async.cg.shared.global.L2::cache_hint [w0],[q1],16,w2,q2
cp.async<.commit_group|.wait_all>
cp.async.wait_group 2
cp.async.bulk.shared<::cta|::cluster>.global.mbarrier::complete_tx::bytes [w0],[q1],w2,[w3]
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes<.multicast::cluster|> [w0],[q1],w2,[w3],h0
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [w0],[q1],w2,[w3],q2
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [w0],[q1],w2,[w3],h0,q2
cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [w0],[w1],w2,[w3]
cp.async.bulk.global.shared::cta.bulk_group [q0],[w1],w2
cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [q0],[w1],w2,q1
cp.async.bulk.global.shared::cta.bulk_group.cp_mask [q0],[w1],w2,h1
cp.async.bulk.prefetch.L2.global [q0],w1
cp.async.bulk.prefetch.L2.global.L2::cache_hint [q0],w1,q1
cp.async.bulk.commit_group
cp.async.bulk.wait_group<.read|> 1
cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes<.and|.or|.xor><.b32> [w0],[w1],w2,[w3]
cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes<.add|.inc|.dec|.min|.max><.u32|.s32|.u64> [w0],[w1],w2,[w3]
cp.reduce.async.bulk.global.shared::cta.bulk_group<.and|.or|.xor><.b32|.b64> [q0],[w1],w2
cp.reduce.async.bulk.global.shared::cta.bulk_group<.add|.inc|.dec|.min|.max><.u32|.s32|.u64|.s64> [q0],[w1],w2
cp.reduce.async.bulk.global.shared::cta.bulk_group.add<.f32|.f64> [q0],[w1],w2
cp.reduce.async.bulk.global.shared::cta.bulk_group<.add.noftz|.min|.max><.f16|.bf16> [q0],[w1],w2
cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.u32 [q0],[w1],w2,q1
cp.async.bulk.tensor.1d.shared<::cta|::cluster>.global<.tile|>.mbarrier::complete_tx::bytes [w0],[q1,{w1}],[w2]
cp.async.bulk.tensor.2d.shared<::cta|::cluster>.global<.tile|>.mbarrier::complete_tx::bytes [w0],[q1,{w1,w3}],[w2]
cp.async.bulk.tensor.3d.shared<::cta|::cluster>.global<.tile|>.mbarrier::complete_tx::bytes [w0],[q1,{w1,w3,w4}],[w2]
cp.async.bulk.tensor.4d.shared::cluster.global<.tile|>.mbarrier::complete_tx::bytes [w0],[q1,{w1,w3,w4,w5}],[w2]
cp.async.bulk.tensor.5d.shared::cluster.global<.tile|>.mbarrier::complete_tx::bytes [w0],[q1,{w1,w3,w4,w5,w6}],[w2]
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [w0],[q1,{w1,w3}],[w2],h0
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [w0],[q1,{w1,w3}],[w2],q2
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [w0],[q1,{w1,w3}],[w2],h0,q2
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes<.cta_group::1|.cta_group::2> [w0],[q1,{w1,w3}],[w2]
cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [w0],[q1,{w1,w3,w4}],[w2],{h0}
cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [w0],[q1,{w1,w3,w4,w5}],[w2],{h0,h1}
cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [w0],[q1,{w1,w3,w4,w5,w6}],[w2],{h0,h1,h2}
cp.async.bulk.tensor.4d.shared::cluster.global.im2col<::w|::w::128>.mbarrier::complete_tx::bytes [w0],[q1,{w1,w3,w4,w5}],[w2],{h0,h1}
cp.async.bulk.tensor.2d.shared<::cta|::cluster>.global.tile::gather4.mbarrier::complete_tx::bytes [w0],[q1,{w1,w3,w4,w5,w6}],[w2]
cp.async.bulk.tensor.1d.global.shared::cta<.tile|>.bulk_group [q1,{w1}],[w2]
cp.async.bulk.tensor.2d.global.shared::cta<.tile|>.bulk_group [q1,{w1,w3}],[w2]
cp.async.bulk.tensor.3d.global.shared::cta<.tile|.im2col_no_offs|>.bulk_group [q1,{w1,w3,w4}],[w2]
cp.async.bulk.tensor.5d.global.shared::cta<.tile|.im2col_no_offs|>.bulk_group [q1,{w1,w3,w4,w5,w6}],[w2]
cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [q1,{w1,w3,w4,w5,w6}],[w2]
cp.reduce.async.bulk.tensor.2d.global.shared::cta<.add|.min|.max|.inc|.dec|.and|.or|.xor><.tile|>.bulk_group [q1,{w1,w3}],[w2]
cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.im2col_no_offs.bulk_group [q1,{w1,w3,w4}],[w2]
cp.async.bulk.prefetch.tensor.2d.L2.global<.tile|> [q1,{w1,w3}]
cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [q1,{w1,w3,w4}],{h0}
tensormap.replace.tile.global_address<.global|.shared::cta|>.b1024.b64 [q0],q1
tensormap.replace.tile<.rank|.elemtype|.interleave_layout|.swizzle_mode|.fill_mode|.swizzle_atomicity><.global|.shared::cta>.b1024.b32 [q0],1
tensormap.replace.tile<.box_dim|.global_dim|.element_stride><.global|.shared::cta>.b1024.b32 [q0],1,w1
tensormap.replace.tile.global_stride<.global|.shared::cta>.b1024.b64 [q0],1,q1
multimem.ld_reduce<.weak|.relaxed.gpu|.acquire.sys|><.global|><.add|.min|.max><.u32|.s32> w0,[q1]
multimem.ld_reduce<.global|><.add|.min|.max><.u64|.s64> q0,[q1]
multimem.ld_reduce.global<.and|.or|.xor>.b32 w0,[q1]
multimem.ld_reduce.global.add.f32 w0,[q1]
multimem.ld_reduce.global.add.f64 q0,[q1]
multimem.ld_reduce.global.add<.v2|.v4>.f32 {w0,w1,w2,w3},[q1]
multimem.ld_reduce.global<.add|.min|.max><.acc::f32|><.f16x2|.bf16x2> w0,[q1]
multimem.ld_reduce.global<.add|.min|.max><.acc::f32|>.v4<.f16x2|.bf16x2> {w0,w1,w2,w3},[q1]
multimem.st<.weak|.relaxed.gpu|.release.sys|><.global|><.b32|.u32|.s32|.f32|.f16x2> [q1],w0
multimem.st.global<.b64|.f64> [q1],q0
multimem.st.global.v4<.f32|.f16x2> [q1],{w0,w1,w2,w3}
multimem.red<.relaxed.gpu|.release.sys|><.global|><.add|.min|.max><.u32|.s32> [q1],w0
multimem.red.global<.and|.or|.xor>.b32 [q1],w0
multimem.red.global.add<.f32|.f16x2|.bf16x2> [q1],w0
multimem.red.global.add.v4.f32 [q1],{w0,w1,w2,w3}
multimem.cp.async.bulk.global.shared::cta.bulk_group [q0],[w1],w2
multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [q0],[w1],w2
mma.sync.aligned.m8n8k4<.row|.col><.row|.col>.f32.f16.f16.f32 {w0,w1,w2,w3,w4,w5,w6,w7},{w0,w1},{w2,w3},{w0,w1,w2,w3,w4,w5,w6,w7}
mma.sync.aligned.m8n8k4<.row|.col><.row|.col>.f16.f16.f16.f16 {w0,w1,w2,w3},{w0,w1},{w2,w3},{w0,w1,w2,w3}
mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {w0,w1},{w2,w3},{w4},{w5,w6}
mma.sync.aligned.m16n8k8.row.col.f32<.f16.f16|.bf16.bf16>.f32 {w0,w1,w2,w3},{w2,w3},{w4},{w0,w1,w2,w3}
mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {w0,w1},{w2,w3,w4,w5},{w4,w5},{w5,w6}
mma.sync.aligned.m16n8k16.row.col.f32<.f16.f16|.bf16.bf16>.f32 {w0,w1,w2,w3},{w2,w3,w4,w5},{w4,w5},{w0,w1,w2,w3}
mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {w0,w1,w2,w3},{w2,w3},{w4},{w0,w1,w2,w3}
mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {w0,w1,w2,w3},{w2,w3,w4,w5},{w4,w5},{w0,w1,w2,w3}
mma.sync.aligned.m8n8k4.row.col<.rn|.rz|>.f64.f64.f64.f64 {q0,q1},{q2},{q3},{q4,q5}
mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {q0,q1,q2,q3},{q2,q3},{q3},{q4,q5,q6,q7}
mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {q0,q1,q2,q3},{q0,q1,q2,q3},{q3,q4},{q4,q5,q6,q7}
mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {q0,q1,q2,q3},{q0,q1,q2,q3,q4,q5,q6,q7},{q0,q1,q2,q3},{q4,q5,q6,q7}
mma.sync.aligned.m8n8k16.row.col<.satfinite|>.s32<.u8|.s8><.u8|.s8>.s32 {w0,w1},{w2},{w3},{w4,w5}
mma.sync.aligned.m16n8k16.row.col<.satfinite|>.s32<.u8|.s8><.u8|.s8>.s32 {w0,w1,w2,w3},{w2,w4},{w3},{w4,w5,w6,w7}
mma.sync.aligned.m16n8k32.row.col<.satfinite|>.s32<.u8|.s8><.u8|.s8>.s32 {w0,w1,w2,w3},{w2,w4,w5,w6},{w3,w4},{w4,w5,w6,w7}
mma.sync.aligned.m8n8k32.row.col<.satfinite|>.s32<.u4|.s4><.u4|.s4>.s32 {w0,w1},{w2},{w3},{w4,w5}
mma.sync.aligned.m16n8k32.row.col<.satfinite|>.s32<.u4|.s4><.u4|.s4>.s32 {w0,w1,w2,w3},{w2,w4},{w3},{w4,w5,w6,w7}
mma.sync.aligned.m16n8k64.row.col<.satfinite|>.s32<.u4|.s4><.u4|.s4>.s32 {w0,w1,w2,w3},{w2,w4,w5,w6},{w3,w4},{w4,w5,w6,w7}
mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32<.xor|.and>.popc {w0,w1},{w2},{w3},{w4,w5}
mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32<.xor|.and>.popc {w0,w1,w2,w3},{w2,w4},{w3},{w4,w5,w6,w7}
mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32<.xor|.and>.popc {w0,w1,w2,w3},{w2,w4,w5,w6},{w3,w4},{w4,w5,w6,w7}
mma.sync.aligned.m16n8k16.row.col.f32<.e4m3|.e5m2><.e4m3|.e5m2>.f32 {w0,w1,w2,w3},{w2,w4},{w3},{w4,w5,w6,w7}
mma.sync.aligned.m16n8k32.row.col.f32<.e4m3|.e5m2><.e4m3|.e5m2>.f32 {w0,w1,w2,w3},{w2,w4,w5,w6},{w3,w4},{w4,w5,w6,w7}
mma.sync.aligned.m16n8k32.row.col.f16<.e4m3|.e5m2><.e4m3|.e5m2>.f16 {w0,w1},{w2,w4,w5,w6},{w3,w4},{w4,w5}
mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32<.e4m3|.e5m2|.e3m2|.e2m3|.e2m1><.e4m3|.e5m2|.e3m2|.e2m3|.e2m1>.f32 {w0,w1,w2,w3},{w2,w4,w5,w6},{w3,w4},{w4,w5,w6,w7}
mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16<.e4m3|.e2m1><.e4m3|.e2m3>.f16 {w0,w1},{w2,w4,w5,w6},{w3,w4},{w4,w5}
mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale<.scale_vec::1X|>.f32<.e4m3|.e5m2|.e3m2|.e2m3|.e2m1><.e4m3|.e5m2|.e3m2|.e2m3|.e2m1>.f32.ue8m0 {w0,w1,w2,w3},{w2,w4,w5,w6},{w3,w4},{w4,w5,w6,w7},w1,{h1,h2},w2,{h3,h4}
mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale<.scale_vec::2X|>.f32.e2m1.e2m1.f32.ue8m0 {w0,w1,w2,w3},{w2,w4,w5,w6},{w3,w4},{w4,w5,w6,w7},w1,{h1,h2},w2,{h3,h4}
mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale<.scale_vec::2X|.scale_vec::4X>.f32.e2m1.e2m1.f32<.ue8m0|.ue4m3> {w0,w1,w2,w3},{w2,w4,w5,w6},{w3,w4},{w4,w5,w6,w7},w1,{h1,h2},w2,{h3,h4}
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k16.row.col.f32<.f16.f16|.bf16.bf16>.f32 {w0,w1,w2,w3},{w2,w3},{w4,w5},{w0,w1,w2,w3},w6,0x1
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k32.row.col.f32<.f16.f16|.bf16.bf16>.f32 {w0,w1,w2,w3},{w2,w3,w4,w5},{w0,w1,w4,w5},{w0,w1,w2,w3},w6,0x0
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {w0,w1},{w2,w3},{w4,w5},{w0,w1},w6,0x1
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {w0,w1},{w2,w3,w4,w5},{w0,w1,w4,w5},{w0,w1},w6,0x0
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {w0,w1,w2,w3},{w2,w3},{w4,w5},{w0,w1,w2,w3},w6,0x1
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {w0,w1,w2,w3},{w2,w3,w4,w5},{w0,w1,w4,w5},{w0,w1,w2,w3},w6,0x0
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k32.row.col<.satfinite|>.s32<.u8|.s8><.u8|.s8>.s32 {w0,w1,w2,w3},{w2,w3},{w4,w5},{w0,w1,w2,w3},w6,0x1
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k64.row.col<.satfinite|>.s32<.u8|.s8><.u8|.s8>.s32 {w0,w1,w2,w3},{w2,w3,w4,w5},{w0,w1,w4,w5},{w0,w1,w2,w3},w6,0x0
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k64.row.col<.satfinite|>.s32<.u4|.s4><.u4|.s4>.s32 {w0,w1,w2,w3},{w2,w3},{w4,w5},{w0,w1,w2,w3},w6,0x1
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k128.row.col<.satfinite|>.s32<.u4|.s4><.u4|.s4>.s32 {w0,w1,w2,w3},{w2,w3,w4,w5},{w0,w1,w4,w5},{w0,w1,w2,w3},w6,0x0
mma<.sp|.sp::ordered_metadata>.sync.aligned.m16n8k64.row.col.f32<.e4m3|.e5m2><.e4m3|.e5m2>.f32 {w0,w1,w2,w3},{w2,w3,w4,w5},{w0,w1,w4,w5},{w0,w1,w2,w3},w6,0x0
mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32<.e4m3|.e2m1><.e5m2|.e3m2>.f32 {w0,w1,w2,w3},{w2,w3,w4,w5},{w0,w1,w4,w5},{w0,w1,w2,w3},w6,0x0
mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale<.scale_vec::1X|>.f32<.e4m3|.e2m1><.e5m2|.e3m2>.f32.ue8m0 {w0,w1,w2,w3},{w2,w3,w4,w5},{w0,w1,w4,w5},{w0,w1,w2,w3},w6,0x0,w1,{h1,h2},w2,{h3,h4}
mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col<.kind::mxf4|.kind::mxf4nvf4>.block_scale<.scale_vec::2X|.scale_vec::4X>.f32.e2m1.e2m1.f32<.ue8m0|.ue4m3> {w0,w1,w2,w3},{w2,w3,w4,w5},{w0,w1,w4,w5},{w0,w1,w2,w3},w6,0x0,w1,{h1,h2},w2,{h3,h4}
wmma.load.a.sync.aligned<.row|.col><.m16n16k16|.m8n32k16|.m32n8k16><.shared|.global|>.f16 {w0,w1,w2,w3,w4,w5,w6,w7},[q0],w0
wmma.load.b.sync.aligned<.row|.col><.m16n16k16|.m8n32k16|.m32n8k16><.shared|.global|>.f16 {w0,w1,w2,w3,w4,w5,w6,w7},[q0]
wmma.load.c.sync.aligned<.row|.col>.m16n16k16<.shared|.global|>.f16 {w0,w1,w2,w3},[q0],w0
wmma.load.c.sync.aligned<.row|.col>.m16n16k16<.shared|.global|><.f32|.s32> {w0,w1,w2,w3,w4,w5,w6,w7},[q0],w0
wmma.load<.a|.b>.sync.aligned<.row|.col>.m16n16k16<.bf16> {w0,w1,w2,w3},[q0],w0
wmma.load<.a|.b>.sync.aligned<.row|.col>.m16n16k16<.u8|.s8> {w0,w1},[q0],w0
wmma.load<.a|.b>.sync.aligned<.row|.col>.m16n16k8.tf32 {w0,w1,w2,w3},[q0],w0
wmma.load<.a|.b>.sync.aligned<.row|.col>.m8n8k4.f64 {q1},[q0],w0
wmma.load<.a|.b>.sync.aligned<.row|.col>.m8n8k32<.s4|.u4> {w0},[q0],w0
wmma.load<.a|.b>.sync.aligned<.row|.col>.m8n8k128.b1 {w0},[q0],w0
wmma.store.d.sync.aligned<.row|.col>.m16n16k16<.shared|.global|>.f16 [q0],{w0,w1,w2,w3},w0
wmma.store.d.sync.aligned<.row|.col>.m16n16k16<.shared|.global|><.f32|.s32> [q0],{w0,w1,w2,w3,w4,w5,w6,w7},w0
wmma.mma.sync.aligned<.row|.col><.row|.col><.m16n16k16|.m8n32k16|.m32n8k16>.f32.f32 {w0,w1,w2,w3,w4,w5,w6,w7},{w0,w1,w2,w3,w4,w5,w6,w7},{w0,w1,w2,w3,w4,w5,w6,w7},{w0,w1,w2,w3,w4,w5,w6,w7}
wmma.mma.sync.aligned<.row|.col><.row|.col>.m16n16k16.f16.f16<.satfinite|> {w0,w1,w2,w3},{w0,w1,w2,w3,w4,w5,w6,w7},{w0,w1,w2,w3,w4,w5,w6,w7},{w0,w1,w2,w3}
wmma.mma.sync.aligned<.row|.col><.row|.col>.m16n16k16.f32.bf16.bf16.f32 {w0,w1,w2,w3,w4,w5,w6,w7},{w0,w1,w2,w3},{w0,w1,w2,w3},{w0,w1,w2,w3,w4,w5,w6,w7}
wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {w0,w1,w2,w3,w4,w5,w6,w7},{w0,w1,w2,w3},{w0,w1,w2,w3},{w0,w1,w2,w3,w4,w5,w6,w7}
wmma.mma.sync.aligned.row.col.m16n16k16.s32<.s8.s8|.u8.u8>.s32<.satfinite|> {w0,w1,w2,w3,w4,w5,w6,w7},{w0,w1},{w0,w1},{w0,w1,w2,w3,w4,w5,w6,w7}
wmma.mma.sync.aligned.row.col.m8n8k4<.rn|>.f64.f64.f64.f64 {q0,q1},{q2},{q3},{q4,q5}
wmma.mma.sync.aligned.row.col.m8n8k32.s32<.s4.s4|.u4.u4>.s32<.satfinite|> {w0,w1},{w2},{w3},{w4,w5}
wmma.mma<.xor|.and>.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {w0,w1},{w2},{w3},{w4,w5}
ldmatrix.sync.aligned.m8n8<.x1|.x2|.x4><.trans|><.shared|.shared::cta|>.b16 {w0,w1,w2,w3},[q0]
ldmatrix.sync.aligned.m16n16<.x1|.x2>.trans.shared<.b8|.b8x16.b6x16_p32|.b8x16.b4x16_p64> {w0,w1,w2,w3},[q0]
ldmatrix.sync.aligned.m8n16<.x1|.x2|.x4>.shared<.b8x16.b6x16_p32|.b8x16.b4x16_p64> {w0,w1,w2,w3},[q0]
stmatrix.sync.aligned.m8n8<.x1|.x2|.x4><.trans|><.shared|.shared::cta|>.b16 [q0],{w0,w1,w2,w3}
stmatrix.sync.aligned.m16n8<.x1|.x2|.x4>.trans.shared.b8 [q0],{w0,w1,w2,w3}
movmatrix.sync.aligned.m8n8.trans.b16 w0,w1
wgmma.fence.sync.aligned
wgmma.commit_group.sync.aligned
wgmma.wait_group.sync.aligned 0
wgmma.mma_async.sync.aligned.m64n8k16.f32<.f16.f16|.bf16.bf16> {w0,w1,w2,w3},q0,q1,p0,1,1,0,0
wgmma.mma_async.sync.aligned.m64n8k16.f32<.f16.f16|.bf16.bf16> {w0,w1,w2,w3},{w4,w5,w6,w7},q1,p0,1,1,0
wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {w0,w1},q0,q1,p0,1,1,0,0
wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {w0,w1,w2,w3},q0,q1,p0,1,1
wgmma.mma_async.sync.aligned.m64n8k32<.f32><.e4m3|.e5m2><.e4m3|.e5m2> {w0,w1,w2,w3},q0,q1,p0,1,1
wgmma.mma_async.sync.aligned.m64n8k32.f16<.e4m3|.e5m2><.e4m3|.e5m2> {w0,w1},q0,q1,p0,1,1
wgmma.mma_async.sync.aligned.m64n8k32<.satfinite|>.s32<.u8|.s8><.u8|.s8> {w0,w1,w2,w3},q0,q1,p0
wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {w0,w1,w2,w3},q0,q1,p0
wgmma.mma_async.sp.sync.aligned.m64n8k32.f32<.f16.f16|.bf16.bf16> {w0,w1,w2,w3},q0,q1,w5,0,p0,1,1,0,0
wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.tf32.tf32 {w0,w1,w2,w3},q0,q1,w5,0,p0,1,1
wgmma.mma_async.sp.sync.aligned.m64n8k64.f32<.e4m3|.e5m2>.e4m3 {w0,w1,w2,w3},q0,q1,w5,0,p0,1,1
wgmma.mma_async.sp.sync.aligned.m64n8k64.s32<.u8|.s8>.s8 {w0,w1,w2,w3},q0,q1,w5,0,p0
tcgen05.alloc<.cta_group::1|.cta_group::2>.sync.aligned<.shared::cta|>.b32 [q0],64
tcgen05.dealloc<.cta_group::1|.cta_group::2>.sync.aligned.b32 w0,64
tcgen05.relinquish_alloc_permit<.cta_group::1|.cta_group::2>.sync.aligned
tcgen05.ld.sync.aligned<.32x32b|.16x64b|.16x128b|.16x256b|.16x32bx2><.x1|.x2|.x4|.x8><.pack::16b|>.b32 {w0,w1,w2,w3,w4,w5,w6,w7},[w8]
tcgen05.ld.sync.aligned.16x32bx2<.x1|.x2|.x4|.x8><.pack::16b|>.b32 {w0,w1,w2,w3,w4,w5,w6,w7},[w8],4
tcgen05.st.sync.aligned<.32x32b|.16x64b|.16x128b|.16x256b><.x1|.x2|.x4|.x8><.unpack::16b|>.b32 [w8],{w0,w1,w2,w3,w4,w5,w6,w7}
tcgen05.st.sync.aligned.16x32bx2<.x1|.x2|.x4|.x8><.unpack::16b|>.b32 [w8],4,{w0,w1,w2,w3,w4,w5,w6,w7}
tcgen05.wait<::ld|::st>.sync.aligned
tcgen05.cp<.cta_group::1|.cta_group::2><.128x256b|.4x256b|.128x128b> [w0],q0
tcgen05.cp<.cta_group::1|.cta_group::2><.64x128b.warpx2::02_13|.64x128b.warpx2::01_23|.32x128b.warpx4> [w0],q0
tcgen05.cp.cta_group::1.128x256b<.b8x16.b6x16_p32|.b8x16.b4x16_p64> [w0],q0
tcgen05.shift<.cta_group::1|.cta_group::2>.down [w0]
tcgen05.mma<.cta_group::1|.cta_group::2><.kind::f16|.kind::tf32|.kind::f8f6f4|.kind::i8> [w0],q0,q1,w1,p0
tcgen05.mma<.cta_group::1><.kind::f16|.kind::tf32> [w0],[w2],q1,w1,p0
tcgen05.mma.cta_group::1<.kind::f16|.kind::tf32> [w0],q0,q1,w1,{w2,w3,w4,w5},p0
tcgen05.mma.cta_group::1<.kind::f16|.kind::tf32> [w0],q0,q1,w1,p0,1
tcgen05.mma.cta_group::1<.kind::mxf8f6f4|.kind::mxf4|.kind::mxf4nvf4>.block_scale<.scale_vec::1X|.scale_vec::2X|.scale_vec::4X|> [w0],q0,q1,w1,[w2],[w3],p0
tcgen05.mma.sp<.cta_group::1|.cta_group::2><.kind::f16|.kind::tf32|.kind::f8f6f4|.kind::i8> [w0],q0,q1,[w4],w1,p0
tcgen05.mma.sp.cta_group::1<.kind::f16|.kind::tf32|.kind::f8f6f4|.kind::i8> [w0],[w2],q1,[w4],w1,p0
tcgen05.mma.sp.cta_group::1<.kind::f16|.kind::tf32> [w0],q0,q1,[w4],w1,{w5,w6,w7,w8},p0,1
tcgen05.mma.sp<.cta_group::1|.cta_group::2><.kind::mxf8f6f4|.kind::mxf4|.kind::mxf4nvf4>.block_scale<.scale_vec::1X|.scale_vec::2X|.scale_vec::4X|.block16|.block32|> [w0],q0,q1,[w4],w1,[w2],[w3],p0
tcgen05.mma.ws.sp.cta_group::1<.kind::f16|.kind::tf32|.kind::f8f6f4|.kind::i8><.collector::b0::fill|> [w0],q0,q1,[w4],w1,p0
tcgen05.mma<.sp|>.cta_group::1.kind::f16.ashift<.collector::a::lastuse|> [w0],[w2],q1,[w4],w1,p0
tcgen05.mma.cta_group::1<.kind::f16|.kind::tf32|.kind::f8f6f4|.kind::i8>.ashift<.collector::a::lastuse|> [w0],[w2],q1,w1,p0
tcgen05.mma.ws.cta_group::1<.kind::f16|.kind::tf32|.kind::f8f6f4|.kind::i8> [w0],q0,q1,w1,p0
tcgen05.commit<.cta_group::1|.cta_group::2>.mbarrier::arrive::one<.shared::cluster|>.b64 [q0]
tcgen05.commit<.cta_group::1|.cta_group::2>.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [q0],h0
tcgen05.fence<::before_thread_sync|::after_thread_sync>
tex<.1d>.v4<.f32|.s32|.u32><.f32|.s32> {w0,w1,w2,w3},[q0,{w4}]
tex<.2d>.v4<.f32|.s32|.u32><.f32|.s32> {w0,w1,w2,w3},[q0,{w4,w5}]
tex<.3d>.v4<.f32|.s32|.u32><.f32|.s32> {w0,w1,w2,w3},[q0,{w4,w5,w6,w7}]
tex<.a1d>.v4<.f32>.f32 {w0,w1,w2,w3},[q0,{w4,w5}]
tex<.a2d|.cube>.v4<.f32>.f32 {w0,w1,w2,w3},[q0,{w4,w5,w6,w7}]
tex.level.2d.v4.f32.f32 {w0,w1,w2,w3},[q0,{w4,w5}],w6
tex.grad.2d.v4.f32.f32 {w0,w1,w2,w3},[q0,{w4,w5}],{w0,w1},{w2,w3}
tld4<.r|.g|.b|.a>.2d.v4.f32.f32 {w0,w1,w2,w3},[q0,{w4,w5}]
txq<.width|.height|.depth|.channel_data_type|.channel_order>.b32 w0,[q0]
suld.b.1d<.clamp|.zero|.trap>.b32<.clamp|> w0,[q0,{w1}]
suld.b.1d.b32<.clamp|.zero|.trap> w0,[q0,{w1}]
suld.b.2d<.b8|.b16>.trap h0,[q0,{w1,w2}]
suld.b.2d.v4.b32<.clamp|.zero|.trap> {w0,w1,w2,w3},[q0,{w4,w5}]
suld.b.3d.b64.trap q1,[q0,{w1,w2,w3,w4}]
sust.b.1d.b32<.clamp|.zero|.trap> [q0,{w1}],w0
sust.b.2d.v4.b32<.clamp|.zero|.trap> [q0,{w4,w5}],{w0,w1,w2,w3}
sust.p.1d.b32.trap [q0,{w1}],w0
sured.b<.add|.min|.max>.2d.u32.trap [q0,{w1,w2}],w0
sured.b<.and|.or>.2d.b32.trap [q0,{w1,w2}],w0
suq<.width|.height|.depth>.b32 w0,[q0]
istypep<.texref|.samplerref|.surfref> p0,q1
clusterlaunchcontrol.try_cancel.async<.shared::cta|>.mbarrier::complete_tx::bytes<.multicast::cluster::all|>.b128 [w0],[w1]
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p0,x1
clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {w0,w1,w2,w3},x1
clusterlaunchcontrol.query_cancel.get_first_ctaid<::x|::y|::z>.b32.b128 w0,x1
<vadd|vsub|vabsdiff|vmin|vmax><.u32|.s32><.u32|.s32><.u32|.s32><.sat|> w0,w1,w2
<vadd|vsub|vabsdiff|vmin|vmax>.s32<.u32|.s32>.s32<.sat|><.add|.min|.max> w0,w1,w2,w3
<vadd|vsub|vabsdiff|vmin|vmax>.s32.u32.s32<.sat|> w0<.b0|.b1|.b2|.b3|.h0|.h1>,w1<.b3|.h1|>,w2<.b2|.h0|>,w3
<vshl|vshr><.u32|.s32><.u32|.s32>.u32<.sat|><.clamp|.wrap> w0,w1,w2
<vshl|vshr>.u32.u32.u32<.clamp|.wrap><.add|.min|.max> w0,w1,w2,w3
vmad<.u32|.s32><.u32|.s32><.u32|.s32><.sat|><.shr7|.shr15|> w0,w1,w2,w3
vmad.s32.s32.s32<.shr7|> w0,-w1,w2,w3
vmad<.u32|.s32><.u32|.s32><.u32|.s32>.po<.sat|><.shr7|.shr15|> w0,w1,w2,w3
vset<.u32|.s32><.u32|.s32><.eq|.ne|.lt|.le|.gt|.ge> w0,w1,w2
vset.u32.s32.lt<.add|.min|.max> w0,w1,w2,w3
<vadd|vsub|vavrg|vabsdiff|vmin|vmax><2|4><.u32|.s32><.u32|.s32><.u32|.s32><.sat|.add|> w0,w1,w2,w3
<vadd2|vsub2|vmax2>.s32.u32.s32 w0<.h0|.h1|.h10>,w1<.h10|.h32|>,w2<.h01|>,w3
<vadd4|vsub4|vmax4>.s32.u32.s32 w0<.b0|.b3|.b10|.b3210>,w1<.b3210|.b7654|>,w2<.b0123|>,w3
vset<2|4><.u32|.s32><.u32|.s32><.eq|.ne|.lt|.le|.gt|.ge><.add|> w0,w1,w2,w3
"""
NAMES = {"R": R, "CMP": CMP, "ORDER": ORDER, "SCOPE": SCOPE}
KINDS = {"h": "b16", "w": "b32", "q": "b64", "x": "b128", "c": "b8", "p": "pred"}


def expand(template):
    """All forms of a template, duplicates removed."""
    for name in ("ORDER", "CMP", "SCOPE"):  # names of alternatives stand after a letter or a dot
        template = template.replace(name, NAMES[name])
    template = re.sub(r"(?<=[a-z0-9>])R(?=[.<])", R, template)
    while "<" in template:  # innermost first: alternatives may nest
        inner = re.search(r"<([^<>]*)>", template)
        if inner is None:
            break
        return dict.fromkeys(form for choice in split(template) for form in expand(choice))
    return {template: None}


def split(template):
    """The choices of the first outermost <...>."""
    begin, depth = template.index("<"), 0
    parts, last = [], begin + 1
    for i in range(begin, len(template)):
        c = template[i]
        depth += (c == "<") - (c == ">")
        if (c == "|" and depth == 1) or depth == 0:
            parts.append(template[last:i])
            last = i + 1
        if depth == 0:
            return [template[:begin] + part + template[i + 1:] for part in parts]
    raise ValueError(template)


def narrow(form):
    """Vectors as long as .v2, .xN and shapes ask for."""
    count = re.search(r"\.v([248])\.", form)
    if count and form.startswith(("ld", "st", "ldu", "multimem", "atom")) and "atom.global.v" not in form:
        n = int(count.group(1))
        form = re.sub(r"\{([^}]*)\}", lambda m: "{" + ",".join(m.group(1).split(",")[:n]) + "}", form)
    m = re.search(r"matrix\.sync\.aligned\.(m\d+n\d+)\.x([124])", form)
    if m:
        n = int(m.group(2)) * (2 if m.group(1) == "m16n16" else 1)
        form = re.sub(r"\{([^}]*)\}", lambda g: "{" + ",".join(g.group(1).split(",")[:n]) + "}", form)
    m = re.search(r"^tcgen05\.(?:ld|st).*?\.(\d+x\d+bx?2?)\.x(\d)", form)
    if m:
        n = int(m.group(2)) * {"16x128b": 2, "16x256b": 4}.get(m.group(1), 1)
        form = re.sub(r"\{([^}]*)\}", lambda g: "{" + ",".join(g.group(1).split(",")[:n]) + "}", form)
    return form


def head(target):
    lines = [".version 8.8", f".target {target}", ".address_size 64", ".visible .entry k(.param .b64 pin) {"]
    for letter, kind in KINDS.items():
        lines.append(f".reg .{kind} {letter}<10>;")
    return lines


def accepted(forms, target, ptxas):
    """The forms that ptxas takes for a target."""
    forms = list(forms)
    while True:
        lines = head(target)
        first = len(lines) + 1
        lines += [f"{form};" for form in forms] + ["ret;", "}"]
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            done = subprocess.run([ptxas, "-O0", "-arch", target, file.name, "-o", "/dev/null"], capture_output=True, text=True)
        bad = {int(n) - first for n in re.findall(r", line (\d+);\s+(?:error|fatal)", done.stderr)}
        if not bad:
            return forms
        forms = [form for i, form in enumerate(forms) if i not in bad]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    root = pathlib.Path(__file__).parents[2]
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--output", type=pathlib.Path, default=root / "testdata" / "ptxsim" / "forms.txt")
    parser.add_argument("--none", action="store_true", help="print templates of which ptxas takes no form")
    args = parser.parse_args()
    by_template = {t: [narrow(f) for f in expand(t)] for t in TEMPLATES.strip().splitlines()}
    wanted = list(dict.fromkeys(itertools.chain.from_iterable(by_template.values())))
    targets = {}
    for target in TARGETS:
        for form in accepted([f for f in wanted if f not in targets], target, args.ptxas):
            targets[form] = target
    lines = [f"{targets[form]} {form}" for form in wanted if form in targets]
    args.output.write_text("\n".join(["# Forms that ptxas takes, by the first target that knows them: scripts/gpu/ptx_forms.py", *lines]) + "\n")
    print(f"{len(wanted)} candidates, {len(lines)} forms")
    if args.none:
        print("\n".join(t for t, forms in by_template.items() if not any(f in targets for f in forms)))


if __name__ == "__main__":
    main()
