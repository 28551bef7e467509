"""The adapters, against stand-ins that behave as the frameworks do, and against the frameworks that are installed."""

import asyncio
import importlib.util
import inspect
import unittest
from types import SimpleNamespace as Object

from evaluations_cli.adapters import haystack, langchain, llamaindex, pydantic_ai

QUESTION = "What is the capital of France?"


def needs(module):
    is_there = importlib.util.find_spec(module.partition(".")[0]) is not None and importlib.util.find_spec(module) is not None
    return unittest.skipUnless(is_there, f"{module} is not installed")


def passage(text, **metadata):
    return Object(page_content=text, metadata=metadata, id=None)


class LangChain(unittest.TestCase):
    def test_a_retriever(self):
        retriever = Object(invoke=lambda question: [passage("Paris", id="d1", title="T"), passage("Rome")])
        self.assertEqual(langchain(retriever)(QUESTION), {"documents": [{"id": "d1", "title": "T", "text": "Paris"}, {"text": "Rome"}]})

    def test_the_metadata_that_holds_the_id(self):
        retriever = Object(invoke=lambda question: [passage("Paris", source="d1", id="other")])
        self.assertEqual(langchain(retriever, id="source")(QUESTION), {"documents": [{"id": "d1", "text": "Paris"}]})
        with self.assertRaisesRegex(KeyError, "no `key` in the metadata of a document, which has source, id"):
            langchain(retriever, id="key")(QUESTION)

    def test_chains_and_graphs(self):
        for returned, expected in [
            ("Paris", {"answer": "Paris"}),
            ({"input": QUESTION, "context": [passage("Paris", id="d1")], "answer": "Paris"}, {"answer": "Paris", "documents": [{"id": "d1", "text": "Paris"}]}),
            ({"query": QUESTION, "result": "Paris", "source_documents": []}, {"answer": "Paris", "documents": []}),
            ({"context": "Paris is …", "answer": "Paris"}, {"answer": "Paris"}),
            ({"messages": [Object(content="?"), Object(content="Paris")]}, {"answer": "Paris"}),
            ({"country": "France"}, {"answer": {"country": "France"}}),
        ]:
            with self.subTest(returned):
                self.assertEqual(langchain(Object(invoke=lambda _, returned=returned: returned))(QUESTION), expected)

    def test_the_input_of_a_chain(self):
        chain = langchain(Object(invoke=lambda given: given["input"]), input=lambda question: {"input": question})
        self.assertEqual(chain(QUESTION), {"answer": QUESTION})

    @needs("langchain_core")
    def test_the_framework(self):
        from langchain_core.documents import Document
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage
        from langchain_core.output_parsers import StrOutputParser
        from langchain_core.prompts import ChatPromptTemplate
        from langchain_core.retrievers import BaseRetriever
        from langchain_core.runnables import RunnablePassthrough

        class Retriever(BaseRetriever):
            def _get_relevant_documents(self, query, *, run_manager):
                return [Document("Paris", metadata={"id": "d1"}), Document("Rome", id="d2")]

        found = [{"id": "d1", "text": "Paris"}, {"id": "d2", "text": "Rome"}]
        self.assertEqual(langchain(Retriever())(QUESTION), {"documents": found})

        def model():
            usage = {"input_tokens": 7, "output_tokens": 1, "total_tokens": 8}
            call = {"name": "search", "args": {"q": "France"}, "id": "1"}
            message = AIMessage("Paris", usage_metadata=usage, response_metadata={"model_name": "m"}, tool_calls=[call])
            return GenericFakeChatModel(messages=iter([message]))

        prompt = ChatPromptTemplate.from_template("{context} {question}")
        steps = {"context": Retriever(), "question": RunnablePassthrough()}
        expected = {
            "answer": "Paris",
            "usage": {"input_tokens": 7, "output_tokens": 1},
            "model": "m",
            "tool_calls": [{"name": "search", "arguments": {"q": "France"}}],
        }
        self.assertEqual(langchain(steps | prompt | model())(QUESTION), expected)
        self.assertEqual(langchain(steps | prompt | model() | StrOutputParser())(QUESTION), {"answer": "Paris"})
        chain = RunnablePassthrough.assign(context=lambda it: Retriever().invoke(it["input"]), answer=lambda it: "Paris")
        self.assertEqual(langchain(chain, input=lambda question: {"input": question})(QUESTION), {"answer": "Paris", "documents": found})


class LlamaIndex(unittest.TestCase):
    NODES = [Object(node=Object(ref_doc_id="d1", id_="n7", metadata={"title": "T"}, text="Paris"), score=0.5)]
    FOUND = [{"id": "d1", "score": 0.5, "title": "T", "text": "Paris"}]

    def test_a_retriever(self):
        self.assertEqual(llamaindex(Object(retrieve=lambda question: self.NODES))(QUESTION), {"documents": self.FOUND})

    def test_engines(self):
        class Response:
            source_nodes = self.NODES

            def __str__(self):
                return "Paris"

        for method in ["query", "chat"]:
            engine = Object(**{method: lambda question: Response(), "retrieve": lambda question: []})
            self.assertEqual(llamaindex(engine)(QUESTION), {"answer": "Paris", "documents": self.FOUND})

    @needs("llama_index.core")
    def test_the_framework(self):
        from llama_index.core import Document, MockEmbedding, VectorStoreIndex
        from llama_index.core.llms import MockLLM

        documents = [Document(text="Paris is in France", doc_id="d1", metadata={"title": "T"})]
        index = VectorStoreIndex.from_documents(documents, embed_model=MockEmbedding(embed_dim=4))
        reply = llamaindex(index.as_retriever())(QUESTION)
        self.assertEqual(reply, {"documents": [{"id": "d1", "score": 1.0, "title": "T", "text": "Paris is in France"}]})
        for is_streaming in [False, True]:
            answered = llamaindex(index.as_query_engine(llm=MockLLM(), streaming=is_streaming))(QUESTION)
            self.assertIn("Paris is in France", answered["answer"])
            self.assertEqual(answered["documents"], reply["documents"])
        chat = index.as_chat_engine(chat_mode="context", llm=MockLLM())
        self.assertEqual(llamaindex(chat)(QUESTION)["documents"], reply["documents"])


class Haystack(unittest.TestCase):
    FOUND = [Object(id="h1", content="Paris", meta={"source_id": "d1"}, score=0.5), Object(id="d2", content="Rome", meta={}, score=0.25)]
    DOCUMENTS = [{"id": "d1", "score": 0.5, "text": "Paris"}, {"id": "d2", "score": 0.25, "text": "Rome"}]

    def pipeline(self, found, inner=(), outer=("retriever",)):
        def outputs(include_components_with_connected_outputs=False):
            names = [*inner, *outer] if include_components_with_connected_outputs else outer
            return {name: {"documents": {}} if "r" in name[:1] else {"replies": {}} for name in names}

        def run(data, include_outputs_from):
            self.assertEqual(data, {"retriever": {"query": QUESTION}})
            return {name: made for name, made in found.items() if name in outer or name in include_outputs_from}

        return Object(inputs=lambda: {"retriever": {"query": {}, "top_k": {}}, "llm": {"seed": {}}}, outputs=outputs, run=run)

    def test_documents_alone(self):
        self.assertEqual(haystack(self.pipeline({"retriever": {"documents": self.FOUND}}))(QUESTION), {"documents": self.DOCUMENTS})

    def test_documents_of_a_component_inside(self):
        found = {"retriever": {"documents": self.FOUND}, "llm": {"replies": [Object(text="Paris")]}}
        reply = haystack(self.pipeline(found, inner=["retriever"], outer=["llm"]))(QUESTION)
        self.assertEqual(reply, {"answer": "Paris", "documents": self.DOCUMENTS})

    def test_documents_of_several_components(self):
        found = {"retriever": {"documents": self.FOUND}, "ranker": {"documents": self.FOUND[:1]}, "llm": {"replies": ["Paris"]}}
        pipeline = self.pipeline(found, inner=["retriever", "ranker"], outer=["llm"])
        with self.assertRaisesRegex(ValueError, "several components have documents: retriever, ranker; name one with `documents=`"):
            haystack(pipeline)(QUESTION)
        self.assertEqual(haystack(pipeline, documents="ranker")(QUESTION)["documents"], self.DOCUMENTS[:1])
        with self.assertRaisesRegex(ValueError, "no component `llm` with documents; it has retriever, ranker, llm"):
            haystack(pipeline, documents="llm")
        last = self.pipeline(found, inner=["retriever"], outer=["ranker"])
        self.assertEqual(haystack(last)(QUESTION)["documents"], self.DOCUMENTS[:1])

    @needs("haystack")
    def test_the_framework(self):
        from haystack import Document, Pipeline, component
        from haystack.components.builders import AnswerBuilder, PromptBuilder
        from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
        from haystack.document_stores.in_memory import InMemoryDocumentStore

        @component
        class Model:
            @component.output_types(replies=list[str])
            def run(self, prompt: str):
                return {"replies": [prompt]}

        store = InMemoryDocumentStore()
        store.write_documents([Document(id="d1", content="Paris, the capital of France"), Document(id="d2", content="cats")])
        pipeline = Pipeline()
        pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=1))
        [found] = haystack(pipeline)(QUESTION)["documents"]
        self.assertEqual((found["id"], found["text"]), ("d1", "Paris, the capital of France"))
        pipeline.add_component("prompt", PromptBuilder("{{ documents[0].content }}: {{ question }}", required_variables="*"))
        pipeline.add_component("model", Model())
        pipeline.connect("retriever.documents", "prompt.documents")
        pipeline.connect("prompt", "model")
        expected = {"answer": f"Paris, the capital of France: {QUESTION}", "documents": [found]}
        self.assertEqual(haystack(pipeline)(QUESTION), expected)
        pipeline.add_component("answers", AnswerBuilder())
        pipeline.connect("model.replies", "answers.replies")
        pipeline.connect("retriever.documents", "answers.documents")
        self.assertEqual(haystack(pipeline)(QUESTION), expected)


class PydanticAi(unittest.TestCase):
    def test_a_run(self):
        parts = [
            Object(part_kind="tool-call", tool_name="search", args_as_dict=lambda: {"q": "France"}),
            Object(part_kind="tool-return", tool_name="search", content=[{"id": "d1"}]),
            Object(part_kind="tool-return", tool_name="other", content=1),
        ]
        result = Object(
            output="Paris",
            usage=Object(input_tokens=7, output_tokens=1),
            all_messages=lambda: [Object(parts=parts[:1], model_name="m"), Object(parts=parts[1:])],
        )

        async def run(question):
            return result

        reply = asyncio.run(pydantic_ai(Object(run=run), documents="search")(QUESTION))
        self.assertEqual(
            reply,
            {
                "answer": "Paris",
                "usage": {"input_tokens": 7, "output_tokens": 1},
                "tool_calls": [{"name": "search", "arguments": {"q": "France"}}],
                "model": "m",
                "documents": [{"id": "d1"}],
            },
        )

    @needs("pydantic_ai")
    def test_the_framework(self):
        from pydantic_ai import Agent
        from pydantic_ai.models.test import TestModel

        agent = Agent(TestModel(custom_output_text="Paris"))

        @agent.tool_plain
        def search(query: str) -> list:
            return [{"id": "d1", "text": "Paris"}]

        ask = pydantic_ai(agent, documents="search")
        self.assertTrue(inspect.iscoroutinefunction(ask))
        reply = asyncio.run(ask(QUESTION))
        self.assertEqual((reply["answer"], reply["model"]), ("Paris", "test"))
        self.assertEqual(reply["documents"], [{"id": "d1", "text": "Paris"}])
        self.assertEqual(reply["tool_calls"], [{"name": "search", "arguments": {"query": "a"}}])
        self.assertGreater(reply["usage"]["input_tokens"], 0)


if __name__ == "__main__":
    unittest.main()
