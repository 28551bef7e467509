"""Makes the checkpoints under `checkpoints/`: every supported family with random weights, tiny sizes and the real shape of
its configuration, and beside each what the Python libraries give for some texts.

    pip install sentence-transformers==6.2.0 && python make_checkpoints.py [NAME ...]

`golden.json` holds for embedders the vectors of sentence-transformers, for rerankers the logits of transformers, all in 32-bit
floats and one text at a time, so that padding has no part in them.
"""

import json
import pathlib
import shutil
import sys

import torch
import transformers
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer, __version__
from sentence_transformers.models import Dense, Normalize, Pooling, Transformer
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import AutoModel, AutoModelForSequenceClassification, PreTrainedTokenizerFast

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


def unigram(kind, folder, limit):
    """A SentencePiece tokenizer of the family's own class, with one score for each word and a lower one for each letter."""
    special = {
        "deberta": ["[PAD]", "[CLS]", "[SEP]", "[UNK]"],
        "xlnet": ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"],
    }[kind]
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,!?-W"
    pieces = [(piece, 0.0) for piece in special] + [("\u2581" + word, -5.0) for word in WORDS]
    pieces += [(piece, -9.0) for piece in ["\u2581", *letters]]
    if kind == "deberta":
        made = transformers.DebertaV2Tokenizer(vocab=pieces, unk_id=3, model_max_length=limit)
    else:
        # As published: no limit is stated. transformers 5 leaves out the segments that the model was trained with unless asked.
        inputs = ["input_ids", "token_type_ids", "attention_mask"]
        made = transformers.XLNetTokenizer(vocab=pieces, unk_id=0, model_input_names=inputs)
    made.save_pretrained(folder)
    return made, len(made)


def deberta(rows, **more):
    """The keys of mxbai-rerank-v1 and deberta-v3, with buckets that the longer texts go beyond."""
    return transformers.DebertaV2Config(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, vocab_size=rows,
        max_position_embeddings=320, type_vocab_size=0, relative_attention=True, max_relative_positions=-1,
        position_buckets=8, norm_rel_ebd="layer_norm", position_biased_input=False, share_att_key=True,
        pos_att_type=["p2c", "c2p"], pad_token_id=0, **more,
    )


def deberta_own(rows, **more):
    """What the published models leave: maps of its own for distances, one way only, no buckets, positions and segments."""
    return transformers.DebertaV2Config(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, vocab_size=rows,
        max_position_embeddings=64, type_vocab_size=2, relative_attention=True, max_relative_positions=24,
        position_biased_input=True, share_att_key=False, pos_att_type="c2p", pad_token_id=0, **more,
    )


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


def plain(name, kind, config, limit):
    """An embedder without any file of sentence-transformers: it averages all tokens that the window leaves."""
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    _, rows = unigram(kind, folder, limit)
    randomize(AutoModel.from_config(config(rows), attn_implementation="eager")).save_pretrained(folder)
    model = SentenceTransformer(str(folder), device="cpu", model_kwargs={"attn_implementation": "eager"})
    assert model.max_seq_length == limit, model.max_seq_length
    texts = [*TEXTS, LONG]
    vectors = [rounded(model.encode(text)) for text in texts]
    golden = {"texts": texts, "query": vectors, "document": vectors}
    if kind == "xlnet":
        model.tokenizer.model_input_names = ["input_ids", "attention_mask"]
        golden["without_segments"] = [rounded(model.encode(text)) for text in texts]
    write(folder, golden)


def unigram_reranker(name, kind, config, limit):
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    fast, rows = unigram(kind, folder, limit)
    model = AutoModelForSequenceClassification.from_config(config(rows), attn_implementation="eager")
    randomize(model).save_pretrained(folder)
    texts, scores = [*TEXTS, LONG], []
    for text in texts:
        inputs = fast([QUERY], [text], truncation=limit < 1e9, max_length=limit, padding=False, return_tensors="pt")
        with torch.no_grad():
            scores.append(round(float(model(**inputs).logits[0, 0]), 7))
    write(folder, {"query": QUERY, "texts": texts, "scores": scores})


def dense():
    """Linear maps after pooling, the second with its weights in a file of PyTorch, as older models have them."""
    layers = [
        Dense(32, 24, activation_function=torch.nn.Tanh()),
        Dense(24, 16, bias=False, activation_function=torch.nn.Identity(), use_residual=True),
    ]
    embedder("bert-dense", lambda rows: bert("bert", rows), "cls", True, dense=layers)
    weights = HERE / "bert-dense/3_Dense/model.safetensors"
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


CHECKPOINTS = {
    "bert": lambda: embedder(
        "bert", lambda rows: bert("bert", rows), "mean", True, prompts={"query": "what is: ", "document": "the cell: "}
    ),
    "bert-dense": dense,
    "roberta": lambda: embedder(
        "roberta", lambda rows: bert("roberta", rows, type_vocab_size=1), "cls", False, roberta=True
    ),
    "xlm-roberta": lambda: embedder(
        "xlm-roberta", lambda rows: bert("xlm-roberta", rows, type_vocab_size=1), "max", True, roberta=True
    ),
    "modernbert": lambda: embedder("modernbert", modern, "weightedmean", True),
    "bert-reranker": lambda: reranker("bert-reranker", lambda rows: bert("bert", rows, num_labels=1)),
    "xlm-roberta-reranker": lambda: reranker(
        "xlm-roberta-reranker", lambda rows: bert("xlm-roberta", rows, type_vocab_size=1, num_labels=1), roberta=True
    ),
    "modernbert-reranker": lambda: reranker(
        "modernbert-reranker", lambda rows: modern(rows, num_labels=1, classifier_pooling="mean")
    ),
    "nomic_bert": lambda: embedder(
        "nomic_bert",
        lambda rows: transformers.NomicBertConfig(
            hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, vocab_size=rows
        ),
        "lasttoken",
        False,
    ),
    "deberta": lambda: plain("deberta", "deberta", deberta, 300),
    "deberta-own-maps": lambda: plain("deberta-own-maps", "deberta", deberta_own, 48),
    "deberta-reranker": lambda: unigram_reranker(
        "deberta-reranker", "deberta", lambda rows: deberta(rows, num_labels=1), 300
    ),
    "xlnet": lambda: plain("xlnet", "xlnet", xlnet, int(1e30)),
    "xlnet-reranker": lambda: unigram_reranker(
        "xlnet-reranker", "xlnet", lambda rows: xlnet(rows, num_labels=1, clamp_len=20), int(1e30)
    ),
}


if __name__ == "__main__":
    for wanted in sys.argv[1:] or CHECKPOINTS:
        torch.manual_seed(0)
        CHECKPOINTS[wanted]()


