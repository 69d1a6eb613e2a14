"""What PyTorch has and gradcli has not, each with the reason, for `gradcli ops --missing`. A test holds it against the vocabulary."""

from __future__ import annotations

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
        "nn.functional.ctc_loss nn.functional.grid_sample nn.functional.linear_cross_entropy nn.functional.multi_head_attention_forward "
        "nn.functional.triplet_margin_with_distance_loss stft",
    ),
    ("eigenvectors of matrices that are not symmetric have no gradient of their own (phases); eigh is there", "linalg.eig linalg.eigvals"),
    ("products of Householder reflections, not written yet: qr gives the matrix itself", "linalg.householder_product ormqr"),
    ("of the factors that lu gives; linalg.lu gives them unpacked", "lu_unpack"),
    ("of Hermitian signals over several axes, not written yet: hfft and ihfft are there", "fft.hfft2 fft.hfftn fft.ihfft2 fft.ihfftn"),
    ("not written yet: assign to a view of a clone instead", "as_strided_scatter"),
    ("takes numbers apart in their binary form, which is no formula: divide by 2.0**k", "frexp"),
    ("a step in the last place of a number, which rounding decides: add eps", "nextafter"),
    ("only in place: x.fill_(v)", "fill"),
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
