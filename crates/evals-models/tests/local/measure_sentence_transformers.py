"""Measures sentence-transformers on the texts that `benches/local.rs` measures, and writes those texts.

    python measure_sentence_transformers.py texts CORPUS.parquet texts.json
    python measure_sentence_transformers.py speed MODEL_FOLDER texts.json

The texts are the first 300 documents of SciFact, title and text, sorted by length. `speed` prints one line of JSON with
documents per second (two threads, 32-bit floats, cut at 256 tokens, batches of 32), processor time of a document, seconds from the start of the process to
the first vector, and peak memory in MB.
"""

import json
import resource
import sys
import time

started = time.time()


def write_texts(corpus, out):
    import pyarrow.parquet as parquet

    rows = parquet.read_table(corpus).to_pylist()[:300]
    texts = sorted((f"{row['title']} {row['text']}".strip() for row in rows), key=len)
    with open(out, "w") as file:
        json.dump(texts, file)


def measure(folder, file):
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(2)
    texts = json.load(open(file))
    model = SentenceTransformer(folder, device="cpu")
    model.max_seq_length = 256
    model.encode(["first"], batch_size=1)
    first = time.time() - started
    begun, processor = time.time(), time.process_time()
    model.encode(texts, batch_size=32, show_progress_bar=False)
    seconds, processor = time.time() - begun, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = {
        "engine": "sentence-transformers f32",
        "documents_per_second": round(len(texts) / seconds, 1),
        "processor_milliseconds_per_document": round(processor / len(texts) * 1000, 1),
        "first_vector_seconds": round(first, 2),
        "peak_megabytes": round(peak),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    {"texts": write_texts, "speed": measure}[sys.argv[1]](*sys.argv[2:])
