"""Measures sentence-transformers on the texts that `benches/local.rs` measures, and writes those texts.

    python measure_sentence_transformers.py texts CORPUS.parquet texts.json
    python measure_sentence_transformers.py speed MODEL_FOLDER texts.json
    python measure_sentence_transformers.py scifact SNAPSHOT texts.json
    python measure_sentence_transformers.py quality SNAPSHOT vectors.f32

The texts are the first 300 documents of SciFact, title and text, sorted by length. `speed` prints one line of JSON with
documents per second (two threads, 32-bit floats, cut at 256 tokens, batches of 32), processor time of a document, seconds from the start of the process to
the first vector, and peak memory in MB. `scifact` writes all documents and the test queries of a snapshot of mteb/scifact, and
`quality` prints nDCG@10 and recall@100 of the vectors that `benches/local.rs` wrote for them.
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


def read(snapshot):
    import glob

    import pyarrow.parquet as parquet

    part = lambda name: parquet.read_table(glob.glob(f"{snapshot}/{name}/*.parquet")[0]).to_pylist()
    qrels = {}
    for row in part("data"):
        if row["score"] > 0:
            qrels.setdefault(str(row["query-id"]), {})[str(row["corpus-id"])] = row["score"]
    documents = {str(row["_id"]): f"{row['title']} {row['text']}".strip() for row in part("corpus")}
    queries = {str(row["_id"]): row["text"] for row in part("queries") if str(row["_id"]) in qrels}
    return documents, queries, qrels


def write_scifact(snapshot, out):
    documents, queries, _ = read(snapshot)
    with open(out, "w") as file:
        json.dump([*documents.values(), *queries.values()], file)


def quality(snapshot, vectors):
    import numpy

    documents, queries, qrels = read(snapshot)
    vectors = numpy.fromfile(vectors, dtype="<f4").reshape(len(documents) + len(queries), -1)
    scores = vectors[len(documents) :] @ vectors[: len(documents)].T
    ids = numpy.array(list(documents))
    gains, found = [], []
    for query, row in zip(queries, scores):
        relevant = qrels[query]
        ranked = ids[numpy.argsort(-row)[:100]]
        discounts = 1 / numpy.log2(numpy.arange(2, 12))
        gain = sum(relevant.get(id, 0) * d for id, d in zip(ranked, discounts))
        ideal = sum(g * d for g, d in zip(sorted(relevant.values(), reverse=True), discounts))
        gains.append(gain / ideal)
        found.append(len(set(ranked) & set(relevant)) / len(relevant))
    print(json.dumps({"nDCG@10": round(float(numpy.mean(gains)), 4), "R@100": round(float(numpy.mean(found)), 4)}))


if __name__ == "__main__":
    {"texts": write_texts, "speed": measure, "scifact": write_scifact, "quality": quality}[sys.argv[1]](*sys.argv[2:])
