//! The descriptions of search engines in `evaluations/templates/targets`, against a server that answers as their documentation does.
//!
//! Each description names the pages. None of these engines was asked itself, except Chroma, which `make test-engines` asks.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;
use std::sync::Arc;

use evals_providers::HttpTarget;
use evals_targets::{Reply, Request, Target, TargetSettings};
use evals_yaml::Tree;
use serde_json::{Value, json};

use crate::scripted_server::{Reaction, Received, ScriptedServer};
use crate::traffic;

/// The key of an engine that always wants one.
const TYPESENSE: &str = "ts-secret";

/// The description of an engine, at this server.
fn described(engine: &str, scripted: &ScriptedServer, parameters: &Value) -> TargetSettings {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../evaluations/templates/targets");
    let text = std::fs::read_to_string(folder.join(format!("{engine}.yaml"))).unwrap();
    let mut value = Tree::parse(&text).unwrap().to_value();
    let address = value["address"].as_str().unwrap().to_owned();
    let (_, path) = address.split_once("://localhost:").unwrap();
    let (_, path) = path.split_once('/').unwrap();
    value["address"] = json!(format!("{}/{path}", scripted.ollama_url()));
    for (name, set) in parameters.as_object().unwrap() {
        assert!(value["parameters"].get(name).is_some(), "{engine}: {name}");
        value["parameters"][name] = set.clone();
    }
    let settings = TargetSettings::from_value(value).unwrap();
    settings.check().unwrap();
    settings
}

/// The request that an engine got for a question, and the reply as it was read.
async fn asked(engine: &str, parameters: Value, reply: Value) -> (Received, Reply) {
    let scripted = ScriptedServer::start(move |_, _| Reaction::json(200, &reply));
    let settings = described(engine, &scripted, &parameters);
    let variable = |name: &str| (name == "TYPESENSE_API_KEY").then(|| TYPESENSE.to_owned());
    let target = HttpTarget::new(&settings, traffic(1), variable).unwrap();
    let mut request = Request::question("q1", "why \"so\"?");
    request.k = Some(2);
    let is_needed = parameters["mode"] != "keyword";
    assert_eq!(settings.uses_vector(), is_needed, "{engine}: {parameters}");
    request.vector = is_needed.then(|| Arc::from([0.5, -1.0]));
    let reply = target.ask(&request).await.unwrap();
    (scripted.received().pop().unwrap(), reply)
}

/// Asks an engine with each of these parameters, and compares the path and body of each request and the documents of each reply.
async fn check(
    engine: &str,
    sample: Value,
    documents: &[(&str, Option<f64>)],
    requests: Vec<(Value, &str, Value)>,
) {
    for (parameters, path, body) in requests {
        let (received, reply) = asked(engine, parameters.clone(), sample.clone()).await;
        assert_eq!(received.path, path, "{engine}: {parameters}");
        assert_eq!(received.body, body, "{engine}: {parameters}");
        let read = reply.documents.unwrap();
        let read: Vec<_> = read
            .iter()
            .map(|it| (it.id.as_deref().unwrap(), it.score))
            .collect();
        assert_eq!(read, documents, "{engine}");
    }
}

#[tokio::test]
async fn vespa() {
    let sample = json!({"root": {
        "id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 2}, "coverage": {"coverage": 100},
        "children": [
            {"id": "id:evaluations:chunks::a#0", "relevance": 0.7, "source": "chunks",
             "fields": {"document_id": "a", "title": "A", "text": "one"}},
            {"id": "id:evaluations:chunks::b#0", "relevance": 0.4, "source": "chunks", "fields": {"document_id": "b", "text": "two"}},
        ],
    }});
    let select = "select document_id, title, text from chunks where ";
    let near = "({targetHits: 10}nearestNeighbor(vector, q))";
    let body = |rest: &str, profile: &str| {
        json!({
            "yql": format!("{select}{rest}"), "query": "why \"so\"?", "type": "any",
            "input.query(q)": [0.5, -1.0], "ranking": profile, "hits": 10, "timeout": "10s",
        })
    };
    let mut keyword = body("userQuery() and (year > 2020)", "bm25");
    keyword.as_object_mut().unwrap().remove("input.query(q)");
    let requests = vec![
        (
            json!({"mode": "keyword", "filter": "year > 2020"}),
            "/search/",
            keyword,
        ),
        (
            json!({"mode": "vector"}),
            "/search/",
            body(near, "semantic"),
        ),
        (
            json!({"mode": "hybrid"}),
            "/search/",
            body(&format!("(userQuery() or {near})"), "hybrid"),
        ),
    ];
    check(
        "vespa",
        sample,
        &[("a", Some(0.7)), ("b", Some(0.4))],
        requests,
    )
    .await;
    let deep = json!({"mode": "keyword", "chunks_per_document": 300});
    let (received, _) = asked("vespa", deep, json!({"root": {}})).await;
    assert_eq!(received.body["hits"], 400, "Vespa refuses more");
    let none = json!({"root": {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 0}}});
    let (_, reply) = asked("vespa", json!({"mode": "vector"}), none).await;
    assert_eq!(reply.documents, Some(Vec::new()));
}

#[tokio::test]
async fn weaviate() {
    let sample = json!({"data": {"Get": {"Chunks": [
        {"document_id": "a", "title": "A", "text": "one"}, {"document_id": "b", "title": null, "text": "two"},
    ]}}});
    let query = |search: &str| {
        let end = "\n) { document_id title text } } }";
        json!({"query": format!("{{ Get {{ Chunks({search}, limit: 10{end}")})
    };
    let filter = "{path: [\"year\"], operator: GreaterThan, valueInt: 2020}";
    let requests = vec![
        (
            json!({"mode": "keyword", "filter": filter}),
            "/v1/graphql",
            query(&format!(
                r#"bm25: {{query: "why \"so\"?"}}, where: {filter}"#
            )),
        ),
        (
            json!({"mode": "vector"}),
            "/v1/graphql",
            query("nearVector: {vector: [0.5, -1.0]}"),
        ),
        (
            json!({"mode": "hybrid", "alpha": 0.5}),
            "/v1/graphql",
            query(r#"hybrid: {query: "why \"so\"?", vector: [0.5, -1.0], alpha: 0.5}"#),
        ),
    ];
    check("weaviate", sample, &[("a", None), ("b", None)], requests).await;
}

#[tokio::test]
async fn qdrant() {
    let sample = json!({"result": {"points": [
        {"id": "5c56c793-69f3-4fbf-87e6-c4bf54c28c26", "version": 3, "score": 0.9, "payload": {"document_id": "a", "text": "one"}},
        {"id": "5c56c793-69f3-4fbf-87e6-c4bf54c28c27", "version": 3, "score": 0.8, "payload": {"document_id": "b", "text": "two"}},
    ]}, "status": "ok", "time": 0.001});
    let fields = json!(["document_id", "title", "text"]);
    let words = json!({"text": "why \"so\"?", "model": "qdrant/bm25"});
    let params = json!({"exact": false, "hnsw_ef": 128});
    let filter = json!({"must": [{"key": "year", "range": {"gt": 2020}}]});
    let path = "/collections/chunks/points/query";
    let requests = vec![
        (
            json!({"mode": "keyword", "chunks_per_document": 3}),
            path,
            json!({"query": words, "using": "bm25", "limit": 6, "with_payload": fields}),
        ),
        (
            json!({"mode": "vector", "filter": filter.to_string()}),
            path,
            json!({"query": [0.5, -1.0], "params": params, "filter": filter, "limit": 10, "with_payload": fields}),
        ),
        (
            json!({"mode": "hybrid", "filter": filter, "exact": true}),
            path,
            json!({
                "prefetch": [
                    {"query": words, "using": "bm25", "limit": 100, "filter": filter},
                    {"query": [0.5, -1.0], "params": {"exact": true, "hnsw_ef": 128}, "limit": 100, "filter": filter},
                ],
                "query": {"fusion": "rrf"}, "limit": 10, "with_payload": fields,
            }),
        ),
    ];
    check(
        "qdrant",
        sample,
        &[("a", Some(0.9)), ("b", Some(0.8))],
        requests,
    )
    .await;
}

/// A reply of OpenSearch or Elasticsearch.
fn hits() -> Value {
    json!({"took": 3, "timed_out": false, "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0}, "hits": {
        "total": {"value": 2, "relation": "eq"}, "max_score": 1.5, "hits": [
            {"_index": "chunks", "_id": "1", "_score": 1.5, "_source": {"document_id": "a", "title": "A", "text": "one"}},
            {"_index": "chunks", "_id": "2", "_score": 0.5, "_source": {"document_id": "b", "text": "two"}},
        ],
    }})
}

#[tokio::test]
async fn opensearch() {
    let fields = json!(["document_id", "title", "text"]);
    let filter = json!({"range": {"year": {"gt": 2020}}});
    let words = json!({"multi_match": {"query": "why \"so\"?", "fields": ["title", "text"]}});
    let near = |k| json!({"knn": {"vector": {"vector": [0.5, -1.0], "k": k}}});
    let mut filtered = near(10);
    filtered["knn"]["vector"]["filter"] = filter.clone();
    let path = "/chunks/_search";
    let requests = vec![
        (
            json!({"mode": "keyword", "filter": filter.to_string()}),
            path,
            json!({"query": {"bool": {"must": words, "filter": filter}}, "size": 10, "_source": fields}),
        ),
        (
            json!({"mode": "vector", "filter": filter}),
            path,
            json!({"query": filtered, "size": 10, "_source": fields}),
        ),
        (
            json!({"mode": "hybrid"}),
            path,
            json!({
                "query": {"hybrid": {"pagination_depth": 100, "queries": [{"bool": {"must": words}}, near(100)]}},
                "search_pipeline": {"phase_results_processors": [{"normalization-processor": {
                    "normalization": {"technique": "min_max"},
                    "combination": {"technique": "arithmetic_mean", "parameters": {"weights": [0.3, 0.7]}},
                }}]},
                "size": 10, "_source": fields,
            }),
        ),
    ];
    check(
        "opensearch",
        hits(),
        &[("a", Some(1.5)), ("b", Some(0.5))],
        requests,
    )
    .await;
}

#[tokio::test]
async fn elasticsearch() {
    let fields = json!(["document_id", "title", "text"]);
    let filter = json!({"range": {"year": {"gt": 2020}}});
    let query = json!({"multi_match": {"query": "why \"so\"?", "fields": ["title", "text"]}});
    let near =
        |k| json!({"field": "vector", "query_vector": [0.5, -1.0], "k": k, "num_candidates": 100});
    let mut filtered = near(10);
    filtered["filter"] = filter.clone();
    let path = "/chunks/_search";
    let requests = vec![
        (
            json!({"mode": "keyword", "filter": filter}),
            path,
            json!({"retriever": {"standard": {"query": query, "filter": filter}}, "size": 10, "_source": fields}),
        ),
        (
            json!({"mode": "vector", "filter": filter.to_string()}),
            path,
            json!({"retriever": {"knn": filtered}, "size": 10, "_source": fields}),
        ),
        (
            json!({"mode": "hybrid"}),
            path,
            json!({
                "retriever": {"rrf": {
                    "retrievers": [{"standard": {"query": query}}, {"knn": near(100)}], "rank_window_size": 100,
                }},
                "size": 10, "_source": fields,
            }),
        ),
    ];
    check(
        "elasticsearch",
        hits(),
        &[("a", Some(1.5)), ("b", Some(0.5))],
        requests,
    )
    .await;
}

#[tokio::test]
async fn chroma() {
    let sample = json!({
        "ids": [["a", "b"]], "distances": [[0.1, 0.2]], "include": ["distances"],
        "documents": null, "embeddings": null, "metadatas": null, "uris": null,
    });
    let collection = "7c6bcb4a-0d4f-4c4b-8d8c-5c1f2b4a9a10";
    let path = format!(
        "/api/v2/tenants/default_tenant/databases/default_database/collections/{collection}/query"
    );
    let requests = vec![
        (
            json!({"collection_id": collection}),
            path.as_str(),
            json!({"query_embeddings": [[0.5, -1.0]], "n_results": 2, "include": ["distances"]}),
        ),
        (
            json!({"collection_id": collection, "filter": {"year": {"$gt": 2020}}, "contains": "so"}),
            path.as_str(),
            json!({
                "query_embeddings": [[0.5, -1.0]], "n_results": 2, "include": ["distances"],
                "where": {"year": {"$gt": 2020}}, "where_document": {"$contains": "so"},
            }),
        ),
    ];
    check("chroma", sample, &[("a", None), ("b", None)], requests).await;
}

#[tokio::test]
async fn milvus() {
    let sample = json!({"code": 0, "cost": 0, "data": [
        {"id": 1, "distance": 0.9, "document_id": "a", "title": "A", "text": "one"},
        {"id": 2, "distance": 0.8, "document_id": "b", "title": "B", "text": "two"},
    ]});
    let fields = json!(["document_id", "title", "text"]);
    let filter = "metadata[\"year\"] > 2020";
    let search = "/v2/vectordb/entities/search";
    let requests = vec![
        (
            json!({"mode": "keyword", "filter": filter}),
            search,
            json!({
                "collectionName": "chunks", "data": ["why \"so\"?"], "annsField": "sparse", "filter": filter, "limit": 10,
                "outputFields": fields,
            }),
        ),
        (
            json!({"mode": "vector", "search_params": {"ef": 64}}),
            search,
            json!({
                "collectionName": "chunks", "data": [[0.5, -1.0]], "annsField": "vector", "filter": "",
                "searchParams": {"params": {"ef": 64}}, "limit": 10, "outputFields": fields,
            }),
        ),
        (
            json!({"mode": "hybrid"}),
            "/v2/vectordb/entities/hybrid_search",
            json!({
                "collectionName": "chunks",
                "search": [
                    {"data": ["why \"so\"?"], "annsField": "sparse", "limit": 100, "filter": ""},
                    {"data": [[0.5, -1.0]], "annsField": "vector", "limit": 100, "filter": "", "params": {}},
                ],
                "rerank": {"strategy": "rrf", "params": {"k": 60}}, "limit": 10, "outputFields": fields,
            }),
        ),
    ];
    check(
        "milvus",
        sample,
        &[("a", Some(0.9)), ("b", Some(0.8))],
        requests,
    )
    .await;
}

#[tokio::test]
async fn solr() {
    let sample = json!({"responseHeader": {"status": 0, "QTime": 1}, "response": {
        "numFound": 2, "start": 0, "maxScore": 1.5, "numFoundExact": true,
        "docs": [{"document_id": "a", "text": "one", "score": 1.5}, {"document_id": "b", "text": "two", "score": 0.5}],
    }});
    let fields = json!(["document_id", "title", "text", "score"]);
    let words = json!({"edismax": {"query": "why \"so\"?", "qf": "title text", "uf": "-*"}});
    let near = |k| json!({"knn": {"f": "vector", "topK": k, "query": "[0.5, -1.0]"}});
    let path = "/solr/chunks/query";
    let requests = vec![
        (
            json!({"mode": "keyword", "filter": "year:[2021 TO *]"}),
            path,
            json!({"query": words, "filter": "year:[2021 TO *]", "limit": 10, "fields": fields}),
        ),
        (
            json!({"mode": "vector"}),
            path,
            json!({"query": near(10), "limit": 10, "fields": fields}),
        ),
        (
            json!({"mode": "hybrid"}),
            "/solr/chunks/search",
            json!({
                "queries": {"words": words, "vectors": near(100)},
                "params": {"combiner": true, "combiner.query": ["words", "vectors"], "combiner.algorithm": "rrf"},
                "limit": 10, "fields": fields,
            }),
        ),
    ];
    check(
        "solr",
        sample,
        &[("a", Some(1.5)), ("b", Some(0.5))],
        requests,
    )
    .await;
}

#[tokio::test]
async fn meilisearch() {
    let sample = json!({
        "hits": [
            {"document_id": "a", "title": "A", "text": "one", "_rankingScore": 0.9},
            {"document_id": "b", "title": "B", "text": "two", "_rankingScore": 0.8},
        ],
        "query": "why \"so\"?", "processingTimeMs": 1, "limit": 2, "offset": 0, "estimatedTotalHits": 2, "semanticHitCount": 2,
    });
    let body = |further: Value| {
        let mut body = json!({
            "q": "why \"so\"?", "limit": 10, "attributesToRetrieve": ["document_id", "title", "text"], "showRankingScore": true,
        });
        let further = further.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(further);
        body
    };
    let by_vector = |ratio: f64| json!({"vector": [0.5, -1.0], "hybrid": {"embedder": "default", "semanticRatio": ratio}});
    let path = "/indexes/chunks/search";
    let requests = vec![
        (
            json!({"mode": "keyword", "filter": "year > 2020"}),
            path,
            body(json!({"filter": "year > 2020"})),
        ),
        (json!({"mode": "vector"}), path, body(by_vector(1.0))),
        (json!({"mode": "hybrid"}), path, body(by_vector(0.5))),
    ];
    check(
        "meilisearch",
        sample,
        &[("a", Some(0.9)), ("b", Some(0.8))],
        requests,
    )
    .await;
}

#[tokio::test]
async fn typesense() {
    let sample = json!({"results": [{
        "found": 2, "hits": [
            {"document": {"document_id": "a", "title": "A", "text": "one"}, "vector_distance": 0.1},
            {"document": {"document_id": "b", "title": "B", "text": "two"}, "vector_distance": 0.2},
        ],
        "out_of": 2, "page": 1, "search_time_ms": 1,
    }]});
    let body = |search: Value| {
        let mut all = json!({"collection": "chunks", "per_page": 10, "include_fields": "document_id,title,text"});
        all.as_object_mut()
            .unwrap()
            .extend(search.as_object().unwrap().clone());
        json!({"searches": [all]})
    };
    let words = json!({"q": "why \"so\"?", "query_by": "title,text", "drop_tokens_threshold": 10});
    let with = |more: Value| {
        let mut search = words.clone();
        search
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        body(search)
    };
    let path = "/multi_search";
    let requests = vec![
        (
            json!({"mode": "keyword", "filter": "year:>2020"}),
            path,
            with(json!({"filter_by": "year:>2020"})),
        ),
        (
            json!({"mode": "vector"}),
            path,
            body(json!({"q": "*", "vector_query": "vector:([0.5, -1.0], k: 10)"})),
        ),
        (
            json!({"mode": "hybrid"}),
            path,
            with(json!({"vector_query": "vector:([0.5, -1.0], k: 10, alpha: 0.3)"})),
        ),
    ];
    check(
        "typesense",
        sample.clone(),
        &[("a", None), ("b", None)],
        requests,
    )
    .await;
    let (received, _) = asked("typesense", json!({"mode": "keyword"}), sample).await;
    assert_eq!(received.headers["x-typesense-api-key"], TYPESENSE);
}

#[tokio::test]
async fn an_error_in_a_reply_with_status_200_fails_the_case_with_its_message() {
    let refused = "vector dimension 2, expected 384";
    for (engine, reply) in [
        ("milvus", json!({"code": 1804, "message": refused})),
        (
            "weaviate",
            json!({"data": {"Get": {"Chunks": null}}, "errors": [{"message": refused, "path": ["Get", "Chunks"]}]}),
        ),
        (
            "typesense",
            json!({"results": [{"code": 400, "error": refused}]}),
        ),
        (
            "vespa",
            json!({"root": {"id": "toplevel", "relevance": 1.0, "errors": [{"code": 3, "summary": "Illegal query", "message": refused}]}}),
        ),
    ] {
        let scripted = ScriptedServer::start(move |_, _| Reaction::json(200, &reply));
        let settings = described(engine, &scripted, &json!({"mode": "vector"}));
        let variable = |_: &str| Some(TYPESENSE.to_owned());
        let target = HttpTarget::new(&settings, traffic(1), variable).unwrap();
        let mut request = Request::question("q1", "why?");
        request.k = Some(2);
        request.vector = Some([0.5, -1.0].into());
        let error = target.ask(&request).await.unwrap_err();
        let message = crate::chain(&error);
        assert!(message.contains(refused), "{engine}: {message}");
    }
}
