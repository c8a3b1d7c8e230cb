"""The works that the catalogue cites."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date

from derive.records import Source

TRANSCRIPT = "https://www.dwarkesh.com/p/reiner-pope"
_VIDEO = "https://youtu.be/xmkSf5IS-zw"
_LECTURE = "The math behind how LLMs are trained and served"
_LECTURER = "Reiner Pope, with Dwarkesh Patel"
_DAY_OF_LECTURE = date(2026, 4, 29)


def talk(start: str, end: str, said: str, encoded: str = "") -> Source:
    """Return the lecture of 29 April 2026 as a source, by video time h:mm:ss."""
    first, last = (3600 * int(h) + 60 * int(m) + int(s) for h, m, s in (one.split(":") for one in (start, end)))
    return Source(
        kind="talk", title=_LECTURE, author=_LECTURER, url=TRANSCRIPT, said=said, start=first, end=last, encoded=encoded, video=_VIDEO,
        published=_DAY_OF_LECTURE,
    )  # fmt: skip


def flashcard(card: str, said: str, encoded: str = "") -> Source:
    """Return one of the 27 flashcards published with the lecture, by its number, or by its subject if the number is unknown."""
    return Source(
        kind="web",
        title="Flashcards for the Reiner Pope lecture",
        author="Dwarkesh Patel",
        url="https://reiner-flashcards.vercel.app",
        said=said,
        page=card,
        encoded=encoded,
    )


def _chapter(title: str, path: str, place: str, author: str = "Jacob Austin et al.", year: int = 2025) -> Callable[..., Source]:
    """Return a function that makes a source in a chapter of the JAX scaling book from its statement and our encoded form."""
    url = f"https://jax-ml.github.io/scaling-book{path}"

    def cite(said: str, encoded: str = "", page: str = place) -> Source:
        return Source(kind="book", title=title, author=author, url=url, said=said, page=page, year=year, encoded=encoded)

    return cite


scaling_book = _chapter("How to Scale Your Model, section 16: Serving DeepSeek-V3", "", "section 16", "JAX scaling book authors", 2026)
scaling_book_inference = _chapter(
    "How to Scale Your Model, section 7: All About Transformer Inference",
    "/inference",
    "section 7, theoretical estimates for LLM latency and throughput",
)
scaling_book_training = _chapter(
    "How to Parallelize a Transformer for Training (How to Scale Your Model, section 5)",
    "/training",
    "section 5, data parallelism and FSDP",
)
scaling_book_applied_training = _chapter(
    "Training LLaMA 3 on TPUs (How to Scale Your Model, section 6)",
    "/applied-training",
    "section 6, counting parameters and FLOPs",
)


def ours(said: str) -> Source:
    """Return the source of a result derived for this project: the derivation is the citation."""
    return Source(
        kind="derivation", title="Derived for backsolve", author="The backsolve maintainers", url="", said=said, page="this entry"
    )


ROOFLINE_PAPER = Source(
    kind="paper",
    title="Roofline: an insightful visual performance model for multicore architectures",
    author="Samuel Williams, Andrew Waterman, David Patterson",
    url="https://doi.org/10.1145/1498765.1498785",
    said="attainable speed is bounded by the slower of arithmetic and memory traffic",
    page="figure 1",
    year=2009,
)
GQA_PAPER = Source(
    kind="paper",
    title="GQA: Training generalized multi-query transformer models from multi-head checkpoints",
    author="Joshua Ainslie et al.",
    url="https://arxiv.org/abs/2305.13245",
    said="groups of query heads share one key and one value head",
    page="section 2.2",
    year=2023,
)
MLA_PAPER = Source(
    kind="paper",
    title="DeepSeek-V2: a strong, economical, and efficient mixture-of-experts language model",
    author="DeepSeek-AI",
    url="https://arxiv.org/abs/2405.04434",
    said="keys and values are compressed into one latent, with a shared rotary key beside it",
    page="section 2.1",
    year=2024,
)
DSA_PAPER = Source(
    kind="paper",
    title="DeepSeek-V3.2: pushing the frontier of open large language models",
    author="DeepSeek-AI",
    url="https://arxiv.org/abs/2512.02556",
    said="an indexer scores every earlier token by its small index key, and attention reads only the entries with the best scores",
    page="section 2.1",
    year=2025,
)
COMPRESSED_DOCS = Source(
    kind="web",
    title="Transformers documentation: DeepSeek-V4",
    author="Hugging Face",
    url="https://huggingface.co/docs/transformers/main/model_doc/deepseek_v4",
    said="every layer has a window, and compressed entries: an indexer selects some, or all are read if they are few",
    page="Architecture: hybrid attention",
)
MSA_CONFIG = Source(
    kind="web",
    title="Configuration of MiniMax-M3",
    author="MiniMaxAI",
    url="https://huggingface.co/MiniMaxAI/MiniMax-M3",
    said="grouped-query attention. Its sparse layers store index keys and read the best blocks of tokens",
    page="config.json, sparse_attention_config",
)
UNEQUAL_CONFIG = Source(
    kind="web",
    title="Configuration of MiMo-V2-Flash",
    author="XiaomiMiMo",
    url="https://huggingface.co/XiaomiMiMo/MiMo-V2-Flash",
    said="keys and values of different width, and windowed layers with their own KV heads",
    page="config.json, head_dim, v_head_dim and swa_*",
    year=2025,
)
WINDOW_PAPER = Source(
    kind="paper",
    title="Mistral 7B",
    author="Albert Q. Jiang et al.",
    url="https://arxiv.org/abs/2310.06825",
    said="attention over the last W tokens needs a cache of W tokens, in which new tokens replace old ones",
    page="section 2",
    year=2023,
)
LINEAR_PAPER = Source(
    kind="paper",
    title="Transformers are RNNs: fast autoregressive transformers with linear attention",
    author="Angelos Katharopoulos et al.",
    url="https://arxiv.org/abs/2006.16236",
    said="keys and values are added to a matrix of fixed size, which represents all earlier tokens",
    page="section 3.4",
    year=2020,
)
EPOCH_PAPER = Source(
    kind="paper",
    title="Inference economics of language models",
    author="Ege Erdil",
    url="https://arxiv.org/abs/2506.04645",
    said="the lowest time per token is a balance: more chips read the weights faster, but need more hops",
    page="minimum latency, with L layers of n hops each and p bytes per parameter",
    year=2025,
)
GPIPE_PAPER = Source(
    kind="paper",
    title="GPipe: efficient training of giant neural networks using pipeline parallelism",
    author="Yanping Huang et al.",
    url="https://arxiv.org/abs/1811.06965",
    said="the bubble of K stages and M microbatches is (K - 1)/(M + K - 1) of the time",
    page="section 2.3",
    year=2018,
)
TENSOR_PARALLEL_PAPER = Source(
    kind="paper",
    title="Megatron-LM: training multi-billion parameter language models using model parallelism",
    author="Mohammad Shoeybi et al.",
    url="https://arxiv.org/abs/1909.08053",
    said="a forward pass has two all-reduces per layer: after attention and after the feed-forward part",
    page="section 3",
    year=2019,
)
RING_PAPER = Source(
    kind="paper",
    title="Bandwidth optimal all-reduce algorithms for clusters of workstations",
    author="Pitch Patarasuk, Xin Yuan",
    url="https://doi.org/10.1016/j.jpdc.2008.09.002",
    said="with a reduce-scatter and an all-gather in a ring, every node sends 2 (N - 1)/N of the data, which is the minimum",
    page="volume 69, issue 2, pages 117 to 124",
    year=2009,
)
POPE_PAPER = Source(
    kind="paper",
    title="Efficiently scaling transformer inference",
    author="Reiner Pope et al.",
    url="https://arxiv.org/abs/2211.05102",
    said="weights that stay in place, sharded in two dimensions: 8 B L E over the square root of the chips and the bandwidth, if F is 4 E",
    page="section 3.2.2",
    year=2022,
    encoded="for any width of the feed-forward part, in bytes, over all layers",
)
MEGATRON_PAPER = Source(
    kind="paper",
    title="Efficient large-scale language model training on GPU clusters using Megatron-LM",
    author="Deepak Narayanan et al.",
    url="https://arxiv.org/abs/2104.04473",
    said="v groups of layers per device divide the bubble, relative to the work, by v",
    page="section 2.2.2",
    year=2021,
    encoded="here over the whole schedule (work and bubble), as for schedules without interleaving",
)
MOE_PAPER = Source(
    kind="paper",
    title="Outrageously large neural networks: the sparsely-gated mixture-of-experts layer",
    author="Noam Shazeer et al.",
    url="https://arxiv.org/abs/1701.06538",
    said="each token goes to its k best of many experts",
    page="section 2",
    year=2017,
)
MIXTRAL_PAPER = Source(
    kind="paper",
    title="Mixtral of experts",
    author="Albert Q. Jiang et al.",
    url="https://arxiv.org/abs/2401.04088",
    said="sparse and active parameter counts: a token has access to 47B parameters and uses 13B of them",
    page="abstract, section 2.1 and table 1",
    year=2024,
)
ROUTED_PAPER = Source(
    kind="paper",
    title="Unified scaling laws for routed language models",
    author="Aidan Clark et al.",
    url="https://arxiv.org/abs/2202.01169",
    said="an effective parameter count: 370 million parameters with 64 experts are as good as 1.3 billion of a dense model",
    page="section 5.1",
    year=2022,
    encoded="uses the law of the talk. The fit of the paper shows a smaller gain for large sizes and many experts",
)
LLAMA_REFERENCE = Source(
    kind="paper",
    title="The Llama 3 herd of models",
    author="Llama Team, AI at Meta",
    url="https://arxiv.org/abs/2407.21783",
    said="layers, width, feed-forward width, heads and vocabulary of models of 8, 70 and 405 billion parameters",
    page="section 3.2, table 3",
    year=2024,
    encoded="uses the vocabulary of the checkpoints, which the table rounds",
)
SWITCH_PAPER = Source(
    kind="paper",
    title="Switch transformers: scaling to trillion parameter models with simple and efficient sparsity",
    author="William Fedus, Barret Zoph, Noam Shazeer",
    url="https://arxiv.org/abs/2101.03961",
    said="expert capacity is tokens over experts times a capacity factor. Further tokens skip the layer",
    page="section 2.2, equation 3",
    year=2021,
)
DEEPSEEK_V3_PAPER = Source(
    kind="paper",
    title="DeepSeek-V3 technical report",
    author="DeepSeek-AI",
    url="https://arxiv.org/abs/2412.19437",
    said="each token is sent once to each of a limited number of nodes, and forwarded there to its experts",
    page="sections 2.1.2 and 3.2.2",
    year=2024,
)
GPT_OSS_CARD = Source(
    kind="paper",
    title="gpt-oss-120b and gpt-oss-20b model card",
    author="OpenAI",
    url="https://arxiv.org/abs/2508.10925",
    said="the weights of the experts, over nine tenths of all, are stored in MXFP4 at 4.25 bits each. The other weights are not",
    page="section 2.1",
    year=2025,
)
DEEPSEEK_V3_BUDGET = replace(
    DEEPSEEK_V3_PAPER,
    said="2.664 million GPU hours of pre-training on 14.8 trillion tokens, which cost 5.328 million dollars at two dollars per hour",
    page="section 1, table 1",
)
CHINCHILLA_PAPER = Source(
    kind="paper",
    title="Training compute-optimal large language models",
    author="Jordan Hoffmann et al.",
    url="https://arxiv.org/abs/2203.15556",
    said="model size and tokens should grow together. Loss is a sum of powers of both",
    page="section 3.3",
    year=2022,
)
CHINCHILLA_LAW = replace(
    CHINCHILLA_PAPER,
    said="size and tokens with the lowest loss are powers of the budget",
    page="equation 4",
)
CHINCHILLA_TABLE = replace(
    CHINCHILLA_PAPER,
    said="by two of the three approaches size and tokens grow equally, with about twenty tokens per parameter",
    page="sections 3.1 and 3.2, table 3",
    encoded="uses one number for all budgets. The parametric fit of the paper recommends several times as many tokens",
)
KAPLAN_PAPER = Source(
    kind="paper",
    title="Scaling laws for neural language models",
    author="Jared Kaplan et al.",
    url="https://arxiv.org/abs/2001.08361",
    said="a forward pass needs two FLOPs per parameter, and the attention FLOPs for each token of context",
    page="equation 2.2 and table 1",
    year=2020,
    encoded="counts the causal half, and also the cached tokens",
)
KAPLAN_ON_TRAINING = replace(
    KAPLAN_PAPER,
    said="forward FLOPs of a token: two per parameter, plus two per layer, token of context and unit of attention width",
    page="equation 2.2",
    encoded="",
)
PALM_PAPER = Source(
    kind="paper",
    title="PaLM: scaling language modeling with pathways",
    author="Aakanksha Chowdhery et al.",
    url="https://arxiv.org/abs/2204.02311",
    said="FLOPs of a token: for the weights, and for attention by layers, heads, head width and sequence length",
    page="appendix B",
    year=2022,
)
PALM_ON_TRAINING = replace(
    PALM_PAPER,
    said="training FLOPs of a token: six per parameter, and twelve per layer for each unit of attention width and each token of context",
    encoded="counts half of the attention, because a causal token sees half of its sequence on average",
)
ZERO_PAPER = Source(
    kind="paper",
    title="ZeRO: memory optimizations toward training trillion parameter models",
    author="Samyam Rajbhandari et al.",
    url="https://arxiv.org/abs/1910.02054",
    said="the states of mixed-precision Adam, and their bytes per device after each kind of partitioning",
    page="sections 3.1 and 5, figure 1",
    year=2019,
)
RECOMPUTATION_PAPER = Source(
    kind="paper",
    title="Reducing activation recomputation in large transformer models",
    author="Vijay Korthikanti et al.",
    url="https://arxiv.org/abs/2205.05198",
    said="bytes of activations of a transformer layer, with and without attention scores, and on the first stage",
    page="section 4",
    year=2022,
)
CHECKPOINT_PAPER = Source(
    kind="paper",
    title="Training deep nets with sublinear memory cost",
    author="Tianqi Chen et al.",
    url="https://arxiv.org/abs/1604.06174",
    said="some activations are stored and the others are recomputed, which costs one more forward pass",
    page="section 4",
    year=2016,
)
REPLICATION_PAPER = Source(
    kind="paper",
    title="Chinchilla scaling: a replication attempt",
    author="Tamay Besiroglu et al.",
    url="https://arxiv.org/abs/2404.10102",
    said="a new fit of the same law to the points of the figures gives other coefficients",
    page="abstract and table 1",
    year=2024,
)
REVNET_PAPER = Source(
    kind="paper",
    title="The reversible residual network: backpropagation without storing activations",
    author="Aidan Gomez et al.",
    url="https://arxiv.org/abs/1707.04585",
    said="each layer's input can be computed from its output",
    page="section 3",
    year=2017,
)
CHUNKED_PREFILL_PAPER = Source(
    kind="paper",
    title="Taming throughput-latency tradeoff in LLM inference with Sarathi-Serve",
    author="Amey Agrawal et al.",
    url="https://arxiv.org/abs/2403.02310",
    said="prompts are cut into chunks that share a pass with decoding sequences",
    page="section 4",
    year=2024,
)
SPECULATIVE_PAPER = Source(
    kind="paper",
    title="Fast inference from transformers via speculative decoding",
    author="Yaniv Leviathan, Matan Kalman, Yossi Matias",
    url="https://arxiv.org/abs/2211.17192",
    said="expected tokens of a run, and the improvement in walltime, by acceptance rate and cost of a draft",
    page="equation 1 and theorem 3.8",
    year=2023,
)
DISTSERVE_PAPER = Source(
    kind="paper",
    title="DistServe: disaggregating prefill and decoding for goodput-optimized large language model serving",
    author="Yinmin Zhong et al.",
    url="https://arxiv.org/abs/2401.09670",
    said="prefill and decode run on separate chips, and each group has its own size",
    page="section 4",
    year=2024,
)
SPLITWISE_PAPER = Source(
    kind="paper",
    title="Splitwise: efficient generative LLM inference using phase splitting",
    author="Pratyush Patel et al.",
    url="https://arxiv.org/abs/2311.18677",
    said="each phase has its own machines, and the cache is sent from one to the other",
    page="section 4",
    year=2023,
)

WAREHOUSE_BOOK = Source(
    kind="book",
    title="The datacenter as a computer: designing warehouse-scale machines, third edition",
    author="Luiz Andre Barroso, Urs Hoelzle, Parthasarathy Ranganathan",
    url="https://doi.org/10.2200/S00874ED3V01Y201809CAC046",
    said="the hourly cost of a server: its price divided by its lifetime, and the electricity for its power with the building",
    page="chapter 6",
    year=2018,
)

VLLM_DOCS = Source(
    kind="web",
    title="vLLM documentation: engine arguments",
    author="The vLLM team",
    url="https://docs.vllm.ai/en/latest/configuration/engine_args.html",
    said="weights, activations and caches use a given share of the memory, nine tenths by default",
    page="gpu-memory-utilization",
    encoded="here it is the remaining share. There the nine tenths include activations, which are here in the reserved share",
)
SGLANG_DOCS = Source(
    kind="web",
    title="SGLang documentation: DeepSeek models",
    author="The SGLang team",
    url="https://docs.sglang.io/basic_usage/deepseek_v3.html",
    said="with data-parallel attention every chip keeps the cache of its own sequences, and experts are spread over all chips",
    page="data parallelism attention",
    encoded="here as copies of all weights outside the experts",
)
INFERENCEX = Source(
    kind="web",
    title="InferenceX (formerly InferenceMAX): open source inference benchmark",
    author="SemiAnalysis",
    url="https://github.com/SemiAnalysisAI/InferenceX/blob/main/utils/process_result.py",
    said="interactivity is the inverse of the time per output token of a user, and throughput is per GPU",
    page="utils/process_result.py, intvty and tput_per_gpu",
    year=2025,
)
NIM_METRICS = Source(
    kind="web",
    title="NVIDIA NIM LLMs benchmarking: metrics",
    author="NVIDIA",
    url="https://docs.nvidia.com/nim/benchmarking/llm/latest/metrics.html",
    said="the time between tokens is the request latency minus the time to first token, divided by the output tokens minus one",
    page="inter-token latency",
    year=2025,
)
LITTLE_CHAPTER = Source(
    kind="book",
    title="Little's law, in Building intuition: insights from basic operations management models and principles",
    author="John D. C. Little, Stephen C. Graves",
    url="https://doi.org/10.1007/978-0-387-73699-0_5",
    said="the mean number in a system is the mean rate of arrival times the mean time in the system, for any distributions",
    page="chapter 5",
    year=2008,
)
ARTIFICIAL_ANALYSIS = Source(
    kind="web",
    title="Artificial Analysis: language model benchmarking methodology",
    author="Artificial Analysis",
    url="https://artificialanalysis.ai/methodology",
    said="a blended price weights input and output price three to one",
    page="price (blended)",
    encoded="here weighted by the tokens of a request, with cached tokens separate, instead of three to one",
)
DEEPSEEK_OVERVIEW = Source(
    kind="web",
    title="DeepSeek-V3/R1 inference system overview",
    author="DeepSeek-AI",
    url="https://github.com/deepseek-ai/open-infra-index/blob/main/202502OpenSourceWeek/day_6_one_more_thing_deepseekV3R1_inference_system_overview.md",
    said="the cost of the nodes of a day at two dollars per GPU hour, compared with the list price of their tokens",
    page="statistics of DeepSeek's online service",
    year=2025,
    encoded="here over the price, as usual for a margin. The overview gives it over the cost",
)
