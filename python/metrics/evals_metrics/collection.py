"""Rankings and judgements of queries: `Run` and `Qrels`, by the calls of ranx.

Both hold `{query: {document: number}}` in the native part, so that they are scored without the interpreter. They are read like dicts of dicts.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Optional, TypeVar, Union

import numpy as np

from . import _native

C = TypeVar("C", bound="Collection")
_PARQUET = ("parq", "parquet")
Documents = Mapping[str, Mapping[str, float]]


class Collection(Mapping[str, Mapping[str, float]]):
    """Numbers of documents by query: what `Run` and `Qrels` have in common."""

    _are_rankings: ClassVar[bool]
    # The names of a column of numbers, those of ranx first and then those of ir-measures.
    _numbers: ClassVar[tuple[str, ...]]

    def __init__(self, documents: Optional[Documents] = None, name: Optional[str] = None) -> None:
        """Copy `{query: {document: number}}`, or begin without queries.

        Raises TypeError for ids that are not str and for numbers that are not numbers, and ValueError for NaN, infinite scores and grades that
        are not whole numbers. The message names the query and the document.
        """
        self.name = name
        self._documents: Optional[dict[str, dict[str, float]]] = None
        queries = {} if documents is None else documents
        if not isinstance(queries, dict):
            queries = {query: dict(queries[query]) for query in queries}
        self._native: Optional[_native.Collection] = _native.Collection.from_dict(queries, self._are_rankings)

    @classmethod
    def _of_native(cls: type[C], native: _native.Collection, name: Optional[str] = None) -> C:
        collection = cls(name=name)
        collection._native = native
        return collection

    @classmethod
    def of(cls: type[C], source: Union[C, Documents, str, os.PathLike[str], Any]) -> C:
        """Take what people have: an instance, a dict of dicts, the path of a file, or a frame."""
        if isinstance(source, cls):
            return source
        if isinstance(source, Collection):
            raise TypeError(f"expected {cls.__name__}, not {type(source).__name__}; are the arguments swapped?")
        if isinstance(source, Mapping):
            return cls(source)
        if isinstance(source, (str, os.PathLike)):
            return cls.from_file(source)
        return cls.from_df(source)

    @classmethod
    def from_dict(cls: type[C], d: Documents, name: Optional[str] = None) -> C:
        """Copy `{query: {document: number}}`."""
        return cls(d, name)

    @classmethod
    def from_text(cls: type[C], text: Union[str, bytes], name: Optional[str] = None) -> C:
        """Take a text in the form of TREC, or CSV or TSV with a header as BEIR has them.

        Its lines are checked when they are scored or looked at: ValueError then names the line.
        """
        data = text.encode() if isinstance(text, str) else text
        # The last field of a run in the form of TREC is its tag.
        fields = data[-1000:].rstrip().rpartition(b"\n")[2].split()
        tag = fields[5].decode() if cls._are_rankings and len(fields) == 6 else None
        return cls._of_native(_native.Collection.from_text(data, cls._are_rankings), name or tag)

    @classmethod
    def from_file(cls: type[C], path: Union[str, os.PathLike[str]], kind: Optional[str] = None, name: Optional[str] = None) -> C:
        """Read a file: TREC, CSV or TSV; JSON for the ending `.json`, Parquet for `.parquet`; each of them compressed for `.gz`.

        `kind` (`trec`, `gz`, `json` or `parquet`) overrides the ending.
        """
        file_name, ending = os.path.splitext(os.fspath(path).lower())
        with (gzip.open if "gz" in (kind, ending[1:]) else open)(path, "rb") as file:
            kind = kind or (os.path.splitext(file_name)[1] if ending == ".gz" else ending)[1:]
            if kind in _PARQUET:
                return cls.from_parquet(file, name=name)
            data = file.read()
        return cls(json.loads(data), name) if kind == "json" else cls.from_text(data, name)

    @classmethod
    def from_parquet(cls: type[C], path: Any, pd_kwargs: Optional[dict[str, Any]] = None, **columns: Any) -> C:
        """Read a Parquet file or address with pandas, which takes `pd_kwargs`; other arguments are those of :meth:`from_df`."""
        import pandas

        return cls.from_df(pandas.read_parquet(path, **(pd_kwargs or {})), **columns)

    @classmethod
    def from_df(
        cls: type[C],
        df: Any,
        q_id_col: Optional[str] = None,
        doc_id_col: Optional[str] = None,
        score_col: Optional[str] = None,
        name: Optional[str] = None,
    ) -> C:
        """Read three columns of n rows: a frame of pandas or polars, a table of Arrow, a structured array, or a dict of arrays.

        The columns are `q_id` or `query_id`, `doc_id`, and `score`, or `rel` or `relevance` for judgements, unless they are named here. Numbers
        are copied once; ids are read from the objects of a column that holds them, and made for others.
        """
        names = (
            _column_name(df, ("q_id", "query_id"), q_id_col),
            _column_name(df, ("doc_id",), doc_id_col),
            _column_name(df, cls._numbers, score_col),
        )
        queries, documents = (np.asarray(df[column], object).tolist() for column in names[:2])
        numbers = np.asarray(df[names[2]])
        if numbers.ndim != 1 or numbers.dtype.kind not in "biuf":
            raise TypeError(f"column `{names[2]}` has the type {numbers.dtype}; expected numbers")
        if not len(queries) == len(documents) == len(numbers):
            raise ValueError(f"the columns have {len(queries)}, {len(documents)} and {len(numbers)} rows; expected equal lengths")
        values = np.ascontiguousarray(numbers, np.float64).tobytes()
        return cls._of_native(_native.Collection.from_columns(queries, documents, values, names, cls._are_rankings), name)

    @property
    def native(self) -> _native.Collection:
        """What the native part scores."""
        if self._native is None:
            self._native = _native.Collection.from_dict(self._documents or {}, self._are_rankings)
        return self._native

    def add_score(self, q_id: str, doc_id: str, score: float) -> None:
        """Set the number of one document."""
        self._edited().setdefault(q_id, {})[doc_id] = score

    def add(self, q_id: str, doc_ids: Sequence[str], scores: Sequence[float]) -> None:
        """Set the numbers of n documents of a query."""
        self.add_multi([q_id], [doc_ids], [scores])

    def add_multi(self, q_ids: Sequence[str], doc_ids: Sequence[Sequence[str]], scores: Sequence[Sequence[float]]) -> None:
        """Set the numbers of documents of many queries: one sequence of ids and one of numbers for each query."""
        if not len(q_ids) == len(doc_ids) == len(scores):
            raise ValueError(f"there are {len(q_ids)} queries, {len(doc_ids)} lists of documents and {len(scores)} of numbers")
        edited = self._edited()
        for query, documents, numbers in zip(q_ids, doc_ids, scores):
            if len(documents) != len(numbers):
                raise ValueError(f"query `{query}` has {len(documents)} documents and {len(numbers)} numbers")
            edited.setdefault(query, {}).update(zip(documents, numbers))

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Copy into `{query: {document: number}}`."""
        return self.native.to_dict()

    def to_dataframe(self) -> Any:
        """Copy into a frame of pandas with the columns `q_id`, `doc_id` and `score`."""
        import pandas

        rows = [(query, *row) for query, documents in self.to_dict().items() for row in documents.items()]
        return pandas.DataFrame(rows, columns=["q_id", "doc_id", "score"])

    def save(self, path: Union[str, os.PathLike[str]], kind: Optional[str] = None) -> None:
        """Write TREC, JSON for the ending `.json`, or Parquet for `.parquet`, with pandas; `kind` overrides the ending."""
        kind = kind or os.path.splitext(path)[1][1:]
        if kind in _PARQUET:
            self.to_dataframe().to_parquet(path, index=False)
            return
        with open(path, "w", encoding="utf-8") as file:
            if kind == "json":
                json.dump(self.to_dict(), file)
                return
            for query, documents in self.to_dict().items():
                # A stable sort: equal scores keep their order.
                ranked = sorted(documents.items(), key=lambda row: -row[1])
                for rank, (document, number) in enumerate(ranked, 1):
                    line = (query, "Q0", document, rank, number, self.name or "run") if self._are_rankings else (query, 0, document, number)
                    print(*line, file=file)

    def __getitem__(self, q_id: str) -> Mapping[str, float]:
        return MappingProxyType(self._read()[q_id])

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.to_dict()!r}, name={self.name!r})"

    def _read(self) -> dict[str, dict[str, float]]:
        if self._documents is None:
            self._documents = self.native.to_dict()
        return self._documents

    def _edited(self) -> dict[str, dict[str, float]]:
        documents = self._read()
        self._native = None
        return documents


class Run(Collection):
    """The scores that a system gave to documents, by query.

    Documents are ranked by score; of equal scores, the greater id comes first, as in trec_eval. ranx keeps the order of the input.
    """

    _are_rankings = True
    _numbers = ("score",)

    def __init__(self, run: Optional[Documents] = None, name: Optional[str] = None) -> None:
        super().__init__(run, name)
        # What `evaluate` found last: values by metric and query, their means and standard deviations.
        self.scores: dict[str, dict[str, float]] = {}
        self.mean_scores: dict[str, float] = {}
        self.std_scores: dict[str, float] = {}

    def make_comparable(self, qrels: Qrels) -> Run:
        """Give queries without a ranking an empty one, and remove those without judgements."""
        documents = self._edited()
        self._documents = {query: documents.get(query, {}) for query in qrels}
        return self


class Qrels(Collection):
    """The relevance grades of documents, by query.

    A grade of 1 or more is relevant, unless a measure sets another level. Negative grades are judged and not relevant.
    """

    _are_rankings = False
    _numbers = ("score", "rel", "relevance")


def _column_name(frame: Any, usual: tuple[str, ...], chosen: Optional[str]) -> str:
    """The first of the usual names that a frame has, or the chosen one."""
    # Arrow, pandas and polars, and structured arrays; the `columns` of Arrow are its values.
    forms = ("column_names", "columns", "dtype")
    names = frame if isinstance(frame, Mapping) else next((getattr(frame, form) for form in forms if hasattr(frame, form)), None)
    names = getattr(names, "names", names) if isinstance(names, np.dtype) else names
    if names is None:
        raise TypeError(f"expected a dict, a path or a frame with columns, not `{type(frame).__name__}`")
    listed = [str(name) for name in names]
    wanted = usual if chosen is None else (chosen,)
    for name in wanted:
        if name in listed:
            return name
    shown = ", ".join(f"`{name}`" for name in listed) or "none"
    raise ValueError(f"there is no column {' or '.join(f'`{name}`' for name in wanted)}; the columns are {shown}")
