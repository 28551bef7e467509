"""Writes a tiny language model with random weights, in the format that llama.cpp loads.

It has everything that a real model has (a vocabulary, a chat template, attention over its whole context, a pooling of its
vectors) and knows nothing: what it writes is noise. It is for trying what speaks to a server of llama.cpp.

    python make_gguf.py tiny.gguf [--seed 0]
"""

import argparse
import math
import pathlib

import gguf
import numpy

CONTEXT = 32_768
WIDTH = 64
HEADS = 4
BLOCKS = 2
HIDDEN = 128

UNKNOWN, START, END = 0, 1, 2
FIRST_BYTE = 3
SPACE = FIRST_BYTE + 256

# One component of every vector stays the same, whatever the text, so that it can carry what a token is worth in general.
CONSTANT = 8.0

TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def vocabulary():
    """Three marks, every byte, and the space, which SentencePiece writes as a letter of its own."""
    kinds = gguf.TokenType
    tokens = [("<unk>", kinds.UNKNOWN), ("<s>", kinds.CONTROL), ("</s>", kinds.CONTROL)]
    tokens += [(f"<0x{byte:02X}>", kinds.BYTE) for byte in range(256)]
    tokens.append(("\u2581", kinds.NORMAL))
    return tokens


def leaning(size):
    """What is added to the chance of each token: texts can be read and come to an end, and so do the strings of JSON."""
    leaning = numpy.full(size, -30.0)
    leaning[FIRST_BYTE + 0x20 : FIRST_BYTE + 0x7F] = 0.0
    leaning[SPACE] = 1.0
    leaning[FIRST_BYTE + ord('"')] = 2.0
    leaning[FIRST_BYTE + ord("\\")] = -30.0
    leaning[END] = 2.0
    return leaning


def weights(random, size):
    """All tensors by name, rows being what comes out."""

    def layer(rows, columns):
        return random.normal(0.0, 1.0 / math.sqrt(columns), (rows, columns))

    def adding(columns):
        rows = layer(WIDTH, columns)
        rows[0] = 0.0
        return rows

    embeddings = random.normal(0.0, 1.0, (size, WIDTH))
    embeddings[:, 0] = CONSTANT
    yield "token_embd.weight", embeddings
    for block in range(BLOCKS):
        name = f"blk.{block}"
        yield f"{name}.attn_norm.weight", numpy.ones(WIDTH)
        for part in ("attn_q", "attn_k", "attn_v"):
            yield f"{name}.{part}.weight", layer(WIDTH, WIDTH)
        yield f"{name}.attn_output.weight", adding(WIDTH)
        yield f"{name}.ffn_norm.weight", numpy.ones(WIDTH)
        yield f"{name}.ffn_gate.weight", layer(HIDDEN, WIDTH)
        yield f"{name}.ffn_up.weight", layer(HIDDEN, WIDTH)
        yield f"{name}.ffn_down.weight", adding(HIDDEN)
    yield "output_norm.weight", numpy.ones(WIDTH)
    output = layer(size, WIDTH)
    # About what the constant component is after the norm.
    output[:, 0] = leaning(size) / 4.0
    yield "output.weight", output


def write(path, seed):
    tokens = vocabulary()
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny random llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(BLOCKS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_tokenizer_model("llama")
    writer.add_token_list([token for token, _ in tokens])
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([kind for _, kind in tokens])
    writer.add_unk_token_id(UNKNOWN)
    writer.add_bos_token_id(START)
    writer.add_eos_token_id(END)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(False)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(TEMPLATE)
    for name, tensor in weights(numpy.random.default_rng(seed), len(tokens)):
        writer.add_tensor(name, tensor.astype(numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    write(arguments.path, arguments.seed)


if __name__ == "__main__":
    main()
