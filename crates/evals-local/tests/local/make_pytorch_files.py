"""Makes the files under `pytorch/`: weights as `torch.save` writes them, those of the checkpoint `bert` among them.

    pip install torch==2.15.0 safetensors && python make_pytorch_files.py
"""

import json
import os
import pathlib

import torch
from safetensors.torch import load_file

HERE = pathlib.Path(__file__).parent
FOLDER = HERE / "pytorch"


def tables(weights):
    """The tensors in every way in which checkpoints keep them."""
    made = {}
    for name, tensor in weights.items():
        # As in the first checkpoints of BERT.
        name = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
        if name.endswith("word_embeddings.weight"):
            tensor = tensor.t().contiguous().t()
        elif name.endswith("intermediate.dense.weight"):
            tensor = torch.nn.Parameter(tensor)
        made[name] = tensor
    layer = "encoder.layer.0.attention.self.{}.weight".format
    together = torch.cat([made[layer("query")], made[layer("key")]])
    made[layer("query")], made[layer("key")] = together.chunk(2)
    made["embeddings.position_ids"] = torch.arange(64)[None]
    return made


class Code:
    def __reduce__(self):
        return os.system, ("exit 1",)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    made = tables(load_file(HERE / "checkpoints/bert/model.safetensors"))
    torch.save(made, FOLDER / "pytorch_model.bin")
    names = sorted(made)
    shards = {f"pytorch_model-0000{part + 1}-of-00002.bin": names[part::2] for part in range(2)}
    for file, part in shards.items():
        torch.save({name: made[name].clone() for name in part}, FOLDER / file)
    index = {"metadata": {}, "weight_map": {name: file for file, part in shards.items() for name in part}}
    (FOLDER / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    values = torch.arange(6.0).reshape(2, 3)
    numbers = {
        "f32": values,
        "transposed": values.t(),
        "later": torch.arange(10.0)[4:],
        "f16": values.half(),
        "bf16": values.bfloat16(),
        "single": torch.tensor(1.5),
        "i64": torch.arange(3),
    }
    torch.save(numbers, FOLDER / "numbers.bin")
    torch.save(numbers, FOLDER / "numbers-protocol-4.bin", pickle_protocol=4)
    torch.save(torch.nn.Linear(2, 1).state_dict(), FOLDER / "module.bin")
    torch.save({"a": values}, FOLDER / "legacy.bin", _use_new_zipfile_serialization=False)
    torch.save({"a": Code()}, FOLDER / "code.bin")
    torch.save({"a": torch.zeros(1).expand(1 << 20, 1 << 20)}, FOLDER / "expanded.bin")
