"""Makes the checkpoints under `checkpoints/`: every supported family with random weights, tiny sizes and the real shape of
its configuration, and beside each what the Python libraries give for some texts.

    pip install sentence-transformers==6.2.0 && python make_checkpoints.py [NAME...]

Without names all of them are made, each from a seed of its own.

`golden.json` holds for embedders the vectors of sentence-transformers, for rerankers the logits of transformers, all in 32-bit
floats and one text at a time, so that padding has no part in them.
"""

import json
import pathlib
import shutil
import sys
import tempfile
import zlib

import torch
import transformers
from safetensors.torch import load_file
from sentence_transformers import CrossEncoder, SentenceTransformer, __version__
from sentence_transformers.cross_encoder.modules import LogitScore
from sentence_transformers.models import Dense, Normalize, Pooling, Transformer
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer, PreTrainedTokenizerFast

HERE = pathlib.Path(__file__).parent / "checkpoints"
WORDS = "the a of in cell protein increases risk does not what is vaccine gene lung and or with to from".split()
PIECES = [*"abcdefghijklmnopqrstuvwxyz0123456789.,!?-", *("##" + c for c in "abcdefghijklmnopqrstuvwxyz0123456789")]
TEXTS = [
    "the protein increases risk",
    "What is a gene?",
    "x",
    "",
    "vaccine and lung, " * 30,
    "Does the cell of the lung not protein from vaccine - or with 42 genes!",
]
# Attention takes more than 256 queries in several blocks.
LONG = "the gene in a lung, " * 60
QUERY = "does the vaccine increase risk"


def tokenizer(folder, roberta):
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"] if roberta else ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    names = dict(zip(["cls", "pad", "sep", "unk", "mask"], special)) if roberta else dict(
        zip(["pad", "unk", "cls", "sep", "mask"], special)
    )
    vocabulary = {token: index for index, token in enumerate(dict.fromkeys(special + WORDS + PIECES))}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token=names["unk"]))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    cls, sep = names["cls"], names["sep"]
    ids = [(cls, vocabulary[cls]), (sep, vocabulary[sep])]
    if roberta:
        pair = f"{cls} $A {sep} {sep} $B {sep}"
    else:
        pair = f"{cls} $A {sep} $B:1 {sep}:1"
    made.post_processor = processors.TemplateProcessing(single=f"{cls} $A {sep}", pair=pair, special_tokens=ids)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=made,
        model_max_length=48,
        **{f"{name}_token": token for name, token in names.items()},
    )
    # What the file carries is not to matter.
    fast.backend_tokenizer.enable_truncation(5)
    fast.backend_tokenizer.enable_padding(length=5)
    fast.save_pretrained(folder)
    return fast, len(vocabulary)


def bert(kind, rows, **more):
    sizes = dict(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, vocab_size=rows,
        max_position_embeddings=64, **more,
    )
    config = {"bert": transformers.BertConfig, "roberta": transformers.RobertaConfig, "xlm-roberta": transformers.XLMRobertaConfig}
    return config[kind](**sizes)


def modern(rows, **more):
    return transformers.ModernBertConfig(
        hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=40, vocab_size=rows,
        max_position_embeddings=64, local_attention=8, global_attn_every_n_layers=2, pad_token_id=0, bos_token_id=2,
        eos_token_id=3, cls_token_id=2, sep_token_id=3, **more,
    )


def unigram(folder):
    """A SentencePiece tokenizer of XLNet's own class, with one score for each word and a lower one for each letter."""
    special = ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"]
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,!?-W"
    pieces = [(piece, 0.0) for piece in special] + [("\u2581" + word, -5.0) for word in WORDS]
    pieces += [(piece, -9.0) for piece in ["\u2581", *letters]]
    # As published: no limit is stated. transformers 5 leaves out the segments that the model was trained with unless asked.
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    made = transformers.XLNetTokenizer(vocab=pieces, unk_id=0, model_input_names=inputs)
    made.save_pretrained(folder)
    return made, len(made)


def xlnet(rows, **more):
    return transformers.XLNetConfig(d_model=32, n_layer=2, n_head=4, d_inner=48, vocab_size=rows, **more)


def randomize(model):
    """Spreads weights wider than initialisation does, so that a missing step shows."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.25)
            elif "norm" in name.lower() and name.endswith("weight"):
                parameter.uniform_(0.5, 1.5)
            else:
                parameter.normal_(0, 0.3)
    return model.float().eval()


def rounded(values):
    return [round(float(value), 7) for value in values]


def write(folder, golden):
    versions = f"transformers {transformers.__version__}, sentence-transformers {__version__}, torch {torch.__version__}"
    (folder / "golden.json").write_text(json.dumps({"origin": versions, **golden}))
    for extra in ["README.md", ".gitattributes"]:
        (folder / extra).unlink(missing_ok=True)


def embedder(name, config, pooling, normalized, roberta=False, prompts=None, dense=()):
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    plain = folder / "plain"
    _, rows = tokenizer(plain, roberta)
    randomize(AutoModel.from_config(config(rows), attn_implementation="eager")).save_pretrained(plain)
    encoder = Transformer(str(plain), max_seq_length=40, model_args={"attn_implementation": "eager"})
    modules = [encoder, Pooling(32, pooling_mode=pooling), *map(randomize, dense)] + ([Normalize()] if normalized else [])
    model = SentenceTransformer(modules=modules, device="cpu", prompts=prompts)
    model.save(str(folder))
    shutil.rmtree(plain)
    # As published models have it: sentence-transformers reads it, and it was saved by whoever came last.
    carried = json.loads((folder / "tokenizer.json").read_text())
    carried["truncation"] = {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}
    (folder / "tokenizer.json").write_text(json.dumps(carried, ensure_ascii=False))
    model = SentenceTransformer(str(folder), device="cpu")
    assert model.max_seq_length == 40, model.max_seq_length
    vectors = {}
    for kind in ["query", "document"]:
        prompt = (prompts or {}).get(kind)
        vectors[kind] = [rounded(model.encode(text, prompt=prompt)) for text in TEXTS]
    write(folder, {"texts": TEXTS, **vectors})


def plain(name):
    """An embedder without any file of sentence-transformers: it averages all tokens that the window leaves."""
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    _, rows = unigram(folder)
    randomize(AutoModel.from_config(xlnet(rows), attn_implementation="eager")).save_pretrained(folder)
    model = SentenceTransformer(str(folder), device="cpu", model_kwargs={"attn_implementation": "eager"})
    texts = [*TEXTS, LONG]
    vectors = [rounded(model.encode(text)) for text in texts]
    golden = {"texts": texts, "query": vectors, "document": vectors}
    model.tokenizer.model_input_names = ["input_ids", "attention_mask"]
    golden["without_segments"] = [rounded(model.encode(text)) for text in texts]
    write(folder, golden)


def unigram_reranker(name):
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    fast, rows = unigram(folder)
    config = xlnet(rows, num_labels=1, clamp_len=20)
    model = AutoModelForSequenceClassification.from_config(config, attn_implementation="eager")
    randomize(model).save_pretrained(folder)
    texts, scores = [*TEXTS, LONG], []
    for text in texts:
        inputs = fast([QUERY], [text], truncation=False, padding=False, return_tensors="pt")
        with torch.no_grad():
            scores.append(round(float(model(**inputs).logits[0, 0]), 7))
    write(folder, {"query": QUERY, "texts": texts, "scores": scores})


def dense(name):
    """Linear maps after pooling, the second with its weights in a file of PyTorch, as older models have them."""
    layers = [
        Dense(32, 24, activation_function=torch.nn.Tanh()),
        Dense(24, 16, bias=False, activation_function=torch.nn.Identity(), use_residual=True),
    ]
    embedder(name, lambda rows: bert("bert", rows), "cls", True, dense=layers)
    weights = HERE / name / "3_Dense/model.safetensors"
    torch.save(load_file(weights), weights.with_name("pytorch_model.bin"))
    weights.unlink()


def reranker(name, config, roberta=False):
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    fast, rows = tokenizer(folder, roberta)
    fast.backend_tokenizer.no_padding()
    model = AutoModelForSequenceClassification.from_config(config(rows), attn_implementation="eager")
    randomize(model).save_pretrained(folder)
    scores = []
    for text in TEXTS:
        # As a batch, because an empty text would not make a pair otherwise.
        inputs = fast([QUERY], [text], truncation=True, max_length=48, padding=False, return_tensors="pt")
        if getattr(model.config, "type_vocab_size", 1) > 1:
            # A real BERT tokenizer gives them; the one made here leaves them out.
            first = int((inputs.input_ids[0] == fast.sep_token_id).nonzero()[0])
            inputs["token_type_ids"] = (torch.arange(inputs.input_ids.shape[1]) > first).long()[None]
        with torch.no_grad():
            scores.append(round(float(model(**inputs).logits[0, 0]), 7))
    write(folder, {"query": QUERY, "texts": TEXTS, "scores": scores})


# The expression of Qwen's tokenizers, and what the authors of two rerankers put around a query and a document: the model card of
# Qwen3-Reranker, and mxbai_rerank_v2.py of the package mxbai-rerank 0.1.6.
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
JUDGE = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided. "
    'Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
)
JUDGED = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
WEB_SEARCH = "Given a web search query, retrieve relevant passages that answer the query"
EXPERT = (
    "You are a search relevance expert who evaluates how well documents match search queries. For each query-document pair, "
    "carefully analyze the semantic relationship between them, then provide your binary relevance judgment (0 for not relevant, "
    "1 for relevant).\nRelevance:"
)
ASSISTANT = (
    "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n<|im_start|>user\n"
)
ANSWER = "<|im_end|>\n<|im_start|>assistant\n"
# As sentence-transformers has it for rerankers of this kind: one message for each part of a pair.
TEMPLATE = """{%- set instruction = messages | selectattr("role", "eq", "system") | map(attribute="content") | first -%}
<|im_start|>system
{{ instruction }}<|im_end|>
<|im_start|>user
<Query>: {{ messages | selectattr("role", "eq", "query") | map(attribute="content") | first }}
<Document>: {{ messages | selectattr("role", "eq", "document") | map(attribute="content") | first }}<|im_end|>
{% if add_generation_prompt %}
<|im_start|>assistant
Relevant:
{%- endif %}
"""
SENTENCES = [*TEXTS, QUERY, JUDGE, WEB_SEARCH, EXPERT, ASSISTANT, "yes no 1 0 instruction: query: document: <Instruct>: <Query>: <Document>:"]


def byte_tokenizer(folder, appended=None):
    """Byte pairs as Qwen has them; `appended` goes behind every text."""
    made = Tokenizer(models.BPE())
    made.normalizer = normalizers.NFC()
    split = pre_tokenizers.Split(Regex(SPLIT), behavior="isolated")
    made.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420, special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    made.train_from_iterator([sentence for sentence in SENTENCES for _ in range(3)] + ["yes", "no"] * 20, trainer)
    made.add_tokens(["<think>", "</think>"])
    steps = [processors.ByteLevel(trim_offsets=False)]
    if appended:
        ids = [(appended, made.token_to_id(appended))]
        steps.append(processors.TemplateProcessing(single=f"$A {appended}", pair=f"$A {appended} $B:1 {appended}:1", special_tokens=ids))
    made.post_processor = processors.Sequence(steps)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=made, model_max_length=512, padding_side="left", pad_token="<|endoftext|>", eos_token="<|im_end|>"
    )
    fast.save_pretrained(folder)
    return fast, made.get_vocab_size()


def qwen(kind, rows, **more):
    """Heads of 12 values, of which four have queries and two have keys: none of it follows from the width."""
    sizes = dict(
        hidden_size=32, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2, intermediate_size=40, vocab_size=rows,
        max_position_embeddings=512, rms_norm_eps=1e-6, pad_token_id=0, **more,
    )
    if kind == "qwen3":
        return transformers.Qwen3Config(head_dim=12, rope_parameters={"rope_type": "default", "rope_theta": 1_000_000.0}, **sizes)
    return transformers.Qwen2Config(rope_parameters={"rope_type": "default", "rope_theta": 5_000.0}, **sizes)


def decoder_embedder(name, kind, prompts):
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    plain = folder / "plain"
    _, rows = byte_tokenizer(plain, "<|endoftext|>")
    randomize(AutoModel.from_config(qwen(kind, rows), attn_implementation="eager")).save_pretrained(plain)
    encoder = Transformer(str(plain), max_seq_length=40, model_args={"attn_implementation": "eager"})
    model = SentenceTransformer(modules=[encoder, Pooling(32, pooling_mode="lasttoken"), Normalize()], device="cpu", prompts=prompts)
    model.save(str(folder))
    shutil.rmtree(plain)
    model = SentenceTransformer(str(folder), device="cpu")
    vectors = {}
    for part in ["query", "document"]:
        vectors[part] = [rounded(model.encode(text, prompt=prompts.get(part))) for text in TEXTS]
    # More tokens than attention takes at once.
    model.max_seq_length = 400
    long = " ".join(TEXTS) * 3
    write(folder, {"texts": TEXTS, **vectors, "long": long, "long_window": 400, "long_vector": rounded(model.encode(long))})


# White space, letters that become small by themselves or by their place in a word, and a token of the tokenizer's own.
ODD = [" \n the gene\t", "\x1fWhat Is A GENE\x1c", "", "\u039f\u0394\u039f\u03a3 \u0130s <|im_end|> OF", "VACCINE and Lung, " * 30]


def older(name, source):
    """What sentence-transformers makes of another checkpoint whose texts are read as an older file says; beside that checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        folder = shutil.copytree(HERE / source, pathlib.Path(folder) / source)
        (folder / "sentence_bert_config.json").write_text("{}")
        (folder / "sentence_distilbert_config.json").write_text(json.dumps({"max_seq_length": 12, "do_lower_case": True}))
        (folder / "sentence_xlnet_config.json").write_text(json.dumps({"max_seq_length": 9}))
        model = SentenceTransformer(str(folder), device="cpu")
        assert model.max_seq_length == 12, model.max_seq_length
        vectors = [rounded(model.encode(text)) for text in ODD]
    versions = f"transformers {transformers.__version__}, sentence-transformers {__version__}, torch {torch.__version__}"
    (HERE / source / f"{name}.json").write_text(json.dumps({"origin": versions, "texts": ODD, "document": vectors}))


# Padding that a text states, letters that are of a case and have accents, signs by themselves, and more than the window holds.
STATED = [
    "the <pad> gene <pad><pad> cell",
    "<pad>",
    "What Is a G\u00e8ne of the\u4e2dCell",
    "vaccine and lung, " * 30 + "what is a gene?",
]


def changed(name, source, **files):
    """What the libraries make of another checkpoint some of whose files say something else; beside that checkpoint.

    `None` takes a key out of a file."""
    golden = {"origin": f"transformers {transformers.__version__}, sentence-transformers {__version__}, torch {torch.__version__}"}
    with tempfile.TemporaryDirectory() as folder:
        folder = shutil.copytree(HERE / source, pathlib.Path(folder) / source)
        for file, stated in files.items():
            path = folder / f"{file}.json"
            if isinstance(stated, dict):
                stated = {**(json.loads(path.read_text()) if path.exists() else {}), **stated}
                stated = {key: value for key, value in stated.items() if value is not None}
            path.write_text(json.dumps(stated))
        if "reranker" in source:
            model = CrossEncoder(str(folder), device="cpu")
            predict = lambda text: model.predict([(QUERY, text)], activation_fn=torch.nn.Identity())
            golden |= {"query": QUERY, "texts": STATED, "scores": [round(float(predict(text)[0]), 6) for text in STATED]}
        else:
            model = SentenceTransformer(str(folder), device="cpu")
            golden |= {"texts": STATED, "document": [rounded(model.encode_document(text)) for text in STATED]}
    golden["files"] = files
    (HERE / source / f"{name}.json").write_text(json.dumps(golden))


def judged(fast, instruction, query, document, window):
    """As `process_inputs` of the model card."""
    prefix, suffix = (fast.encode(text, add_special_tokens=False) for text in [JUDGE, JUDGED])
    content = f"<Instruct>: {instruction}\n<Query>: {query}\n<Document>: {document}"
    room = window - len(prefix) - len(suffix)
    return prefix + fast(content, truncation="longest_first", max_length=room)["input_ids"] + suffix


def expert(fast, instruction, query, document, window):
    """As `prepare_inputs` of the package, whose `max_length` is what the fixed parts leave of the window.

    The package itself does not run with transformers 5; with 4.57 its scores of this checkpoint differ by 1.1e-5 at most.
    """
    ids = lambda text: fast.encode(text, add_special_tokens=False)
    before, after = ids(ASSISTANT), ids("\n") + ids(EXPERT) + ids(ANSWER)
    room = window - len(before) - len(after)
    instructed = f"instruction: {instruction}\n" if instruction else ""
    question = ids(f"{instructed}query: {query}")[: room * 3 // 4]
    answer = ids("\n") + ids(f"document: {document}")
    return before + question + answer[: room - len(question)] + after


def causal(name, config, tied, window, encode, answers, instructions):
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    fast, rows = byte_tokenizer(folder)
    config = config(rows, tie_word_embeddings=tied)
    model = randomize(AutoModelForCausalLM.from_config(config, attn_implementation="eager"))
    model.save_pretrained(folder)
    yes, no = (fast.convert_tokens_to_ids(answer) for answer in answers)
    scores = {}
    for key, instruction in instructions.items():
        scores[key] = []
        for text in TEXTS:
            inputs = torch.tensor([encode(fast, instruction, QUERY, text, window)])
            with torch.no_grad():
                logits = model(inputs).logits[0, -1]
            scores[key].append(round(float(logits[yes] - logits[no]), 6))
    write(folder, {"query": QUERY, "texts": TEXTS, "window": window, "instructions": instructions, "scores": scores})


def classified(name, source):
    """The reranker of another checkpoint as a classifier: its two rows of tokens make the one row of the classifier."""
    folder, golden = HERE / name, json.loads((HERE / source / "golden.json").read_text())
    shutil.rmtree(folder, ignore_errors=True)
    fast = AutoTokenizer.from_pretrained(HERE / source)
    model = AutoModelForSequenceClassification.from_pretrained(HERE / source, num_labels=1, attn_implementation="eager").float().eval()
    table = model.get_input_embeddings().weight
    yes, no = (table[fast.convert_tokens_to_ids(answer)] for answer in ["yes", "no"])
    with torch.no_grad():
        model.score.weight.copy_((yes - no)[None])
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    instruction = golden["instructions"]["default"]
    scores = []
    for text in TEXTS:
        inputs = torch.tensor([judged(fast, instruction, QUERY, text, golden["window"])])
        with torch.no_grad():
            scores.append(round(float(model(inputs).logits[0, 0]), 6))
    golden["scores"] = {"default": scores}
    write(folder, {**golden, "instructions": {"default": instruction}})


def logit_score(name, window):
    """A reranker as sentence-transformers saves one: the prompt is a template, the answers are in a module."""
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    plain = folder / "plain"
    fast, rows = byte_tokenizer(plain)
    fast.chat_template = TEMPLATE
    fast.model_max_length = window
    fast.save_pretrained(plain)
    config = qwen("qwen3", rows, tie_word_embeddings=True)
    randomize(AutoModelForCausalLM.from_config(config, attn_implementation="eager")).save_pretrained(plain)
    generation = {"chat_template": {"add_generation_prompt": True}}
    encoder = Transformer(str(plain), transformer_task="text-generation", processing_kwargs=generation)
    answers = LogitScore(true_token_id=fast.convert_tokens_to_ids("yes"))
    prompts = {"web": WEB_SEARCH}
    model = CrossEncoder(modules=[encoder, answers], device="cpu", prompts=prompts, default_prompt_name="web")
    model.save_pretrained(str(folder))
    shutil.rmtree(plain)
    model = CrossEncoder(str(folder), device="cpu")
    instructions = {"default": None, "other": "Find proteins."}
    scores = {}
    for key, instruction in instructions.items():
        predict = lambda text: model.predict([(QUERY, text)], prompt=instruction, activation_fn=torch.nn.Identity())
        scores[key] = [round(float(predict(text)[0]), 6) for text in TEXTS]
    write(folder, {"query": QUERY, "texts": TEXTS, "instructions": instructions, "scores": scores})


PROMPTED = {"query": "what is: ", "document": "the cell: "}
CHECKPOINTS = {
    "bert": lambda name: embedder(name, lambda rows: bert("bert", rows), "mean", True, prompts=PROMPTED),
    "bert-dense": dense,
    "roberta": lambda name: embedder(
        name, lambda rows: bert("roberta", rows, type_vocab_size=1), "cls", False, roberta=True
    ),
    "xlm-roberta": lambda name: embedder(
        name, lambda rows: bert("xlm-roberta", rows, type_vocab_size=1), "max", True, roberta=True
    ),
    "modernbert": lambda name: embedder(name, modern, "weightedmean", True),
    "nomic_bert": lambda name: embedder(
        name,
        lambda rows: transformers.NomicBertConfig(
            hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, vocab_size=rows
        ),
        "lasttoken",
        False,
    ),
    "bert-reranker": lambda name: reranker(name, lambda rows: bert("bert", rows, num_labels=1)),
    "xlm-roberta-reranker": lambda name: reranker(
        name, lambda rows: bert("xlm-roberta", rows, type_vocab_size=1, num_labels=1), roberta=True
    ),
    "modernbert-reranker": lambda name: reranker(
        name, lambda rows: modern(rows, num_labels=1, classifier_pooling="mean")
    ),
    "xlnet": plain,
    "xlnet-reranker": unigram_reranker,
    "qwen3": lambda name: decoder_embedder(
        name, "qwen3", {"query": "Instruct: Given a web search query, find a gene.\nQuery:", "document": ""}
    ),
    "qwen2": lambda name: decoder_embedder(name, "qwen2", {}),
    "older": lambda name: older(name, "qwen3"),
    "padded": lambda name: changed(name, "roberta"),
    "cased": lambda name: changed(
        name, "bert",
        tokenizer_config={
            "tokenizer_class": "BertTokenizer", "do_lower_case": False, "strip_accents": True, "tokenize_chinese_chars": False,
        },
    ),
    "end": lambda name: changed(name, "bert", tokenizer_config={"truncation_side": "left"}),
    "narrow": lambda name: changed(name, "modernbert", config={"sliding_window": 2}),
    "base": lambda name: changed(name, "nomic_bert", config={"rope_parameters": None, "rope_theta": 77.0}),
    "stated": lambda name: changed(
        name, "xlm-roberta-reranker",
        modules=[{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}],
        sentence_bert_config={"transformer_task": "sequence-classification", "max_seq_length": 24},
        config_sentence_transformers={"model_type": "CrossEncoder", "prompts": {"cell": "The Cell: "}, "default_prompt_name": "cell"},
    ),
    "qwen3-reranker": lambda name: causal(
        name, lambda rows, **more: qwen("qwen3", rows, **more), True, 200, judged, ("yes", "no"),
        {"default": WEB_SEARCH, "other": "Find proteins."},
    ),
    "mxbai-rerank-base-v2": lambda name: causal(
        name, lambda rows, **more: qwen("qwen2", rows, **more), False, 240, expert, ("1", "0"),
        {"default": None, "other": "Find proteins."},
    ),
    "qwen3-reranker-classifier": lambda name: classified(name, "qwen3-reranker"),
    "qwen3-logit-score": lambda name: logit_score(name, 96),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or CHECKPOINTS:
        torch.manual_seed(zlib.crc32(name.encode()))
        CHECKPOINTS[name](name)
