"""One call or more of everything in the common vocabulary that has a derivative, for comparisons of graphs."""

from __future__ import annotations

PREAMBLE = """
import torch
import torch.nn.functional as F

x = torch.tensor([[0.5, 0.25, 0.875], [0.75, 0.625, 0.125]], requires_grad=True)
y = torch.tensor([[0.375, 0.5, 0.75], [0.25, 0.8125, 0.0625]], requires_grad=True)
v = torch.tensor([0.5, 1.5, 2.5], requires_grad=True)
w = torch.tensor([0.25, -0.5], requires_grad=True)
s = torch.tensor(0.75, requires_grad=True)
m = torch.tensor([[2.0, 0.5, 0.25], [0.5, 3.0, 0.75], [0.25, 0.75, 4.0]], requires_grad=True)
b = torch.tensor([[1.0, 2.0], [0.5, 1.5], [0.25, 3.0]], requires_grad=True)
t = ((torch.arange(24.0).reshape(2, 3, 4) + 1) / 16).requires_grad_()
q = ((torch.arange(24.0).reshape(2, 4, 3) + 1) / 32).requires_grad_()
z = torch.tensor([[1 + 2j, 0.5 - 1j], [0.25 + 0.5j, 2 - 0.75j]], requires_grad=True)
image = (torch.arange(50.0).reshape(1, 2, 5, 5) * 0.37).sin().requires_grad_()
line = (torch.arange(12.0).reshape(1, 2, 6) * 0.37).sin().requires_grad_()
kernel = (torch.arange(24.0).reshape(3, 2, 2, 2) * 0.23).cos().requires_grad_()
turned = (torch.arange(24.0).reshape(2, 3, 2, 2) * 0.23).cos().requires_grad_()
wide = (torch.arange(12.0).reshape(3, 2, 2) * 0.23).cos().requires_grad_()
bias = torch.tensor([0.5, 0.25, 0.125], requires_grad=True)
two = torch.tensor([1.5, 0.5], requires_grad=True)
zero = torch.tensor([0.5, 0.25])
index = torch.tensor([0, 2])
rows = torch.tensor([[0, 1, 0], [1, 0, 1]])
mask = torch.tensor([[True, False, True], [False, True, True]])
labels = torch.tensor([2, 0])
signs = torch.tensor([[1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]])
probable = torch.tensor([[0.25, 0.5, 1.0], [0.0, 0.75, 0.125]])
"""

ELEMENTWISE = """
x + y; x + v; x + 2; 2 + x; x - y; x - 2.5; 2 - x; x * y; x * v; x * s; x * 3; 2.5 * x; x / y; x / 2; 1 / x; x / s; -x; +x; x ** 2
x ** 3; x ** 0.5; x ** y; x ** v; 2 ** x; x ** -1; x ** 1; x ** 0; x ** s; abs(x); x % 2; x // 2; torch.add(x, y, alpha=2)
torch.sub(x, y, alpha=3); torch.rsub(x, y); torch.rsub(x, 3); torch.mul(x, 2); torch.div(x, y, rounding_mode='floor')
torch.div(x, y, rounding_mode='trunc'); torch.pow(x, 2); torch.pow(x, 2.0); x.pow(3); torch.float_power(x, 2); x.square(); x.sqrt()
x.rsqrt(); x.reciprocal(); x.exp(); x.exp2(); x.expm1(); x.log(); x.log2(); x.log10(); x.log1p(); x.sin(); x.cos(); x.tan()
x.asin(); x.acos(); x.atan(); x.sinh(); x.cosh(); x.tanh(); x.asinh(); (x + 1).acosh(); x.atanh(); x.sigmoid(); x.logit()
torch.logit(x, 1e-3); x.abs(); x.neg(); x.sign(); x.sgn(); x.floor(); x.ceil(); x.round(); x.trunc(); x.frac(); x.erf(); x.erfc()
x.erfinv(); x.lgamma(); x.digamma(); torch.polygamma(1, x); torch.mvlgamma(x + 2, 2); x.i0(); torch.special.i0e(x)
torch.special.i1(x); torch.special.i1e(x); x.sinc(); torch.special.entr(x); torch.special.ndtr(x); torch.special.ndtri(x)
torch.special.log_ndtr(x); torch.special.erfcx(x); torch.xlogy(x, y); torch.special.xlog1py(x, y); torch.special.zeta(x + 2, 3.0)
torch.hypot(x, y); torch.atan2(x, y); torch.fmod(x, 2); torch.fmod(x, y); torch.remainder(x, y); torch.remainder(x, 0.3)
torch.maximum(x, y); torch.minimum(x, y); torch.fmax(x, y); torch.fmin(x, y); torch.max(x, y); x.clamp(0.2, 0.6); x.clamp(min=0.2)
x.clamp(max=0.6); x.clamp_min(0.2); x.clamp_max(0.6); torch.clamp(x, y, v); torch.clamp(x, min=y); x.lerp(y, 0.25)
torch.lerp(x, y, v); torch.addcmul(x, y, v); torch.addcmul(x, y, v, value=2); torch.addcdiv(x, y, v)
torch.addcdiv(x, y, v, value=2.5); torch.logaddexp(x, y); torch.logaddexp2(x, y); torch.copysign(x, y); torch.copysign(x, -1.0)
torch.heaviside(x - 0.5, y); torch.ldexp(x, y); torch.where(mask, x, y); torch.where(mask, x, 0.0); torch.where(x > 0.5, 1.0, x)
x.nan_to_num(); x.nan_to_num(1.0); torch.rad2deg(x); torch.deg2rad(x); x.positive(); torch.threshold(x, 0.5, 0.0); x.clone()
x.double(); x.float(); x.to(torch.float32); torch.float_power(x, y)
"""

ACTIVATIONS = """
F.relu(x); torch.relu(x); x.relu(); F.relu6(x); F.leaky_relu(x); F.leaky_relu(x, 0.2); F.elu(x); F.elu(x, 0.5); F.selu(x); F.celu(x)
F.gelu(x); F.gelu(x, approximate='tanh'); F.silu(x); F.mish(x); F.softplus(x); F.softplus(x, 2, 10); F.softsign(x); F.softshrink(x)
F.hardshrink(x); F.tanhshrink(x); F.hardtanh(x); F.hardtanh(x, -0.5, 0.5); F.hardsigmoid(x); F.hardswish(x); F.logsigmoid(x)
F.threshold(x, 0.5, 0.1); F.prelu(x, s.reshape(1)); F.prelu(x, v); F.rrelu(x); F.glu(t); F.softmax(x, 1); F.softmax(x, dim=-1)
x.softmax(0); F.log_softmax(x, 1); F.softmin(x, 1); torch.softmax(x, 0); x.log_softmax(-1); F.normalize(x); F.normalize(x, dim=0)
F.dropout(x, 0.0); F.dropout(x, 0.5, False)
"""

REDUCTIONS = """
x.sum(); x.sum(1); x.sum(-1, keepdim=True); x.sum((0, 1)); x.sum(dim=0, keepdim=True); x.mean(); x.mean(0); x.mean(-1, True)
x.mean((0, 1)); x.prod(); x.prod(1); x.prod(-1, keepdim=True); x.max(); x.min(); x.max(1)[0]; x.min(0).values
x.max(-1, keepdim=True).values; x.amax(1); x.amin((0, 1)); x.amax(); x.aminmax()[0]; x.median(); x.median(1)[0]; x.nanmedian()
x.mode(1)[0]; x.kthvalue(2, 1)[0]; x.var(); x.var(1); x.var(0, unbiased=False); x.std(); x.std(1); x.std(1, keepdim=True)
x.var(correction=0); torch.var_mean(x, 1)[0]; torch.std_mean(x, 1)[1]; x.norm(); x.norm(2, 1); x.norm(1); x.norm(3, dim=1)
x.norm(p=float('inf')); x.norm(2, -1, True); torch.linalg.norm(x); torch.linalg.vector_norm(x, 3)
torch.linalg.vector_norm(x, dim=1); torch.linalg.matrix_norm(x); torch.linalg.norm(x, dim=1); torch.linalg.norm(x, 1)
torch.logsumexp(x, 1); x.logsumexp((0, 1), True); x.cumsum(1); x.cumprod(1); x.cummax(1)[0]; x.cummin(1)[0]; x.logcumsumexp(1)
x.diff(); torch.dist(x, y); torch.dist(x, y, 1); x.quantile(0.5); x.quantile(0.3, dim=1); x.nansum(); x.nansum(1); x.nanmean()
torch.trapz(x); torch.trapezoid(x, dim=0); torch.cumulative_trapezoid(x); torch.cov(x); torch.corrcoef(x); x.renorm(2, 0, 0.5)
x.sort(1)[0]; x.sort(-1, descending=True)[0]; x.topk(2)[0]; x.topk(1, 0)[0]; x.msort(); torch.sort(x.reshape(-1))[0]; x.trace()
torch.trace(m)
"""

SHAPES = """
x.T; x.t(); x.mT; x.transpose(0, 1); x.transpose(-1, 0); x.permute(1, 0); x.permute(-1, 0); x.reshape(3, 2); x.reshape(-1)
x.view(6); x.view(3, 2); x.view(-1); x.t().reshape(6); x.flatten(); t.flatten(1); t.flatten(0, 1); x.ravel(); x.unsqueeze(0)
x.unsqueeze(-1); x.reshape(2, 1, 3).squeeze(); x.reshape(2, 1, 3).squeeze(1); x.reshape(2, 1, 3).squeeze(-2); x.expand(4, 2, 3)
v.expand(2, -1); x.broadcast_to(2, 2, 3); v.expand_as(x); x.repeat(2, 1); x.repeat(1, 2, 1); x.tile(2); x.repeat_interleave(2)
x.repeat_interleave(2, 1); torch.repeat_interleave(x, index, 0); x.flip(0); x.flip(1, 0); x.fliplr(); x.flipud(); x.roll(1)
x.roll(1, 0); x.roll((1, 2), (0, 1)); x.rot90(); torch.cat([x, y]); torch.cat([x, y], 1); torch.cat((x, y, x), dim=-1)
torch.stack([x, y]); torch.stack([x, y], 1); torch.stack([x, y], -1); torch.hstack([x, y]); torch.vstack([x, y])
torch.dstack([x, y]); torch.column_stack([v, v]); x.chunk(2)[0]; x.chunk(3, 1)[1]; x.split(1)[1]; x.split([1, 2], 1)[1]
torch.split(x, 2, -1)[0]; x.unbind()[0]; x.unbind(1)[2]; x.tensor_split(2, 1)[0]; torch.hsplit(x, 3)[0]; x.movedim(0, 1)
torch.moveaxis(t, 0, -1); x.swapaxes(0, 1); t.swapdims(0, 2); x.unfold(1, 2, 1); x.diagonal(); x.diagonal(1); t.diagonal(0, 1, 2)
v.diag(); m.diag(); m.diag(1); torch.diag_embed(v); torch.diag_embed(x, 1); torch.diagflat(v); x.tril(); x.triu(1); m.tril(-1)
x.narrow(1, 0, 2); x.select(0, 1); x.select(1, -1); x.unflatten(1, (3, 1)); x.view_as(y); x.reshape_as(y); x.contiguous()
x.t().contiguous(); torch.atleast_3d(x); torch.block_diag(x, y); torch.cartesian_prod(v, w); torch.combinations(v)
torch.meshgrid(v, w, indexing='ij')[0]; x.as_strided((2, 2), (3, 1)); F.pad(x, (1, 1)); F.pad(x, (1, 0, 0, 1), value=2.0)
F.pad(line, (1, 1), mode='reflect'); F.pad(line, (2, 1), mode='replicate'); F.pad(image, (1, 1, 1, 1), mode='reflect')
F.pad(line, (1, 1), mode='circular'); F.pixel_shuffle(image.expand(2, 2, 5, 5).reshape(1, 4, 5, 5), 2); torch.kron(x, y)
torch.tril(m); torch.broadcast_tensors(x, v)[1]; x.sum_to_size(1, 3); x.resolve_conj(); F.channel_shuffle(image, 2)
F.pixel_unshuffle(image[..., :4, :4], 2); F.fold(F.unfold(image, 2), (5, 5), 2); F.unfold(image, 2)
"""

INDEXING = """
x[0]; x[1, 2]; x[:, 1]; x[-1]; x[..., -1]; x[:1]; x[:, 1:]; x[:, ::2]; x[None]; x[..., None]; x[:, None, 1:]; x[index[:1]]
x[:, index]; x[rows[0]]; x[mask]; x[x > 0.5]; x[[0, 1], [2, 1]]; x[rows[:, 0], index]; t[0, :, 1]; t[:, index, 1:]
x.index_select(1, index); x.gather(1, rows); torch.gather(x, 0, rows); x.take(index); torch.take_along_dim(x, rows, 1)
x.masked_select(mask); x.masked_fill(mask, 0.0); x.masked_fill(mask, s); x.scatter(1, rows, y); x.scatter(1, rows, 2.0)
x.scatter_add(1, rows, y); x.index_add(1, index, y[:, :2]); x.index_copy(1, index, y[:, :2]); x.index_fill(1, index, 2.0)
x.index_put((rows[0], rows[1]), v); x.masked_scatter(mask, y); torch.select_scatter(x, v, 0, 1)
torch.slice_scatter(x, v[None], 0, 0, 1); torch.diagonal_scatter(m, v); x.put(index, w); x.scatter_reduce(1, rows, y, 'sum')
x.scatter_reduce(1, rows, y, 'amax'); x.scatter_reduce(1, rows, y, 'mean'); F.embedding(index, b); F.embedding_bag(index[None], b)
"""

ALGEBRA = """
x @ b; x @ v; v @ m; v @ v; t @ q; t @ b.new_ones(4, 2); m @ t; torch.mm(x, b); torch.matmul(x, v); torch.mv(x, v); torch.dot(v, v)
torch.bmm(t, q); torch.inner(x, v); torch.inner(x, y); torch.outer(v, w); torch.ger(v, w); torch.addmm(b, m, b)
torch.addmm(b, m, b, beta=0.5, alpha=2); torch.addmv(w, x, v); torch.addr(x, w, v); torch.baddbmm(torch.ones(2, 3, 3), t, q)
torch.addbmm(m, t, q); torch.cross(v, v * 2, dim=0); torch.linalg.cross(x, y); torch.einsum('ij,jk->ik', x, b)
torch.einsum('ij,ij->', x, y); torch.einsum('i,j->ij', v, w); torch.einsum('bij,bjk->bik', t, q); torch.einsum('ii->i', m)
torch.tensordot(x, b, 1); torch.tensordot(x, y, ([0, 1], [0, 1])); torch.chain_matmul(x, m, b); torch.linalg.multi_dot([x, m, b])
torch.matrix_power(m, 2); torch.matrix_power(m, 3); torch.det(m); torch.logdet(m); torch.slogdet(m)[1]; torch.inverse(m)
torch.linalg.inv(m); torch.linalg.solve(m, b); torch.linalg.cholesky(m); torch.linalg.solve(m, v)
torch.cholesky_solve(b, torch.linalg.cholesky(m)); torch.cholesky_inverse(torch.linalg.cholesky(m)); torch.pinverse(x)
torch.linalg.pinv(x); torch.linalg.solve_triangular(m.tril(), b, upper=False); torch.triangular_solve(b, m)[0]
torch.linalg.qr(m)[0]; torch.linalg.qr(m)[1]; torch.linalg.svd(x)[1]; torch.linalg.svdvals(x); torch.linalg.eigh(m)[0]
torch.linalg.eigvalsh(m); torch.linalg.lu(m)[1]; torch.linalg.lstsq(m, b)[0]; torch.linalg.lu_factor(m)[0]
torch.linalg.matrix_exp(m); torch.matrix_exp(m); torch.linalg.vecdot(x, y); torch.cdist(x, y); torch.cdist(x, y, 1.0); F.pdist(x)
F.cosine_similarity(x, y); F.pairwise_distance(x, y); F.linear(x, m); F.linear(x, m, bias)
F.bilinear(x, y, torch.ones(2, 3, 3), two); F.linear(x, v); torch.linalg.tensorinv(m, 1); torch.linalg.matrix_norm(m, 'nuc')
torch.linalg.matrix_norm(m, 2); torch.linalg.cond(m); torch.linalg.diagonal(m); torch.linalg.norm(m, 'nuc')
torch.lu_solve(b, *torch.linalg.lu_factor(m)); torch.linalg.tensorsolve(m, v); torch.linalg.vander(v)
"""

LAYERS = """
F.conv1d(line, wide); F.conv1d(line, wide, bias, stride=2, padding=1); F.conv2d(image, kernel)
F.conv2d(image, kernel, bias, padding=1); F.conv2d(image, kernel, stride=2, dilation=2); F.conv_transpose2d(image, turned)
F.conv_transpose2d(image, turned, bias, stride=2); F.conv1d(line, wide[:2, :1], groups=2); F.conv_transpose1d(line, wide[:2])
F.max_pool1d(line, 2); F.max_pool2d(image, 2); F.max_pool2d(image, 3, 1, 1); F.avg_pool1d(line, 2); F.avg_pool2d(image, 2)
F.avg_pool2d(image, 3, 2, 1); F.adaptive_avg_pool1d(line, 3); F.adaptive_avg_pool2d(image, 2); F.adaptive_avg_pool2d(image, 1)
F.adaptive_max_pool2d(image, 2); F.adaptive_max_pool1d(line, 2); F.lp_pool2d(image.abs(), 2, 2)
F.interpolate(image, scale_factor=2); F.interpolate(image, size=(3, 3), mode='bilinear')
F.interpolate(line, scale_factor=2, mode='linear'); F.interpolate(image, size=7, mode='bicubic')
F.interpolate(image, size=3, mode='area'); F.layer_norm(x, (3,)); F.layer_norm(x, (3,), v, bias)
F.batch_norm(x, None, None, training=True); F.batch_norm(image, zero, two.detach(), two, w, True)
F.batch_norm(image, zero, two.detach(), two, w); F.group_norm(image, 2); F.group_norm(image, 1, two, w); F.instance_norm(image)
F.instance_norm(image, weight=two, bias=w); F.rms_norm(x, (3,)); F.rms_norm(x, (3,), v); F.local_response_norm(image, 2)
F.scaled_dot_product_attention(t, t, t); F.scaled_dot_product_attention(t, t, t, is_causal=True)
F.scaled_dot_product_attention(t, t, t, attn_mask=torch.ones(3, 3))
"""

LOSSES = """
F.mse_loss(x, y); F.mse_loss(x, y, reduction='sum'); F.mse_loss(x, y, reduction='none'); F.l1_loss(x, y); F.smooth_l1_loss(x, y)
F.smooth_l1_loss(x, y, beta=0.5); F.huber_loss(x, y, delta=0.5); F.cross_entropy(x, labels)
F.cross_entropy(x, labels, reduction='sum'); F.cross_entropy(x, labels, weight=v.detach())
F.cross_entropy(x, labels, label_smoothing=0.1); F.cross_entropy(x, probable); F.cross_entropy(x, labels, ignore_index=0)
F.nll_loss(x, labels); F.nll_loss(x, labels, reduction='none'); F.binary_cross_entropy(x, probable); F.binary_cross_entropy(x, y)
F.binary_cross_entropy_with_logits(x, probable); F.binary_cross_entropy_with_logits(x, probable, reduction='sum')
F.kl_div(x, probable); F.kl_div(x, y, reduction='batchmean'); F.kl_div(x, y, log_target=True); F.hinge_embedding_loss(x, signs)
F.soft_margin_loss(x, signs); F.multi_margin_loss(x, labels); F.multilabel_margin_loss(x, rows)
F.multilabel_soft_margin_loss(x, probable); F.margin_ranking_loss(x, y, signs); F.margin_ranking_loss(x, y, signs, margin=0.5)
F.triplet_margin_loss(x, y, x * 2); F.cosine_embedding_loss(x, y, signs[:, 0]); F.poisson_nll_loss(x, probable)
F.poisson_nll_loss(x, probable, log_input=False); F.gaussian_nll_loss(x, probable, y); F.mse_loss(x, probable)
F.l1_loss(x, probable, reduction='none')
"""

COMPLEX = """
z + z; z * z; z * 2; z * 1j; z / z; z ** 2; z.abs(); z.angle(); z.conj(); z.real; z.imag; z.exp(); z.log(); z.sin(); z.sqrt()
z.sgn(); z.sum(); z.mean(); z @ z; torch.complex(x, y); torch.polar(x, y); torch.view_as_real(z); torch.view_as_complex(b)
torch.fft.fft(x); torch.fft.ifft(x); torch.fft.rfft(x); torch.fft.irfft(z); torch.fft.fft2(x); torch.fft.fft(z)
torch.fft.fftshift(x); z.conj() * z; (z * z.conj()).real; z.tanh(); torch.real(z); torch.imag(z); z.reciprocal(); z.neg()
torch.linalg.det(z); torch.linalg.inv(z); x * 1j; z.mH; z.conj_physical()
"""


def split(text: str) -> list[str]:
    return [part.strip() for part in text.replace("\n", "; ").split("; ") if part.strip()]


AREAS = {
    "elementwise": split(ELEMENTWISE), "activations": split(ACTIVATIONS), "reductions": split(REDUCTIONS), "shapes": split(SHAPES),
    "indexing": split(INDEXING), "algebra": split(ALGEBRA), "layers": split(LAYERS), "losses": split(LOSSES), "complex": split(COMPLEX),
}  # fmt: skip

LEAVES = "x, y, v, w, s, m, b, t, q, z, image, line, kernel, turned, wide, bias, two"

OTHERWISE = {
    "torch.special.ndtr(x)", "F.pad(line, (1, 1), mode='circular')", "F.embedding_bag(index[None], b)", "torch.triangular_solve(b, m)[0]",
    "torch.linalg.tensorinv(m, 1)", "z.conj()", "torch.fft.ifft(x)", "z.mH",
}  # fmt: skip
"""Computed by other steps than PyTorch's, or (conjugates) not by a view."""

KEPT_OTHERWISE = {"torch.lu_solve(b, *torch.linalg.lu_factor(m))"}
"""Two nodes keep the pivots; PyTorch's keep one tensor."""

RULED_OTHERWISE = set(
    split("""
x ** y; x ** v; x ** s; x // 2; x.asin(); x.acos(); x.asinh(); (x + 1).acosh(); x.atanh(); x.logit(); torch.logit(x, 1e-3); x.sgn()
x.erf(); x.erfc(); x.erfinv(); torch.mvlgamma(x + 2, 2); torch.special.i1(x); torch.special.i1e(x); x.sinc(); torch.special.entr(x)
torch.special.ndtr(x); torch.special.ndtri(x); torch.special.log_ndtr(x); torch.special.erfcx(x); torch.xlogy(x, y)
torch.special.xlog1py(x, y); torch.special.zeta(x + 2, 3.0); torch.atan2(x, y); torch.copysign(x, y); torch.copysign(x, -1.0)
torch.heaviside(x - 0.5, y); x.nan_to_num(); x.nan_to_num(1.0); torch.float_power(x, y); F.silu(x); F.mish(x); F.hardsigmoid(x)
F.rrelu(x); F.normalize(x); F.normalize(x, dim=0); x.prod(); x.prod(1); x.prod(-1, keepdim=True); x.amax(1); x.amin((0, 1)); x.amax()
x.aminmax()[0]; x.var(); x.var(1); x.var(0, unbiased=False); x.std(); x.std(1); x.std(1, keepdim=True); x.var(correction=0)
torch.var_mean(x, 1)[0]; x.norm(); x.norm(2, 1); x.norm(1); x.norm(3, dim=1); x.norm(p=float('inf')); x.norm(2, -1, True)
torch.linalg.norm(x); torch.linalg.vector_norm(x, 3); torch.linalg.vector_norm(x, dim=1); torch.linalg.matrix_norm(x)
torch.linalg.norm(x, dim=1); torch.linalg.norm(x, 1); x.cumprod(1); x.logcumsumexp(1); torch.dist(x, y); torch.dist(x, y, 1)
x.nansum(); x.nansum(1); x.nanmean(); x.renorm(2, 0, 0.5); x.trace(); torch.trace(m); x.repeat(2, 1); x.repeat(1, 2, 1); x.tile(2)
torch.block_diag(x, y); x.as_strided((2, 2), (3, 1)); F.pad(line, (1, 1), mode='circular'); x.take(index); x.masked_fill(mask, s)
x.index_add(1, index, y[:, :2]); x.index_copy(1, index, y[:, :2]); x.masked_scatter(mask, y); x.scatter_reduce(1, rows, y, 'amax')
x.scatter_reduce(1, rows, y, 'mean'); F.embedding_bag(index[None], b); torch.det(m); torch.logdet(m); torch.slogdet(m)[1]
torch.linalg.solve(m, b); torch.linalg.cholesky(m); torch.linalg.solve(m, v); torch.cholesky_solve(b, torch.linalg.cholesky(m))
torch.cholesky_inverse(torch.linalg.cholesky(m)); torch.pinverse(x); torch.linalg.pinv(x)
torch.linalg.solve_triangular(m.tril(), b, upper=False); torch.triangular_solve(b, m)[0]; torch.linalg.qr(m)[0]; torch.linalg.qr(m)[1]
torch.linalg.svd(x)[1]; torch.linalg.lu(m)[1]; torch.linalg.lstsq(m, b)[0]; torch.linalg.lu_factor(m)[0]; torch.linalg.matrix_exp(m)
torch.matrix_exp(m); torch.cdist(x, y); torch.cdist(x, y, 1.0); F.cosine_similarity(x, y); F.pairwise_distance(x, y)
torch.linalg.matrix_norm(m, 'nuc'); torch.linalg.matrix_norm(m, 2); torch.linalg.cond(m); torch.linalg.norm(m, 'nuc')
torch.lu_solve(b, *torch.linalg.lu_factor(m)); torch.linalg.tensorsolve(m, v); torch.linalg.vander(v)
F.batch_norm(image, zero, two.detach(), two, w, True); F.group_norm(image, 2); F.group_norm(image, 1, two, w)
F.instance_norm(image, weight=two, bias=w); F.binary_cross_entropy(x, y); F.binary_cross_entropy_with_logits(x, probable)
F.binary_cross_entropy_with_logits(x, probable, reduction='sum'); F.kl_div(x, y, reduction='batchmean')
F.kl_div(x, y, log_target=True); F.multi_margin_loss(x, labels); F.multilabel_margin_loss(x, rows); F.triplet_margin_loss(x, y, x * 2)
F.cosine_embedding_loss(x, y, signs[:, 0]); z.angle(); z.conj(); z.sgn(); torch.complex(x, y); torch.polar(x, y); torch.fft.ifft(x)
torch.fft.rfft(x); torch.fft.irfft(z); torch.fft.fft2(x); torch.linalg.det(z); z.mH
""")
)
"""Derivatives written in another way: to keep digits that PyTorch's loses, to be finite where its are not, or by fewer steps."""
