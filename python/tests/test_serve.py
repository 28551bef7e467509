"""The protocol, as `python -m evaluations_cli serve` speaks it."""

import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def process(name, *options, code=None):
    command = [sys.executable, *(["-c", code] if code else ["-m", "evaluations_cli", "serve", f"functions:{name}", *options])]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=HERE, encoding="utf-8")


def asked(name, *requests, options=(), code=None):
    """The replies by id, and stderr. A request is a question, or the members of a line."""
    lines = [{"id": f"q{place}", **(it if isinstance(it, dict) else {"question": it})} for place, it in enumerate(requests)]
    served = process(name, *options, code=code)
    stdout, stderr = served.communicate("".join(json.dumps(line) + "\n" for line in lines), timeout=60)
    ready, *replies = map(json.loads, stdout.splitlines())
    assert ready == {"ready": True}, stdout
    assert len(replies) == len(requests), stdout
    return {reply.pop("id"): reply for reply in replies}, stderr


def reply(name, request, **more):
    return asked(name, request, **more)[0]["q0"]


class Values(unittest.TestCase):
    """What a function returns becomes a reply."""

    def test_answers_and_documents(self):
        for name, expected in {
            "text": {"answer": "WHY?"},
            "documents": {"documents": ["d1", "2", {"id": "d3", "score": 0.5}, {"id": "d4", "score": 0.25}]},
            "both": {"answer": "yes", "documents": ["d1"], "metrics": {"tokens": 3}},
            "objects": {"answer": "yes", "documents": [{"id": "d1", "text": "a text", "score": 0.5}]},
            "later": {"answer": "Why?"},
            "words": {"answer": "one two"},
            "later_words": {"answer": "one two"},
            "found": {"documents": [{"id": "d1"}, {"id": "d2"}]},
        }.items():
            with self.subTest(name):
                self.assertEqual(reply(name, "Why?"), expected)

    def test_the_inputs_of_a_dataset_file_and_a_structured_answer(self):
        self.assertEqual(reply("inputs", {"inputs": {"country": "Kenya"}}), {"answer": {"country": "Kenya"}})

    def test_parameters_of_the_request(self):
        request = {"question": "Why?", "parameters": {"top_k": 5}}
        self.assertEqual(reply("parameters", request), {"answer": "Why? 5"})
        self.assertEqual(reply("parameters", "Why?"), {"answer": "Why? None"})
        self.assertEqual(reply("text", request), {"answer": "WHY?"})

    def test_the_conversation_of_a_question(self):
        messages = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Ada."}, {"role": "user", "content": "Why?"}]
        request = {"question": "Why?", "messages": messages, "conversation": "c1"}
        self.assertEqual(reply("conversations", request), {"answer": "c1: Who? Ada. Why?"})
        self.assertEqual(reply("conversations", "Why?"), {"answer": "q0: Why?"})
        replies, _ = asked("many_conversations", request, "How?", options=("--batch", "2"))
        self.assertEqual([replies[it]["answer"] for it in ("q0", "q1")], ["c1 3", "q1 1"])


class Faults(unittest.TestCase):
    """A fault of the function fails its case, and no other."""

    def test_an_exception_has_its_traceback_on_stderr(self):
        replies, stderr = asked("failing", "a", "b")
        self.assertEqual(replies["q0"], {"error": "LookupError: no answer to a"})
        self.assertEqual(replies["q1"], {"error": "LookupError: no answer to b"})
        self.assertIn("Traceback", stderr)

    def test_leaving_the_program(self):
        self.assertEqual(reply("leaving", "a"), {"error": "SystemExit: the function leaves"})

    def test_values_that_json_cannot_hold(self):
        replies, _ = asked("unwritable", "object", "surrogate", "document", "key")
        for place, words in enumerate(["`object` cannot be written", "surrogates not allowed", "is not a document", "keys must be str"]):
            self.assertIn(words, replies[f"q{place}"]["error"])

    def test_what_is_printed_is_no_reply_and_stdin_holds_no_requests(self):
        replies, stderr = asked("printing", "a", "b")
        self.assertEqual(replies, {"q0": {"answer": ""}, "q1": {"answer": ""}})
        for words in ["printed at import", "printed by Python", "printed to the descriptor", "printed by a child"]:
            self.assertIn(words, stderr)

    @unittest.skipUnless(hasattr(os, "fork"), "Windows has no fork")
    def test_the_child_of_a_fork_does_not_reply(self):
        self.assertEqual(reply("forking", "a"), {"answer": "the parent"})

    def test_a_name_that_is_no_function(self):
        for name, words in {"absent": "no attribute 'absent'", "not_a_function": "`int` is not a function"}.items():
            served = process(name)
            stdout, stderr = served.communicate("", timeout=60)
            self.assertEqual((served.returncode, stdout), (1, ""), stderr)
            self.assertIn(words, stderr)

    def test_nobody_reads_the_replies(self):
        served = process("text")
        self.assertEqual(json.loads(served.stdout.readline()), {"ready": True})
        served.stdout.close()
        served.stdin.write('{"id": "a", "question": "b"}\n' * 3)
        served.stdin.flush()
        self.assertEqual(served.wait(timeout=60), 0, served.stderr.read())
        self.assertNotIn("Traceback", served.stderr.read())
        served.stderr.close()
        served.stdin.close()


class Several(unittest.TestCase):
    """Several requests at the same time."""

    def test_threads(self):
        replies, _ = asked("meeting", "a", "b", "c", options=["--concurrency", "3"])
        self.assertEqual(replies, {"q0": {"answer": "a"}, "q1": {"answer": "b"}, "q2": {"answer": "c"}})

    def test_one_event_loop(self):
        replies, _ = asked("async_meeting", "a", "b", "c")
        self.assertEqual([reply["answer"] for reply in replies.values()], [1, 1, 1])

    def test_a_plain_function_stays_in_the_main_thread(self):
        self.assertEqual(reply("thread", "a"), {"answer": True})

    def test_batches(self):
        replies, _ = asked("batch", *"abcde", options=["--batch", "3"])
        self.assertEqual([replies[f"q{place}"]["answer"] for place in range(5)], ["a of 3", "b of 3", "c of 3", "d of 2", "e of 2"])

    def test_a_batch_does_not_wait_for_requests_that_do_not_come(self):
        served = process("batch", "--batch", "3")
        served.stdout.readline()
        served.stdin.write('{"id": "q", "question": "a"}\n')
        served.stdin.flush()
        self.assertEqual(json.loads(served.stdout.readline()), {"answer": "a of 1", "id": "q"})
        served.communicate(timeout=60)

    def test_faults_of_batches(self):
        replies, _ = asked("batch", "a", "one bad", options=["--batch", "2"])
        self.assertEqual(replies, {"q0": {"answer": "a of 2"}, "q1": {"error": "ValueError: no"}})
        replies, _ = asked("batch", "a", "bad", options=["--batch", "2"])
        self.assertEqual(replies, {"q0": {"error": "ValueError: a bad batch"}, "q1": {"error": "ValueError: a bad batch"}})
        self.assertEqual(reply("batch", "short", options=["--batch", "2"]), {"error": "ValueError: the function returned 0 replies for a batch of 1"})


class Scripts(unittest.TestCase):
    def test_a_script_serves_its_own_function(self):
        code = "from evaluations_cli import serve\nserve(lambda question: question * 2)"
        self.assertEqual(reply("", "ab", code=code), {"answer": "abab"})

    def test_the_script_of_the_guide(self):
        with open(os.path.join(HERE, "../../docs/python.md"), encoding="utf-8") as page:
            code = page.read().split("```python\n")[1].split("```")[0]
        self.assertEqual(reply("", "Why?", code=code), {"answer": "Paris", "documents": ["france"]})


if __name__ == "__main__":
    unittest.main()
