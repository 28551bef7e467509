"""Compares our own pipeline with pgvector and Chroma over the same chunks: `scripts/test-engines` calls it.

    engines.py DATASET …            compares, prints a table, and fails if exact search differs
    engines.py --serve -- COMMAND   runs a command with POSTGRES_URL and POSTGRES_PASSWORD set
"""

import contextlib
import json
import os
import pathlib
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import psycopg
import yaml

PASSWORD = "reader-" + secrets.token_hex(8)
# The depth of the rankings and what the table shows of them.
K = 100
MEASURES = ["nDCG@3", "nDCG@10", "R@100"]


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


@contextlib.contextmanager
def postgres(folder):
    """A new PostgreSQL with pgvector; its port. Its superuser is `postgres`, by the socket in `folder`."""
    from pgserver._commands import initdb, pg_ctl
    from pgserver.utils import ensure_user_exists, ensure_prefix_permissions

    data = folder / "data"
    data.mkdir()
    user = None
    if os.geteuid() == 0:  # which PostgreSQL refuses
        user = "pgserver"
        ensure_user_exists(user)
        ensure_prefix_permissions(data)
        for path in (folder, data):
            shutil.chown(path, user)
    initdb(["--auth-local=trust", "--auth-host=scram-sha-256", "--encoding=utf8", "-U", "postgres"], pgdata=data, user=user)
    port = free_port()
    options = f"-h 127.0.0.1 -p {port} -k {folder}"
    pg_ctl(["-w", "-o", options, "-l", str(folder / "log"), "start"], pgdata=data, user=user)
    try:
        yield port
    finally:
        pg_ctl(["-w", "-m", "immediate", "stop"], pgdata=data, user=user)


@contextlib.contextmanager
def chroma(folder):
    """Chroma's server; its address."""
    port = free_port()
    program = pathlib.Path(sys.executable).with_name("chroma")
    command = [program, "run", "--host", "127.0.0.1", "--port", str(port), "--path", str(folder / "chroma")]
    environment = {**os.environ, "ANONYMIZED_TELEMETRY": "False"}
    with open(folder / "chroma.log", "wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    url = f"http://127.0.0.1:{port}/api/v2"
    try:
        for _ in range(100):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{url}/heartbeat", timeout=5)
                break
            time.sleep(0.2)
        else:
            sys.exit("chroma does not answer: " + (folder / "chroma.log").read_text())
        yield url
    finally:
        server.terminate()
        server.wait()


def connect(folder, port):
    return psycopg.connect(f"host={folder} port={port} user=postgres dbname=postgres", autocommit=True)


def prepare(database):
    """What the tests of errors need beside pgvector: a reader with a password, and a table that it may write to."""
    database.execute("CREATE EXTENSION vector")
    database.execute(f"CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'")
    database.execute("CREATE TABLE writable (id text); INSERT INTO writable VALUES ('there')")
    database.execute("GRANT ALL ON writable TO reader")
    # A test ends connections of its own.
    database.execute("GRANT pg_signal_backend TO reader")


def load_postgres(database, chunks):
    dimension = len(chunks[0]["vector"])
    database.execute("DROP TABLE IF EXISTS chunks")
    database.execute(
        "CREATE TABLE chunks (id text PRIMARY KEY, document_id text NOT NULL, title text, text text NOT NULL, "
        f"vector vector({dimension}))"
    )
    with database.cursor().copy("COPY chunks FROM STDIN") as copy:
        for chunk in chunks:
            row = [chunk[key] for key in ("id", "document_id")] + [chunk.get("title"), chunk["text"], json.dumps(chunk["vector"])]
            copy.write_row([cell.replace("\0", "") if isinstance(cell, str) else cell for cell in row])
    database.execute("ALTER TABLE chunks ADD words tsvector GENERATED ALWAYS AS (to_tsvector('english', text)) STORED")
    database.execute("CREATE INDEX ON chunks USING gin (words); GRANT SELECT ON chunks TO reader; ANALYZE chunks")


def load_chroma(url, chunks, middle):
    """Loads a collection; its UUID. Filters keep documents whose id is less than `middle`. Its vectors are compared by cosine, as ours are."""
    def post(path, body):
        request = urllib.request.Request(
            f"{url}/tenants/default_tenant/databases/default_database/{path}",
            json.dumps(body).encode(), {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=300) as reply:
            return json.load(reply)

    name = f"chunks-{secrets.token_hex(4)}"
    collection = post("collections", {"name": name, "configuration": {"hnsw": {"space": "cosine", "ef_search": 200}}})["id"]
    for start in range(0, len(chunks), 500):
        batch = chunks[start : start + 500]
        post(f"collections/{collection}/add", {
            "ids": [chunk["id"] for chunk in batch],
            "embeddings": [chunk["vector"] for chunk in batch],
            "metadatas": [{"document_id": chunk["document_id"], "early": chunk["document_id"] < middle} for chunk in batch],
        })
    return collection


class Runs:
    """Runs of the binary in a data folder of their own."""

    def __init__(self, folder, dataset):
        self.folder, self.dataset = folder, dataset
        self.folder.mkdir()
        self.environment = {
            **os.environ, "EVALUATIONS_DATA_DIR": str(folder / "data"), "PGPASSWORD": PASSWORD, "HF_HUB_OFFLINE": "1",
        }
        if real := os.environ.get("EVALUATIONS_REAL_HF_HOME"):
            self.environment["HF_HOME"] = real

    def call(self, *arguments):
        command = [os.environ["EVALUATIONS"], *arguments]
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def run(self, name, *arguments):
        """Runs retrieval; the report and the rankings by question."""
        measures = [word for measure in MEASURES for word in ("--measure", measure)]
        self.call("run", self.dataset, "--skip-qa", "--k", str(K), "--concurrency", "1", "--name", name, "--quiet", *measures, *arguments)
        [folder] = [it for it in (self.folder / "data/runs").iterdir() if re.search(rf"Z-{name}(-|$)", it.name)]
        rankings = {}
        for line in (folder / "run.trec").read_text().splitlines():
            question, _, document, _, score, _ = line.split()
            rankings.setdefault(question, []).append((document, float(score)))
        return json.loads((folder / "report.json").read_text()), rankings

    def chunks(self):
        self.call("datasets", "export", self.dataset, "--chunks", "--vectors", "--format", "jsonl", "--to", "export")
        with open(self.folder / "export/chunks.jsonl", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    def describe(self, engine, address, parameters, **more):
        """Writes the description of an engine as `target.yaml`, at another address."""
        target = yaml.safe_load(self.call("targets", "show", engine))
        target["address"] = address(target["address"])
        target["parameters"].update(parameters)
        self.parameters = target["parameters"]
        (self.folder / "target.yaml").write_text(yaml.safe_dump({**target, **more}))


def rows(report):
    summary = report["summary"]
    stages = summary["timings"]
    engine = stages.get("target") or stages.get("semantic") or stages.get("hybrid") or stages.get("bm25")
    embed = stages.get("embed")
    cell = lambda stage, key: f"{stage[key] * 1000:.2f}" if stage and stage.get(key) is not None else "-"
    return [f"{summary['scores'][measure]['value']:.4f}" for measure in MEASURES] + [
        cell(engine, "p50"), cell(engine, "p95"), cell(embed, "p50"), cell(embed, "p95"),
    ]


def differences(ours, theirs):
    """The questions whose documents differ in more than the order of equal scores."""
    different = []
    for question, documents in ours.items():
        found = dict(theirs.get(question, []))
        last = documents[-1][1]
        # Where the list is cut, equal scores may go either way; and two programs add up floats in different orders.
        missing = [it for it, score in documents if it not in found and abs(score - last) > 1e-5]
        order = [it for it, _ in theirs.get(question, [])]
        scores = dict(documents)
        swapped = [
            (one, two) for one, two in zip(order, order[1:])
            if one in scores and two in scores and scores[two] - scores[one] > 1e-5
        ]
        if missing or swapped:
            different.append((question, missing, swapped))
    return different


def compare(dataset, folder, port, database, chroma_url):
    runs = Runs(folder / re.sub(r"\W", "-", dataset), dataset)
    table, rankings = [], {}

    def add(name, *arguments):
        report, rankings[name] = runs.run(name, *arguments)
        table.append([name, *rows(report)])

    chunks = runs.chunks()
    # Filtered searches keep the first half of the documents.
    ids = sorted({chunk["document_id"] for chunk in chunks})
    middle = ids[len(ids) // 2]
    for profile in ("bm25", "semantic", "hybrid"):
        add(f"ours-{profile}", "--profile", profile)
    for profile in ("semantic", "hybrid"):
        add(f"ours-{profile}-filtered", "--profile", profile, "--filter", f"uri < '{middle}'")
    most = max(len(group) for group in grouped(chunks).values())
    per_document = {"chunks_per_document": min(most, 5)}
    load_postgres(database, chunks)
    at = f"postgres://reader@127.0.0.1:{port}/postgres"
    runs.describe("postgres", lambda _: at, {**per_document, "ef_search": 200})
    mode = lambda mode: ("--set", f"target.parameters.mode={mode}")
    unused = [it for name in runs.parameters for it in ("--set", f"target.parameters.{name}=null")]
    add("pgvector-unranked", "--set", "target.statement=SELECT document_id AS id FROM chunks LIMIT $3", *unused)
    for name in ("keyword", "exact", "hybrid"):
        add(f"pgvector-{name}", *mode(name))
    for name in ("exact", "hybrid"):
        add(f"pgvector-{name}-filtered", *mode(name), "--filter", f"document_id COLLATE \"C\" < '{middle}'")
    database.execute("CREATE INDEX hnsw ON chunks USING hnsw (vector vector_cosine_ops)")
    for ef in (K, 400):
        add(f"pgvector-hnsw-{ef}", *mode("vector"), "--set", f"target.parameters.ef_search={ef}")
    database.execute("DROP INDEX hnsw; CREATE INDEX ivf ON chunks USING ivfflat (vector vector_cosine_ops) WITH (lists = 50)")
    add("pgvector-ivfflat", *mode("vector"))
    database.execute("DROP INDEX ivf")
    collection = load_chroma(chroma_url, chunks, middle)
    path = lambda address: chroma_url + address.split("/api/v2")[1]
    rule = {"match": {"by": "rule", "id": "^(.*)#[0-9]+$"}} if any(it["id"] != it["document_id"] for it in chunks) else {}
    runs.describe("chroma", path, {**per_document, "collection_id": collection}, **rule)
    add("chroma-hnsw")
    add("chroma-hnsw-filtered", "--filter", '{"early": true}')

    heads = ["", *MEASURES, "p50 ms", "p95 ms", "embed p50", "embed p95"]
    print(f"\n{dataset}: {len(chunks)} chunks\n\n| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for row in table:
        print("| " + " | ".join(row) + " |")
    different = []
    for kind in ("", "-filtered"):
        ours = rankings[f"ours-semantic{kind}"]
        found = differences(ours, rankings[f"pgvector-exact{kind}"])
        print(f"\nexact{kind} search of pgvector differs from ours for {len(found)} of {len(ours)} questions")
        different += found
    for name in ("pgvector-hnsw-100", "pgvector-hnsw-400", "pgvector-ivfflat", "chroma-hnsw"):
        kept = [
            len({it for it, _ in documents} & {it for it, _ in rankings[name].get(question, [])}) / len(documents)
            for question, documents in rankings["ours-semantic"].items()
        ]
        print(f"{name} finds {sum(kept) / len(kept):.4f} of the documents of exact search")
    print(runs.call("compare", "ours-semantic", "pgvector-exact", "--color", "never"))
    return different


def grouped(chunks):
    groups = {}
    for chunk in chunks:
        groups.setdefault(chunk["document_id"], []).append(chunk["id"])
    return groups


def main():
    arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="engines-", ignore_cleanup_errors=True) as place:
        folder = pathlib.Path(place)
        folder.chmod(0o755)
        (folder / "postgres").mkdir()
        with postgres(folder / "postgres") as port, connect(folder / "postgres", port) as database:
            prepare(database)
            if arguments[0] == "--serve":
                url = f"postgres://reader@127.0.0.1:{port}/postgres"
                environment = {**os.environ, "POSTGRES_URL": url, "POSTGRES_PASSWORD": PASSWORD}
                return subprocess.run(arguments[2:], env=environment).returncode
            with chroma(folder) as chroma_url:
                failed = [compare(dataset, folder, port, database, chroma_url) for dataset in arguments]
            for different in failed:
                for question, missing, swapped in different[:5]:
                    print(f"{question}: missing {missing}, swapped {swapped}", file=sys.stderr)
            return int(any(failed))


if __name__ == "__main__":
    sys.exit(main())
