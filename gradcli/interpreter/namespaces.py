"""Which names of PyTorch's live in which of its modules."""

from __future__ import annotations

FUNCTIONAL = frozenset(
    {
        "relu", "relu6", "leaky_relu", "elu", "selu", "celu", "gelu", "silu", "mish", "softplus", "softsign", "hardsigmoid", "hardswish",
        "hardtanh", "hardshrink", "softshrink", "tanhshrink", "threshold", "logsigmoid", "sigmoid", "tanh", "softmax", "log_softmax",
        "softmin", "glu", "prelu", "rrelu", "normalize", "dropout", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cross_entropy",
        "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div", "hinge_embedding_loss", "margin_ranking_loss",
        "soft_margin_loss", "cosine_embedding_loss", "cosine_similarity", "pairwise_distance", "triplet_margin_loss", "poisson_nll_loss",
        "gaussian_nll_loss", "multilabel_soft_margin_loss", "multi_margin_loss", "multilabel_margin_loss", "linear", "bilinear",
        "embedding", "one_hot", "layer_norm", "group_norm", "batch_norm", "instance_norm", "rms_norm", "local_response_norm", "conv1d",
        "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d",
        "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool1d", "adaptive_max_pool2d", "lp_pool1d", "lp_pool2d", "pad",
        "interpolate", "upsample", "grid_sample", "affine_grid", "pixel_shuffle", "pixel_unshuffle", "unfold", "fold",
        "scaled_dot_product_attention", "gumbel_softmax", "pdist", "relu_", "channel_shuffle", "dropout1d", "dropout2d", "dropout3d",
        "embedding_bag", "triplet_margin_with_distance_loss",
    }
)  # fmt: skip

FUNCTIONAL_ONLY = FUNCTIONAL - {
    "relu", "selu", "celu", "sigmoid", "tanh", "softmax", "log_softmax", "threshold", "prelu", "rrelu", "dropout", "cosine_similarity",
    "pairwise_distance", "triplet_margin_loss", "kl_div", "hinge_embedding_loss", "margin_ranking_loss", "cosine_embedding_loss",
    "poisson_nll_loss", "binary_cross_entropy_with_logits", "bilinear", "embedding", "layer_norm", "group_norm", "batch_norm",
    "instance_norm", "rms_norm", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "max_pool1d", "max_pool2d",
    "avg_pool1d", "adaptive_avg_pool1d", "adaptive_max_pool1d", "pixel_shuffle", "pixel_unshuffle", "pdist", "relu_", "channel_shuffle",
    "hardshrink", "embedding_bag",
}  # fmt: skip
"""Those that `torch` itself does not have."""

LINALG = frozenset(
    {
        "norm", "vector_norm", "matrix_norm", "det", "slogdet", "inv", "pinv", "solve", "solve_triangular", "cholesky", "qr", "eigh",
        "eigvalsh", "svd", "svdvals", "matrix_power", "matrix_exp", "matrix_rank", "multi_dot", "cross", "diagonal", "matmul", "vecdot",
        "lstsq", "cond", "tensorsolve", "tensorinv", "vander", "eig", "eigvals", "householder_product", "lu", "lu_factor",
    }
)  # fmt: skip

SPECIAL = frozenset(
    {
        "bessel_j0", "bessel_j1", "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc",
        "gammaln", "i0", "i0e", "i1", "i1e", "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp", "multigammaln", "ndtr", "ndtri",
        "polygamma", "psi", "round", "sinc", "softmax", "xlog1py", "xlogy", "zeta", "scaled_modified_bessel_k0",
    }
)  # fmt: skip

SPECIAL_SPELLINGS = {
    "expit": "sigmoid", "gammaln": "lgamma", "psi": "digamma", "multigammaln": "mvlgamma", "gammainc": "igamma", "gammaincc": "igammac",
}  # fmt: skip

FFT = frozenset(
    {"fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn", "fftshift",
     "ifftshift", "fftfreq", "rfftfreq"}
)  # fmt: skip

INPLACE = frozenset(
    {
        "abs", "absolute", "acos", "acosh", "add", "addbmm", "addcdiv", "addcmul", "addmm", "addmv", "addr", "arccos", "arcsin", "arctan",
        "asin", "asinh", "atan", "atan2", "atanh", "baddbmm", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "ceil", "clamp",
        "clamp_max", "clamp_min", "clip", "conj_physical", "copysign", "cos", "cosh", "cumprod", "cumsum", "deg2rad", "digamma", "div",
        "divide", "eq", "erf", "erfc", "erfinv", "exp", "exp2", "expm1", "fix", "float_power", "floor", "floor_divide", "fmod", "frac",
        "ge", "greater", "gt", "hypot", "i0", "index_fill", "ldexp", "le", "lerp", "less", "lgamma", "log", "log10", "log1p", "log2",
        "logical_and", "logical_not", "logical_or", "logical_xor", "logit", "lt", "masked_fill", "masked_scatter", "mul", "multiply",
        "mvlgamma", "nan_to_num", "ne", "neg", "negative", "not_equal", "polygamma", "pow", "put", "rad2deg", "reciprocal", "relu",
        "remainder", "renorm", "round", "rsqrt", "scatter", "scatter_add", "scatter_reduce", "sgn", "sigmoid", "sign", "sin", "sinc",
        "sinh", "sqrt", "square", "sub", "subtract", "tan", "tanh", "tril", "triu", "true_divide", "trunc", "xlogy", "index_add",
        "index_copy", "index_put", "copy", "fill", "zero", "arccosh", "arcsinh", "arctanh",
        "arctan2", "greater_equal", "less_equal", "igamma", "igammac", "index_reduce",
    }
)  # fmt: skip
"""The methods that have an in-place form `name_`."""

TORCH_IN_PLACE = frozenset(
    {
        "abs", "acos", "acosh", "addmv", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "asin", "asinh", "atan", "atanh",
        "ceil", "celu", "clamp", "clamp_max", "clamp_min", "clip", "conj_physical", "cos", "cosh", "deg2rad", "erf", "erfc", "exp", "exp2",
        "expm1", "fill", "fix", "floor", "frac", "i0", "index_put", "ldexp", "log", "log10", "log1p", "log2", "logit", "nan_to_num", "neg",
        "negative", "rad2deg", "reciprocal", "relu", "round", "rsqrt", "selu", "sigmoid", "sin", "sinc", "sinh", "sqrt", "square", "tan",
        "tanh", "threshold", "trunc", "xlogy", "zero",
    }
)  # fmt: skip
FUNCTIONAL_IN_PLACE = frozenset({"relu", "elu", "celu", "selu", "leaky_relu", "hardtanh", "threshold"})
"""The methods that `torch` and `torch.nn.functional` have as functions in place: `torch.relu_(x)`."""

FUNCTIONS_ONLY = (FUNCTIONAL - {"relu", "sigmoid", "tanh", "softmax", "log_softmax", "prelu", "hardshrink", "relu_", "unfold"}) | {
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_tensors", "bucketize", "cartesian_prod", "cdist", "chain_matmul",
    "combinations", "complex", "cumulative_trapezoid", "einsum", "gradient", "isin", "meshgrid", "polar", "searchsorted", "std_mean",
    "tensordot", "trapezoid", "trapz", "vander", "var_mean",
}  # fmt: skip
"""Functions of `torch` that are no methods of tensors."""

ELSEWHERE = frozenset(
    {
        "expand", "cbrt", "xlog1py", "erfcx", "ndtr", "log_ndtr", "ndtri", "zeta", "gammaln", "i1", "i0e", "i1e", "vecdot", "view",
        "reshape_as", "view_as", "expand_as", "contiguous", "expand_dims", "sum_to_size", "repeat", "to", "byte", "char", "type_as",
        "astype", "uniform",
    }
)  # fmt: skip
"""What is no member of `torch` itself: methods, and names of other modules and of NumPy, which programs reach bare too."""

FUNCTIONS_ONLY |= (ELSEWHERE & {"cbrt", "xlog1py", "erfcx", "ndtr", "log_ndtr", "ndtri", "zeta", "gammaln", "i1", "i0e", "i1e", "vecdot",
                                "expand_dims", "astype"}) | {
    "rsub", "view_as_real", "view_as_complex", "convolution", "native_layer_norm", "native_batch_norm", "native_group_norm",
    "diagonal_copy", "constant_pad_nd", "fill",
}  # fmt: skip

INTERNAL = frozenset(
    {
        "add_number", "alias", "axis_map", "batch_norm_eval", "circular_pad", "col2im", "convolution_input", "convolution_weight", "copy",
        "div_number", "embed", "entr", "expit", "exponential", "fft_c2c", "fft_c2r", "fft_r2c", "gathering", "im2col", "index",
        "linalg_info", "linalg_vector_norm", "lu_compact", "matrix_transpose", "max_all", "max_dim", "max_pool", "median_dim", "min_all",
        "min_dim", "mul_number", "nanmedian_dim", "pooled", "power", "put_along", "recurrence", "reflection_pad", "replication_pad",
        "reshape_alias", "reverse_axes", "shift", "slice", "sub_number", "take_at", "trilinear", "unindex", "unsafe_view",
        "unstack", "upsampled",
        "view_as_shape", "zero",
    }
)  # fmt: skip
"""Operations that rules are written with and that PyTorch does not have under this name."""
