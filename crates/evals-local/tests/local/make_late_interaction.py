"""Makes the checkpoints of late interaction under `checkpoints/`: tiny models with random weights in the layouts of ColBERT and of
PyLate, and beside each the scores that those libraries give.

    pip install colbert-ai==0.2.22 transformers==4.49.0 && python make_late_interaction.py colbert
    pip install pylate==1.6.0 && python make_late_interaction.py pylate pylate_bytes

The two need different versions of transformers, which is why they are not made by `make_checkpoints.py`.
"""

import json
import pathlib
import shutil
import string
import sys

import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

HERE = pathlib.Path(__file__).parent / "checkpoints"
WORDS = "the a of in cell protein increases risk does not what is vaccine gene lung and or with to from".split()
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
QUERIES = ["does the vaccine increase risk", "What is a gene?", "", "what [PAD] is a [MASK]", "the lung of the cell " * 12]
TEXTS = [
    "the protein increases risk",
    "What is a gene? (Not a cell!)",
    "x",
    "",
    "...",
    "vaccine and lung, " * 30,
    "Does the \u00e4 cell - of the lung \u2014 not protein from 42 genes?",
    "a [PAD] of the [MASK]",
]
# Left out of the vocabulary, so that the list of skipped punctuation reaches unknown tokens too.
ABSENT = "{|}~"


def tokenizer(folder, markers):
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    punctuation = [symbol for symbol in string.punctuation if symbol not in ABSENT]
    pieces = [*LETTERS, *punctuation, *("##" + letter for letter in LETTERS)]
    vocabulary = {token: index for index, token in enumerate(dict.fromkeys(special + markers + WORDS + pieces))}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ids = [(token, vocabulary[token]) for token in ["[CLS]", "[SEP]"]]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ids)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, model_max_length=48, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]",
        sep_token="[SEP]", mask_token="[MASK]",
    )
    fast.save_pretrained(folder)
    return fast


def randomize(model):
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.25)
            elif "norm" in name.lower() and name.endswith("weight"):
                parameter.uniform_(0.5, 1.5)
            else:
                parameter.normal_(0, 0.3)
    return model.float().eval()


def write(folder, origin, cases):
    golden = {"origin": origin, "texts": TEXTS}
    for case, scores in cases.items():
        golden[case] = [
            {"query": query, "scores": [round(float(score), 6) for score in scores(query)]} for query in QUERIES
        ]
    (folder / "golden.json").write_text(json.dumps(golden))
    for extra in ["README.md", ".gitattributes"]:
        (folder / extra).unlink(missing_ok=True)


def colbert():
    """The layout of colbert-ir/colbertv2.0 and answerai-colbert-small-v1, scored by the code of ColBERT itself."""
    from colbert.infra import ColBERTConfig
    from colbert.modeling.checkpoint import Checkpoint
    from colbert.modeling.colbert import ColBERT, colbert_score
    from colbert.modeling.hf_colbert import class_factory

    # Its own product of matrices for the scores of an index, which is not used here, would be compiled.
    ColBERT.try_load_torch_extensions = classmethod(lambda cls, use_gpu: None)
    folder = HERE / "colbert"
    shutil.rmtree(folder, ignore_errors=True)
    fast = tokenizer(folder, ["[unused0]", "[unused1]"])
    config = transformers.BertConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, vocab_size=len(fast),
        max_position_embeddings=64,
    )
    config.save_pretrained(folder)
    settings = ColBERTConfig(dim=12, query_maxlen=16, doc_maxlen=24, mask_punctuation=True, attend_to_mask_tokens=False)
    model = randomize(class_factory(str(folder))(config, settings))
    model.save_pretrained(folder)
    keys = [
        "query_token_id", "doc_token_id", "query_token", "doc_token", "dim", "doc_maxlen", "mask_punctuation", "query_maxlen",
        "attend_to_mask_tokens", "interaction", "similarity",
    ]
    metadata = {key: getattr(settings, key) for key in keys}
    (folder / "artifact.metadata").write_text(json.dumps(metadata, indent=4))

    def scores(**changed):
        checkpoint = Checkpoint(str(folder), colbert_config=ColBERTConfig(**changed), verbose=0)

        def of(query):
            # One text at a time, so that padding has no part in it.
            vectors = checkpoint.queryFromText([query])
            texts = [checkpoint.docFromText([text], keep_dims=False)[0][None] for text in TEXTS]
            masks = [torch.ones(text.shape[:2]) for text in texts]
            return [colbert_score(vectors, *text, checkpoint.colbert_config)[0] for text in zip(texts, masks)]

        return of

    from importlib.metadata import version

    origin = f"colbert-ai {version('colbert-ai')}, transformers {transformers.__version__}, torch {torch.__version__}"
    write(folder, origin, {"scores": scores(), "attending": scores(attend_to_mask_tokens=True)})


def pylate():
    """The layout of lightonai/GTE-ModernColBERT-v1, scored by PyLate."""
    from pylate import __version__, models as late, scores as scoring
    from sentence_transformers.models import Transformer

    folder = HERE / "pylate-modernbert"
    shutil.rmtree(folder, ignore_errors=True)
    plain = folder / "plain"
    fast = tokenizer(plain, [])
    config = transformers.ModernBertConfig(
        hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=40, vocab_size=len(fast),
        max_position_embeddings=64, local_attention=8, global_attn_every_n_layers=2, pad_token_id=0, bos_token_id=2,
        eos_token_id=3, cls_token_id=2, sep_token_id=3,
    )
    transformers.AutoModel.from_config(config).save_pretrained(plain)
    modules = [
        Transformer(str(plain)),
        late.Dense(32, 24, bias=True, activation_function=torch.nn.GELU(), use_residual=True),
        late.Dense(24, 12, bias=False),
    ]
    model = late.ColBERT(
        modules=modules, device="cpu", query_prefix="[Q] ", document_prefix="[D] ", query_length=20, document_length=30,
        skiplist_words=list(string.punctuation),
    )
    randomize(model)
    model.save(str(folder))
    shutil.rmtree(plain)

    def scores(**changed):
        loaded = late.ColBERT(str(folder), device="cpu", **changed)

        def of(query):
            vectors = loaded.encode([query], is_query=True, convert_to_tensor=True)[0]
            texts = [loaded.encode([text], is_query=False, convert_to_tensor=True)[0] for text in TEXTS]
            return [scoring.colbert_scores(vectors[None], text[None])[0, 0] for text in texts]

        return of

    origin = f"pylate {__version__}, transformers {transformers.__version__}, torch {torch.__version__}"
    cases = {
        "scores": scores(),
        "attending": scores(attend_to_expansion_tokens=True),
        "unexpanded": scores(do_query_expansion=False),
    }
    write(folder, origin, cases)


# White space of Python is not that of Unicode alone, and nothing is left of some of these.
SPACED_QUERIES = ["what is a gene", "  what is a gene\n", "\x1fWhat is a\tgene\x1c\x1d\x1e", "\u3000\x85 \u2028", ""]
SPACED_TEXTS = [
    "the protein increases risk",
    "\n\n the protein increases risk \x1c\x1f",
    "\u00a0What is\n a gene?\u2003",
    " \t ",
    "",
    "a zero-width space stays\u200b",
    "\u039f\u0394\u039f\u03a3 [Q] and [MASK] of the lung ",
]


def byte_tokenizer(folder):
    """Bytes one by one, white space among them, with a normalizer that leaves all texts as they are."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    symbols = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: index for index, token in enumerate([*special, *symbols])}
    made = Tokenizer(models.BPE(vocabulary, [], unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    ids = [(token, vocabulary[token]) for token in ["[CLS]", "[SEP]"]]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ids)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, model_max_length=64, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]",
        sep_token="[SEP]", mask_token="[MASK]",
    )
    fast.save_pretrained(folder)
    return fast


def pylate_bytes():
    """A tokenizer that shows what PyLate does to texts before it: white space, prompts and small letters."""
    from pylate import __version__, models as late, scores as scoring
    from sentence_transformers.models import Transformer

    folder = HERE / "pylate-bytes"
    shutil.rmtree(folder, ignore_errors=True)
    plain = folder / "plain"
    fast = byte_tokenizer(plain)
    config = transformers.ModernBertConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=40, vocab_size=len(fast),
        max_position_embeddings=64, local_attention=8, global_attn_every_n_layers=2, pad_token_id=0, bos_token_id=2,
        eos_token_id=3, cls_token_id=2, sep_token_id=3,
    )
    transformers.AutoModel.from_config(config).save_pretrained(plain)
    modules = [Transformer(str(plain)), late.Dense(32, 12, bias=False)]
    model = late.ColBERT(modules=modules, device="cpu", query_length=36, document_length=48)
    randomize(model)
    model.save(str(folder))
    shutil.rmtree(plain)

    def change(file, **changed):
        path = folder / file
        path.write_text(json.dumps({**json.loads(path.read_text()), **changed}, indent=2))

    def of(**named):
        loaded = late.ColBERT(str(folder), device="cpu")
        golden = []
        for query in SPACED_QUERIES:
            query_vectors = loaded.encode([query], is_query=True, convert_to_tensor=True, **named.get("query", {}))[0]
            scores = []
            for text in SPACED_TEXTS:
                vectors = loaded.encode([text], is_query=False, convert_to_tensor=True, **named.get("document", {}))[0]
                scores.append(round(float(scoring.colbert_scores(query_vectors[None], vectors[None])[0, 0]), 6))
            golden.append({"query": query, "scores": scores})
        return golden

    origin = f"pylate {__version__}, transformers {transformers.__version__}, torch {torch.__version__}"
    golden = {"origin": origin, "texts": SPACED_TEXTS, "scores": of()}
    files = ["config_sentence_transformers.json", "sentence_bert_config.json"]
    saved = {file: (folder / file).read_text() for file in files}
    change(files[0], prompts={"query": "", "document": "", "say": "\n Say: "}, default_prompt_name="say")
    golden["by_default"] = of()
    change(files[0], prompts={"query": " Ask: ", "document": "Tell: "}, default_prompt_name=None)
    golden["named"] = of(query={"prompt_name": "query"}, document={"prompt_name": "document"})
    (folder / files[0]).write_text(saved[files[0]])
    # The older name of the file.
    (folder / files[1]).rename(folder / "sentence_roberta_config.json")
    change("sentence_roberta_config.json", do_lower_case=True)
    golden["in_small_letters"] = of()
    (folder / "sentence_roberta_config.json").unlink()
    (folder / files[1]).write_text(saved[files[1]])
    (folder / "golden.json").write_text(json.dumps(golden))
    for extra in ["README.md", ".gitattributes"]:
        (folder / extra).unlink(missing_ok=True)


MAKERS = {"colbert": colbert, "pylate": pylate, "pylate_bytes": pylate_bytes}

if __name__ == "__main__":
    for name in sys.argv[1:]:
        torch.manual_seed(0)
        MAKERS[name]()
