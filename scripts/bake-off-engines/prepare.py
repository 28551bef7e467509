"""Writes what `scripts/bake-off` measures engines on, into a folder.

    python prepare.py MODEL_FOLDER OUT

    texts.json       the first 300 documents of SciFact, of the hub's cache or else of the hub
    reference.f32    their vectors by sentence-transformers, cut at 256 tokens, as little-endian floats row after row
    f32.onnx         the model up to its last states, as torch.onnx exports it, with batch and length left open
    int8.onnx        the same with 8-bit weights, for each output its own scale, and activations quantised at run time
"""

import pathlib
import sys

import torch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import LocalEntryNotFoundError
from onnxruntime.quantization import QuantType, quantize_dynamic
from sentence_transformers import SentenceTransformer
from transformers import AutoModel

sys.path.append(str(pathlib.Path(__file__).parents[1] / "tests/local"))
from measure_sentence_transformers import write_texts

INPUTS = ["input_ids", "attention_mask", "token_type_ids"]


class States(torch.nn.Module):
    def __init__(self, folder):
        super().__init__()
        self.model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()

    def forward(self, *inputs):
        return self.model(**dict(zip(INPUTS, inputs))).last_hidden_state


def export(folder, out):
    ids = torch.ones(2, 7, dtype=torch.long)
    axes = {name: {0: "batch", 1: "length"} for name in [*INPUTS, "states"]}
    # The exporter before `dynamo`, because it is what the files on the hub come from.
    torch.onnx.export(
        States(folder),
        (ids, ids, torch.zeros_like(ids)),
        out / "f32.onnx",
        input_names=INPUTS,
        output_names=["states"],
        dynamic_axes=axes,
        opset_version=17,
        dynamo=False,
    )
    quantize_dynamic(out / "f32.onnx", out / "int8.onnx", weight_type=QuantType.QInt8, per_channel=True)


def corpus():
    find = lambda **options: snapshot_download(
        "mteb/scifact", repo_type="dataset", allow_patterns="corpus/*.parquet", **options
    )
    try:
        snapshot = find(local_files_only=True)
    except LocalEntryNotFoundError:
        snapshot = find()
    return next(pathlib.Path(snapshot).glob("corpus/*.parquet"))


def write_reference(folder, texts, out):
    model = SentenceTransformer(folder, device="cpu")
    model.max_seq_length = 256
    model.encode(texts, normalize_embeddings=True).astype("<f4").tofile(out)


if __name__ == "__main__":
    import json

    folder, out = sys.argv[1], pathlib.Path(sys.argv[2])
    write_texts(corpus(), out / "texts.json")
    write_reference(folder, json.loads((out / "texts.json").read_text()), out / "reference.f32")
    export(folder, out)
