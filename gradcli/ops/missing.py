"""What PyTorch has and gradcli has not, each with the reason: for `gradcli ops --missing`, and for a program that names it.

A test holds the table of operations against the vocabulary.
"""

from __future__ import annotations

import os
from functools import cache

GROUPS: tuple[tuple[str, str], ...] = (
    (
        "a copying twin of a view: take the view, and .clone() it",
        "alias_copy as_strided_copy expand_copy narrow_copy permute_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy "
        "unbind_copy unfold_copy unsqueeze_copy view_copy",
    ),
    (
        "an internal form of PyTorch's, which programs do not call",
        "_batch_norm_with_update _native_batch_norm_legit _segment_reduce _softmax_backward_data _unsafe_masked_index "
        "_unsafe_masked_index_put_accumulate _upsample_bilinear2d_aa grid_sampler_2d grid_sampler_3d max_pool2d_with_indices_backward "
        "native_dropout_backward torch.ops.aten._safe_softmax.default unsafe_chunk unsafe_split",
    ),
    (
        "an operator: write the operator itself, x + 1 or x[i]",
        "__getitem__ __radd__ __rdiv__ __rmatmul__ __rmod__ __rmul__ __rpow__ __rsub__",
    ),
    ("its dtype has too few digits for a check of gradients: use float64 or float32", "bfloat16 chalf"),
    (
        "a prototype of PyTorch's: write torch.where(mask, x, ...) and reduce that",
        "masked.amax masked.amin masked.cumprod masked.cumsum masked.log_softmax masked.logaddexp masked.logsumexp masked.mean "
        "masked.median masked.norm masked.normalize masked.prod masked.softmax masked.softmin masked.std masked.sum masked.var",
    ),
    ("tensors are dense here: its gradient is that of the dense form", "sparse.mm sparse.sampled_addmm to_sparse"),
    (
        "no pooling and no transposed convolution over three axes, and no unpooling yet",
        "nn.functional.adaptive_avg_pool3d nn.functional.adaptive_max_pool3d nn.functional.avg_pool3d nn.functional.conv_transpose3d "
        "nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d nn.functional.max_pool3d nn.functional.max_unpool1d "
        "nn.functional.max_unpool2d nn.functional.max_unpool3d",
    ),
    (
        "draws at random inside; dropout is there, and x * mask says what is meant",
        "nn.functional.alpha_dropout nn.functional.feature_alpha_dropout pca_lowrank svd_lowrank",
    ),
    ("deprecated: call interpolate with a mode", "nn.functional.upsample_bilinear nn.functional.upsample_nearest"),
    (
        "a layer of many operations, not written yet: it can be written with those that are there",
        "nn.functional.ctc_loss nn.functional.linear_cross_entropy nn.functional.multi_head_attention_forward stft",
    ),
    ("eigenvectors of matrices that are not symmetric have no gradient of their own (phases); eigh is there", "linalg.eig linalg.eigvals"),
    ("products of Householder reflections, not written yet: qr gives the matrix itself", "linalg.householder_product ormqr"),
    ("of the factors that lu gives; linalg.lu gives them unpacked", "lu_unpack"),
    ("of Hermitian signals over several axes, not written yet: hfft and ihfft are there", "fft.hfft2 fft.hfftn fft.ihfft2 fft.ihfftn"),
    ("not written yet: assign to a view of a clone instead", "as_strided_scatter"),
    ("takes numbers apart in their binary form, which is no formula: divide by 2.0**k", "frexp"),
    ("a step in the last place of a number, which rounding decides: add eps", "nextafter"),
)

MISSING: dict[str, str] = {name: reason for reason, names in GROUPS for name in names.split()}
"""Name, as PyTorch's own list of operations spells it -> the reason."""

FORMS: dict[str, str] = {
    "torch.nn.functional.interpolate(ones(1, 1, 2), size=4, mode='linear', antialias=True)": "antialias=True is not written yet",
    "torch.nn.functional.rrelu(ones(2), training=True)": "draws at random; training=False has the mean slope",
    "torch.combinations(ones(2), 33)": "more than 32 elements of a vector at once",
    "torch.polygamma(170, ones(2))": "factorials above 170! are infinite",
}
"""Calls of operations that are there, with arguments that they do not take here -> the reason."""

AREAS: tuple[tuple[str, str], ...] = (
    (
        "it prepares programs for other machinery, and gradcli interprets them: call the function as it is",
        "torch.jit torch.onnx torch.export torch.fx torch.compiler torch.package torch.library torch.ops torch.classes torch.overrides "
        "torch.Script torch.Graph torch.func.functionalize torch.utils.cpp",
    ),
    (
        "gradcli computes on the CPU in one process: leave it out",
        "torch.cuda torch.xpu torch.mps torch.mtia torch.accelerator torch.backends torch.distributed torch.multiprocessing torch.futures "
        "torch.cudnn torch.miopen torch.mkldnn torch.fbgemm torch.Stream torch.Event torch.nn.DataParallel torch.nn.parallel torch.fork "
        "torch.wait torch.Tensor.share_memory torch.Tensor.pin_memory torch.Tensor.is_pinned torch.Tensor.xpu torch.Tensor.hpu",
    ),
    (
        "gradcli reads no file but numbers beside the program, and writes none: load('data.npy')",
        "torch.save torch.load torch.hub torch.utils.data torch.from_file torch.serialization torch.profiler torch.autograd.profiler "
        "torch.utils.collect_env torch.Storage torch.FloatStorage torch.UntypedStorage torch.Tensor.storage torch.Tensor.untyped_storage",
    ),
    (
        "it draws and scores at random: write the log-density out, and draw with randn or rand",
        "torch.distributions torch.poisson torch.binomial torch.quasirandom torch.Tensor.cauchy_ torch.Tensor.geometric_ "
        "torch.Tensor.log_normal_ torch.Tensor.multinomial torch.nn.AlphaDropout torch.nn.FeatureAlphaDropout torch.nn.functional.gumbel",
    ),
    (
        "tensors are dense here, of float64, float32, complex numbers, integers and truth values",
        "torch.GradScaler torch.Tensor.bfloat16 torch.Tensor.coalesce torch.Tensor.crow torch.Tensor.indices torch.Tensor.is_sparse "
        "torch.Tensor.q_ torch.Tensor.sparse torch.Tensor.to_mkldnn torch.Tensor.to_sparse torch.Tensor.values torch.amp torch.ao "
        "torch.autocast torch.bfloat16 torch.bits torch.chalf torch.complex32 torch.dequantize torch.dsmm torch.fake torch.float4 "
        "torch.float8 torch.hs torch.int1 torch.int2 torch.int3 torch.int4 torch.int5 torch.int6 torch.int7 torch.int_repr "
        "torch.nested torch.nn.intrinsic torch.nn.q torch.per_ torch.q torch.quantization torch.quantize torch.smm torch.sparse "
        "torch.spmm torch.sspaddmm torch.uint",
    ),
    (
        "recurrent and attention layers are not built in: write the recurrence with matmul, tanh and sigmoid",
        "torch.nn.RNN torch.nn.LSTM torch.nn.GRU torch.nn.Transformer torch.nn.MultiheadAttention torch.rnn torch.lstm torch.gru "
        "torch.nn.utils.rnn torch.nn.attention",
    ),
    (
        "this layer is not built in: call its function in torch.nn.functional with parameters of your own",
        "torch.nn",
    ),
    (
        "not written yet: write it with the functions that are there",
        "torch.nn.functional",
    ),
    (
        "SGD, Adam, AdamW, RMSprop, Adagrad and Adadelta are there: write another update by hand inside `with torch.no_grad():`",
        "torch.optim",
    ),
    (
        "set the rate by hand: `for group in optimizer.param_groups: group['lr'] = ...`",
        "torch.optim.lr_scheduler",
    ),
)
"""The reason, and the beginnings of full names that it holds for; the longest beginning counts."""


@cache
def public() -> dict[str, frozenset[str]]:
    """Module of PyTorch 2.13 -> its public names; `torch.Tensor` has the methods and attributes of tensors."""
    with open(os.path.join(os.path.dirname(__file__), "pytorch.txt"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    return {module: frozenset(names.split()) for module, _, names in (line.partition(":") for line in lines)}


def why_missing(module: str, name: str) -> str | None:
    """Why a name of a module of PyTorch is not there; None where PyTorch has no such name either."""
    if name not in public().get(module, ()):
        return None
    full = f"{module}.{name}"
    for known in (full.removeprefix("torch."), name, name.removesuffix("_")):
        if known in MISSING:
            return MISSING[known]
    found = [(len(start), reason) for reason, starts in AREAS for start in starts.split() if full.startswith(start)]
    return max(found)[1] if found else "not written yet: write it with the operations that are there"
