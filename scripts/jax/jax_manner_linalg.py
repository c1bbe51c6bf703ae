"""Cases of jax_manner.py for linear algebra: factorizations, solvers, functions of matrices, over types, batches and options.

Signs of vectors are chosen by the algorithm: products of factors are compared, so that A = Q R is, and absolute values of factors.
Right-hand sides are the matrix's columns in reverse, so that no derivative is zero but for rounding; residuals of systems that are
solved exactly are rounding too, and are left out.
"""
import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax_manner_values import array, definite

TYPES = ("float32", "float64", "complex64", "complex128")
SHAPES = ((4, 4), (5, 3), (3, 5), (1, 1), (2, 4, 4), (0, 3), (3, 0), (40, 30))
WIDE = 1000


def symmetric(t, n, batch=()):
    return definite(t, n, batch) - 3 * jnp.eye(n, dtype=t)


def factor_cases():
    la = jnp.linalg
    for t, s in itertools.product(TYPES, SHAPES):
        x = functools.partial(array, t, *s)
        square = s[-1] == s[-2]
        yield f"linalg.qr/{t}/{s}", lambda x=x: [(jnp.abs(q), jnp.abs(r), q @ r) for q, r in (la.qr(x()), la.qr(x(), mode="complete"))] + [jnp.abs(la.qr(x(), mode="r"))], WIDE
        yield f"linalg.svd/{t}/{s}", lambda x=x: [(v, (u[..., : v.shape[-1]] * v[..., None, :]) @ w[..., : v.shape[-1], :]) for u, v, w in (la.svd(x(), full_matrices=True), la.svd(x(), full_matrices=False))] + [la.svdvals(x())], WIDE
        yield f"linalg.svd_algorithms/{t}/{s}", lambda x=x: [lax.linalg.svd(x(), compute_uv=False, algorithm=a) for a in (lax.linalg.SvdAlgorithm.QR, lax.linalg.SvdAlgorithm.DEFAULT)], WIDE
        yield f"linalg.rank_pinv_norms/{t}/{s}", lambda x=x: [la.pinv(x()), la.matrix_rank(x()), la.norm(x(), axis=(-2, -1)), la.norm(x(), "nuc", axis=(-2, -1)), la.norm(x(), 2, axis=(-2, -1)), la.norm(x(), -1, axis=-1), la.vector_norm(x(), ord=3), la.matrix_norm(x(), ord=1, keepdims=True), la.cond(x())], WIDE
        yield f"linalg.lu/{t}/{s}", lambda x=x: [lax.linalg.lu(x())] + ([jax.scipy.linalg.lu(x()), jax.scipy.linalg.lu(x(), permute_l=True)] if len(s) == 2 else []), WIDE
        if len(s) == 2:
            yield f"linalg.lstsq/{t}/{s}", lambda x=x, t=t, s=s: [v for i, v in enumerate(la.lstsq(x(), array(t, s[0], 2))) if i != 1 or s[0] > s[1]], WIDE
            yield f"linalg.polar/{t}/{s}", lambda x=x: [jax.scipy.linalg.polar(x(), side=side, method=m) for side in ("left", "right") for m in ("qdwh", "svd")], WIDE
        if not square:
            continue
        n, batch = s[-1], s[:-2]
        a, h = functools.partial(definite, t, n, batch), functools.partial(symmetric, t, n, batch)
        yield f"linalg.cholesky/{t}/{s}", lambda a=a: [la.cholesky(a()), la.cholesky(a(), upper=True), jax.scipy.linalg.cholesky(a(), lower=True)], WIDE
        yield f"linalg.eigh/{t}/{s}", lambda h=h: [(w, jnp.abs(v), (v * w[..., None, :]) @ jnp.swapaxes(v.conj(), -1, -2)) for w, v in (la.eigh(h()), la.eigh(h(), UPLO="U"))] + [la.eigvalsh(h())], WIDE
        yield f"linalg.eig/{t}/{s}", lambda x=x: [(w, (v * w[..., None, :]) @ la.inv(v)) for w, v in (la.eig(x()),)] + [la.eigvals(x())], WIDE
        yield f"linalg.solve/{t}/{s}", lambda x=x, t=t, s=s: [la.solve(x(), array(t, *s[:-1], 3)), la.inv(x()), la.det(x()), la.slogdet(x()), la.slogdet(x(), method="qr"), la.matrix_power(x(), 3), la.matrix_power(x(), -2)], WIDE
        yield f"linalg.triangular/{t}/{s}", lambda x=x, t=t, s=s, n=n: [lax.linalg.triangular_solve(x() + 3 * jnp.eye(n), array(t, *s[:-1], n), left_side=left, lower=low, transpose_a=tr, conjugate_a=c, unit_diagonal=u) for left, low, tr, c, u in itertools.product((True, False), repeat=5)], WIDE
        if len(s) == 2:
            sl = jax.scipy.linalg
            yield f"linalg.scipy/{t}/{s}", lambda a=a, x=x, t=t, n=n: [sl.cho_solve(sl.cho_factor(a()), array(t, n)), sl.lu_solve(sl.lu_factor(x()), array(t, n)), sl.lu_solve(sl.lu_factor(x()), array(t, n, 2), trans=1), sl.lu_solve(sl.lu_factor(x()), array(t, n, 2), trans=2), sl.solve(a(), array(t, n), assume_a="pos"), sl.solve_triangular(x(), array(t, n), trans=1, lower=True), sl.expm(x()), sl.expm_frechet(x(), a()), sl.block_diag(x(), a()), sl.sqrtm(a()), sl.funm(a(), jnp.sin) if hasattr(sl, "funm") else 0], WIDE * 10
            yield f"linalg.schur/{t}/{s}", lambda x=x: [(jnp.abs(jnp.diag(q)).sum(), z @ q @ z.conj().T) for q, z in (sl.schur(x()), sl.schur(x(), output="complex"), sl.rsf2csf(*sl.schur(x())))], WIDE * 10
            yield f"linalg.hessenberg/{t}/{s}", lambda x=x: [jnp.abs(sl.hessenberg(x()))], WIDE
            yield f"linalg.tridiagonal/{t}/{s}", lambda h=h: lax.linalg.tridiagonal(h(), lower=True)[1], WIDE
            yield f"linalg.sylvester/{t}/{s}", lambda x=x, a=a: sl.solve_sylvester(a(), a() + 1 * jnp.eye(n), x()) if hasattr(sl, "solve_sylvester") else 0, WIDE * 10
            yield f"linalg.ordered/{t}/{s}", lambda h=h, x=x: [lax.linalg.eigh(h(), sort_eigenvalues=False)[1].sum() if False else jnp.sort(lax.linalg.eigh(h(), sort_eigenvalues=False)[1] if t.startswith("f") else la.eigvalsh(h()))], WIDE
    for t in TYPES:
        yield f"linalg.tridiagonal_solve/{t}", lambda t=t: [lax.linalg.tridiagonal_solve(array(t, 5), array(t, 5, salt=1) + 4, array(t, 5, salt=2), array(t, 5, 3)), lax.linalg.tridiagonal_solve(array(t, 2, 5), array(t, 2, 5, salt=1) + 4, array(t, 2, 5, salt=2), array(t, 2, 5, 1))], WIDE
        yield f"linalg.householder/{t}", lambda t=t: [jnp.abs(lax.linalg.householder_product(*lax.linalg.geqrf(array(t, 5, 3)))) if hasattr(lax.linalg, "geqrf") else 0, lax.linalg.symmetric_product(array(t, 4, 3), jnp.zeros((4, 4), t), alpha=2.0) if t.startswith("f") else 0], WIDE
        yield f"linalg.cholesky_update/{t}", lambda t=t: lax.linalg.cholesky_update(jnp.linalg.cholesky(definite(t, 4)).T, array(t, 4)), WIDE
        yield f"linalg.toeplitz/{t}", lambda t=t: [jax.scipy.linalg.toeplitz(array(t, 4), array(t, 5, salt=1)), jax.scipy.linalg.hilbert(4), jax.scipy.linalg.pascal(4) if hasattr(jax.scipy.linalg, "pascal") else 0, jax.scipy.linalg.invhilbert(3) if hasattr(jax.scipy.linalg, "invhilbert") else 0]
        yield f"linalg.products/{t}", lambda t=t: [jnp.linalg.multi_dot([array(t, 4, 5), array(t, 5, 6), array(t, 6, 2)]), jnp.linalg.tensorinv(array(t, 6, 2, 3), 1), jnp.linalg.tensorsolve(array(t, 2, 3, 6), array(t, 2, 3)), jnp.linalg.cross(array(t, 4, 3), array(t, 4, 3, salt=1)), jnp.linalg.vecdot(array(t, 4, 3), array(t, 4, 3, salt=1)), jnp.linalg.outer(array(t, 3), array(t, 4)), jnp.linalg.trace(array(t, 3, 4)), jnp.linalg.diagonal(array(t, 3, 4), offset=1)], WIDE
        for nan in (np.nan, np.inf, 0):
            yield f"linalg.degenerate/{t}/{nan}", lambda t=t, nan=nan: [f(jnp.full((3, 3), nan, t)) for f in (jnp.linalg.cholesky, jnp.linalg.inv, jnp.linalg.det, lambda x: jnp.linalg.qr(x)[1] if nan else x, jnp.linalg.eigvalsh, jnp.linalg.svdvals, lambda x: jnp.linalg.solve(x, jnp.ones((3,), t)))], WIDE
    for t in ("float16", "bfloat16", "int32", "bool"):
        yield f"linalg.other_types/{t}", lambda t=t: [f(array(t, 4, 4)) for f in (jnp.linalg.det, jnp.linalg.norm, lambda x: jnp.linalg.matrix_power(x, 2))], WIDE
        yield f"linalg.promoted/{t}", lambda t=t: [f(jnp.eye(4, dtype=t)) for f in (jnp.linalg.cholesky, jnp.linalg.inv, jnp.linalg.eigvalsh, jnp.linalg.svdvals)], WIDE


def gradient_cases():
    la, sl = jnp.linalg, jax.scipy.linalg
    functions = {"cholesky": la.cholesky, "inv": la.inv, "det": la.det, "slogdet": lambda x: la.slogdet(x)[1], "solve": lambda x: la.solve(x, x[::-1, :1]), "eigvalsh": la.eigvalsh,
                 "eigh": lambda x: (lambda w, v: (v * jnp.exp(w)) @ v.conj().T)(*la.eigh(x)), "svd": lambda x: (lambda u, s, v: (u * jnp.sin(s)) @ v)(*la.svd(x, full_matrices=False)), "svdvals": la.svdvals,
                 "qr": lambda x: (lambda q, r: jnp.abs(r))(*la.qr(x)), "pinv": la.pinv, "expm": sl.expm, "lu": lambda x: lax.linalg.lu(x)[0], "eigvals": la.eigvals, "norm": la.norm, "nuc": lambda x: la.norm(x, "nuc"),
                 "triangular": lambda x: sl.solve_triangular(x, x[::-1]), "matrix_power": lambda x: la.matrix_power(x, 3), "cho_solve": lambda x: sl.cho_solve(sl.cho_factor(x), x[::-1, 0]), "lstsq": lambda x: la.lstsq(x, x[::-1, 0])[0],
                 "polar": lambda x: sl.polar(x + jnp.triu(x))[0], "sqrtm": sl.sqrtm, "schur": lambda x: sl.schur(x)[0]}
    for (name, f), t in itertools.product(functions.items(), TYPES):
        a = functools.partial(definite, t, 4)
        loss = lambda x, f=f: jnp.sum(jnp.abs(f(x) + 0.1) ** 2)
        yield f"linalg.grad/{name}/{t}", lambda a=a, loss=loss: jax.grad(loss)(a()), WIDE * 10
        yield f"linalg.jvp/{name}/{t}", lambda a=a, loss=loss: jax.jvp(loss, (a(),), (jnp.triu(a()) * 0.3,)), WIDE * 10
        yield f"linalg.vmap/{name}/{t}", lambda t=t, loss=loss: jax.jit(jax.vmap(jax.value_and_grad(loss)))(definite(t, 3, (5,))), WIDE * 10


def cases():
    yield from factor_cases()
    yield from gradient_cases()
# SPDX-License-Identifier: Apache-2.0
