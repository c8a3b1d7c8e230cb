"""The works the catalogue cites, so that each is spelled once."""

from derive.records import Source

TRANSCRIPT = "https://www.dwarkesh.com/p/reiner-pope"
LECTURE = "The math behind how LLMs are trained and served"
LECTURER = "Reiner Pope, with Dwarkesh Patel"


def talk(start: str, end: str, said: str, encoded: str = "") -> Source:
    """The lecture of 29 April 2026, by video time h:mm:ss."""
    return Source("talk", LECTURE, LECTURER, TRANSCRIPT, said, start=_seconds(start), end=_seconds(end), encoded=encoded)


def flashcard(card: str, said: str, encoded: str = "") -> Source:
    """One of the 27 flashcards published with the lecture, by its number, or by its subject where we have no number."""
    return Source(
        "web", "Flashcards for the Reiner Pope lecture", "Dwarkesh Patel", "https://reiner-flashcards.vercel.app",
        said, page=card, encoded=encoded,
    )  # fmt: skip


def scaling_book(said: str, encoded: str = "") -> Source:
    """The 2026 continuation of the JAX scaling book, on serving DeepSeek-V3."""
    return Source(
        "book", "How to Scale Your Model, section 16: Serving DeepSeek-V3", "JAX scaling book authors",
        "https://jax-ml.github.io/scaling-book", said, page="section 16", encoded=encoded,
    )  # fmt: skip


def scaling_book_inference(said: str, encoded: str = "") -> Source:
    """The chapter of the JAX scaling book on inference."""
    return Source(
        "book", "How to Scale Your Model, section 7: All About Transformer Inference", "Jacob Austin et al.",
        "https://jax-ml.github.io/scaling-book/inference", said, page="section 7, general step time", year=2025, encoded=encoded,
    )  # fmt: skip


def scaling_book_training(said: str, encoded: str = "") -> Source:
    """The chapter of the JAX scaling book on training."""
    return Source(
        "book", "How to Parallelize a Transformer for Training (How to Scale Your Model, section 5)", "Jacob Austin et al.",
        "https://jax-ml.github.io/scaling-book/training", said, page="section 5, data parallelism and FSDP", year=2025, encoded=encoded,
    )  # fmt: skip


def ours(said: str) -> Source:
    """A result worked out for this project; the derivation is the citation."""
    return Source("derivation", "Derived for backsolve", "The backsolve maintainers", "", said, page="this entry")


ROOFLINE_PAPER = Source(
    "paper", "Roofline: an insightful visual performance model for multicore architectures",
    "Samuel Williams, Andrew Waterman, David Patterson", "https://doi.org/10.1145/1498765.1498785",
    "attainable speed is bounded by the slower of arithmetic and memory traffic", page="figure 1", year=2009,
)  # fmt: skip
GQA_PAPER = Source(
    "paper", "GQA: Training generalized multi-query transformer models from multi-head checkpoints",
    "Joshua Ainslie et al.", "https://arxiv.org/abs/2305.13245",
    "groups of query heads share one key and one value head", page="section 2.2", year=2023,
)  # fmt: skip
MLA_PAPER = Source(
    "paper", "DeepSeek-V2: a strong, economical, and efficient mixture-of-experts language model",
    "DeepSeek-AI", "https://arxiv.org/abs/2405.04434",
    "keys and values are compressed into one latent, with a shared rotary key beside it", page="section 2.1", year=2024,
)  # fmt: skip
DSA_PAPER = Source(
    "paper", "DeepSeek-V3.2: pushing the frontier of open large language models", "DeepSeek-AI", "https://arxiv.org/abs/2512.02556",
    "an indexer scores every preceding token by a small key of its own, and attention reads only the entries that score best",
    page="section 2.1", year=2025,
)  # fmt: skip
COMPRESSED_DOCS = Source(
    "web", "Transformers documentation: DeepSeek-V4", "Hugging Face",
    "https://huggingface.co/docs/transformers/main/model_doc/deepseek_v4",
    "a window in every layer; beside it compressed entries chosen by an indexer, or far more compressed ones all read",
    page="Architecture: hybrid attention",
)  # fmt: skip
MSA_CONFIG = Source(
    "web", "Configuration of MiniMax-M3", "MiniMaxAI", "https://huggingface.co/MiniMaxAI/MiniMax-M3",
    "grouped-query attention whose sparse layers keep index keys and read the best blocks of tokens",
    page="config.json, sparse_attention_config",
)  # fmt: skip
UNEQUAL_CONFIG = Source(
    "web", "Configuration of MiMo-V2-Flash", "XiaomiMiMo", "https://huggingface.co/XiaomiMiMo/MiMo-V2-Flash",
    "keys and values of different width, windowed layers with KV heads of their own",
    page="config.json, head_dim, v_head_dim and swa_*", year=2025,
)  # fmt: skip
WINDOW_PAPER = Source(
    "paper", "Mistral 7B", "Albert Q. Jiang et al.", "https://arxiv.org/abs/2310.06825",
    "attention over the last W tokens needs a cache of W tokens, overwritten in turn", page="section 2", year=2023,
)  # fmt: skip
LINEAR_PAPER = Source(
    "paper", "Transformers are RNNs: fast autoregressive transformers with linear attention", "Angelos Katharopoulos et al.",
    "https://arxiv.org/abs/2006.16236", "keys and values add up in a matrix of fixed size that stands for the whole past",
    page="section 3.4", year=2020,
)  # fmt: skip
EPOCH_PAPER = Source(
    "paper", "Inference economics of language models", "Ege Erdil", "https://arxiv.org/abs/2506.04645",
    "the least time per token balances reading the weights on many chips against hopping between them",
    page="minimum latency, L layers of n hops each, p bytes a parameter", year=2025,
)  # fmt: skip
GPIPE_PAPER = Source(
    "paper", "GPipe: efficient training of giant neural networks using pipeline parallelism", "Yanping Huang et al.",
    "https://arxiv.org/abs/1811.06965", "the bubble of K stages and M microbatches takes (K - 1)/(M + K - 1) of the time",
    page="section 2.3", year=2018,
)  # fmt: skip
TENSOR_PARALLEL_PAPER = Source(
    "paper", "Megatron-LM: training multi-billion parameter language models using model parallelism",
    "Mohammad Shoeybi et al.", "https://arxiv.org/abs/1909.08053",
    "a forward pass adds up over all chips twice a layer: after attention and after the feed-forward part", page="section 3", year=2019,
)  # fmt: skip
MEGATRON_PAPER = Source(
    "paper", "Efficient large-scale language model training on GPU clusters using Megatron-LM", "Deepak Narayanan et al.",
    "https://arxiv.org/abs/2104.04473", "v runs of layers a device cut the time of the bubble, over that of the work, by v",
    page="section 2.2.2", year=2021, encoded="over the whole schedule, work and bubble, as for the schedules without interleaving",
)  # fmt: skip
MOE_PAPER = Source(
    "paper", "Outrageously large neural networks: the sparsely-gated mixture-of-experts layer", "Noam Shazeer et al.",
    "https://arxiv.org/abs/1701.06538", "each token goes to its k best of many experts", page="section 2", year=2017,
)  # fmt: skip
SWITCH_PAPER = Source(
    "paper", "Switch transformers: scaling to trillion parameter models with simple and efficient sparsity",
    "William Fedus, Barret Zoph, Noam Shazeer", "https://arxiv.org/abs/2101.03961",
    "expert capacity is tokens over experts times a capacity factor; tokens beyond it are passed on undone",
    page="section 2.2, equation 3", year=2021,
)  # fmt: skip
DEEPSEEK_V3_PAPER = Source(
    "paper", "DeepSeek-V3 technical report", "DeepSeek-AI", "https://arxiv.org/abs/2412.19437",
    "each token is sent to a limited number of nodes; it crosses once to a node and is forwarded there to its experts",
    page="sections 2.1.2 and 3.2.2", year=2024,
)  # fmt: skip
CHINCHILLA_PAPER = Source(
    "paper", "Training compute-optimal large language models", "Jordan Hoffmann et al.", "https://arxiv.org/abs/2203.15556",
    "model size and tokens should grow together; loss is a sum of powers of both", page="section 3.3", year=2022,
)  # fmt: skip
CHINCHILLA_LAW = Source(
    "paper", "Training compute-optimal large language models", "Jordan Hoffmann et al.", "https://arxiv.org/abs/2203.15556",
    "size and tokens of least loss are powers of the budget", page="equation 4", year=2022,
)  # fmt: skip
CHINCHILLA_TABLE = Source(
    "paper", "Training compute-optimal large language models", "Jordan Hoffmann et al.", "https://arxiv.org/abs/2203.15556",
    "two of the three approaches make size and tokens grow alike, at about twenty tokens a parameter",
    page="sections 3.1 and 3.2, table 3", year=2022,
    encoded="one number for all budgets; the paper's parametric fit asks for several times as many tokens",
)  # fmt: skip
KAPLAN_PAPER = Source(
    "paper", "Scaling laws for neural language models", "Jared Kaplan et al.", "https://arxiv.org/abs/2001.08361",
    "forward FLOPs of a token: two a parameter, and two a layer, token of context and unit of attention width",
    page="equation 2.2", year=2020,
)  # fmt: skip
PALM_PAPER = Source(
    "paper", "PaLM: scaling language modeling with pathways", "Aakanksha Chowdhery et al.", "https://arxiv.org/abs/2204.02311",
    "training FLOPs of a token: six a parameter, and twelve a layer, unit of attention width and token of context",
    page="appendix B", year=2022, encoded="half of its attention: a causal token sees half of its sequence on average",
)  # fmt: skip
ZERO_PAPER = Source(
    "paper", "ZeRO: memory optimizations toward training trillion parameter models", "Samyam Rajbhandari et al.",
    "https://arxiv.org/abs/1910.02054", "states of mixed-precision Adam, and what is left of them a device as they are partitioned",
    page="sections 3.1 and 5, figure 1", year=2019,
)  # fmt: skip
RECOMPUTATION_PAPER = Source(
    "paper", "Reducing activation recomputation in large transformer models", "Vijay Korthikanti et al.",
    "https://arxiv.org/abs/2205.05198", "bytes of activations of a transformer layer, with and without its scores, and on the first stage",
    page="section 4", year=2022,
)  # fmt: skip
CHECKPOINT_PAPER = Source(
    "paper", "Training deep nets with sublinear memory cost", "Tianqi Chen et al.", "https://arxiv.org/abs/1604.06174",
    "some activations are kept and the others computed again, at the price of one more forward pass", page="section 4", year=2016,
)  # fmt: skip
REPLICATION_PAPER = Source(
    "paper", "Chinchilla scaling: a replication attempt", "Tamay Besiroglu et al.", "https://arxiv.org/abs/2404.10102",
    "the same law fitted again to the points of the figures gives other coefficients", page="abstract and table 1", year=2024,
)  # fmt: skip
REVNET_PAPER = Source(
    "paper", "The reversible residual network: backpropagation without storing activations", "Aidan Gomez et al.",
    "https://arxiv.org/abs/1707.04585", "each layer's input can be computed from its output", page="section 3", year=2017,
)  # fmt: skip
CHUNKED_PREFILL_PAPER = Source(
    "paper", "Taming throughput-latency tradeoff in LLM inference with Sarathi-Serve", "Amey Agrawal et al.",
    "https://arxiv.org/abs/2403.02310", "prompts are cut into chunks that share a pass with decoding sequences",
    page="section 4", year=2024,
)  # fmt: skip
SPECULATIVE_PAPER = Source(
    "paper", "Fast inference from transformers via speculative decoding", "Yaniv Leviathan, Matan Kalman, Yossi Matias",
    "https://arxiv.org/abs/2211.17192", "expected tokens of a run, and the improvement in walltime, by acceptance rate and cost of a draft",
    page="equation 1 and theorem 3.8", year=2023,
)  # fmt: skip
DISTSERVE_PAPER = Source(
    "paper", "DistServe: disaggregating prefill and decoding for goodput-optimized large language model serving",
    "Yinmin Zhong et al.", "https://arxiv.org/abs/2401.09670", "prefill and decode run on chips of their own, sized apart",
    page="section 4", year=2024,
)  # fmt: skip
SPLITWISE_PAPER = Source(
    "paper", "Splitwise: efficient generative LLM inference using phase splitting", "Pratyush Patel et al.",
    "https://arxiv.org/abs/2311.18677", "a pool of machines for each phase, with the cache sent between them", page="section 4", year=2023,
)  # fmt: skip


KAPLAN_PAPER = Source(
    "paper", "Scaling laws for neural language models", "Jared Kaplan et al.", "https://arxiv.org/abs/2001.08361",
    "a forward pass takes two FLOPs a parameter, and what attention takes for each token of context besides",
    page="equation 2.2 and table 1", year=2020, encoded="with the causal half, and with the tokens cached before",
)  # fmt: skip
PALM_PAPER = Source(
    "paper", "PaLM: scaling language modeling with pathways", "Aakanksha Chowdhery et al.", "https://arxiv.org/abs/2204.02311",
    "FLOPs of a token: those of the weights, and those of attention by layers, heads, head width and sequence length",
    page="appendix B", year=2022,
)  # fmt: skip
WAREHOUSE_BOOK = Source(
    "book", "The datacenter as a computer: designing warehouse-scale machines, third edition",
    "Luiz Andre Barroso, Urs Hoelzle, Parthasarathy Ranganathan", "https://doi.org/10.2200/S00874ED3V01Y201809CAC046",
    "what a server costs in an hour: its price over its life, and its power with that of the building, at the price of electricity",
    page="chapter 6", year=2018,
)  # fmt: skip


def _seconds(text: str) -> int:
    hours, minutes, seconds = (int(part) for part in text.split(":"))
    return 3600 * hours + 60 * minutes + seconds
