"""The model's summariser against a real HTTP server on loopback."""

import json
import stat
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from ctxbudget.constraints import parse_fact
from ctxbudget.errors import MissingExtra, UsageError
from ctxbudget.summaries import Request, SummaryError, descend, model
from ctxbudget.summaries.answers import Malformed, answer
from ctxbudget.summaries.cache import Answer, Cache
from ctxbudget.summaries.config import Timeouts, configured
from ctxbudget.summaries.endpoint import LARGEST, Endpoint, EndpointError
from ctxbudget.summaries.llm import Llm

SECRET = "sk-live-0123456789abcdef"  # noqa: S105 - opens nothing


def said(text, **more):
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}], **more}).encode()


@dataclass
class Reply:
    """One answer of the server. ``pause`` comes before every byte of the head where ``trickle``, else once."""

    body: bytes = said("## Progress\n- all done")
    status: int = 200
    headers: dict = field(default_factory=dict)
    pause: float = 0.0
    trickle: bool = False
    cut: int = 0


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers["Content-Length"])
        self.server.asked.append((self.path, dict(self.headers), json.loads(self.rfile.read(length))))
        replies = self.server.replies
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        try:
            self._send(reply)
        except OSError:  # whoever asked has gone
            self.close_connection = True

    def _send(self, reply):
        if reply.trickle:
            for byte in b"HTTP/1.1 200 OK\r\nX-Long: " + b"y" * 100:
                self.wfile.write(bytes([byte]))
                time.sleep(reply.pause)
        time.sleep(reply.pause)
        self.send_response(reply.status)
        for name, value in {"Content-Length": str(len(reply.body) + reply.cut), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


@contextmanager
def serving(*replies):
    server = Server(("127.0.0.1", 0), Handler)
    server.replies, server.asked = list(replies) or [Reply()], []
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def config_of(server, key=SECRET, **times):
    url = f"http://127.0.0.1:{server.server_port}/v1"
    return configured(url, "small-model", key, environ={}, timeouts=Timeouts(**times))


def asking(server, *, sleep=None, cache=None, **times):
    waits = []
    summariser = Llm(Endpoint(config_of(server, **times), sleep or waits.append), Cache(cache))
    return summariser, waits


@pytest.fixture
def asked(play, count):
    play.user("Order 5519, please. Never twice.")
    play.answers("It is ordered, and it will come as a letter within three working days, free of charge.")
    return Request(play.span, 400, count)


def test_asks_and_takes_the_answer(asked):
    usage = {"prompt_tokens": 321, "completion_tokens": 9}
    with serving(Reply(said("## Progress\n- order 5519 is made", usage=usage))) as server:
        summariser, waits = asking(server)
        summary = summariser.summarise(asked)
    assert summary.text == "## Progress\n- order 5519 is made"
    assert (summary.tokens_in, summary.tokens_out, summary.calls, summary.simulated) == (321, 9, 1, False)
    assert (summary.by, summary.sections) == ("small-model", (("Progress", ("order 5519 is made",)),))
    assert waits == []
    ((path, headers, body),) = server.asked
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {SECRET}"
    assert headers["Accept-Encoding"] == "identity"
    assert set(body) == {"model", "messages"}
    assert body["model"] == "small-model"
    assert "[turn 1, user]\nOrder 5519, please. Never twice." in body["messages"][1]["content"]
    assert SECRET not in json.dumps(body)


def test_counts_itself_where_the_endpoint_does_not(asked, count):
    with serving(Reply(said("It is done.", usage={"prompt_tokens": "many"}))) as server:
        summary = asking(server)[0].summarise(asked)
    assert summary.tokens_in > asked.size
    assert summary.tokens_out == count("It is done.")


def test_the_prompt_names_what_must_stand_and_the_earlier_summary(play, count):
    play.user("Under REF-12.")
    asked = Request(play.span, 400, count, "What went before.", (parse_fact("REF-12"), parse_fact("absent")))
    with serving() as server:
        asking(server)[0].summarise(asked)
    system, user = (message["content"] for message in server.asked[0][2]["messages"])
    assert system.endswith("character by character:\n- REF-12")
    assert "## " in system
    assert "- Errors and their fixes\n" in system
    assert "<summary_so_far>\nWhat went before.\n</summary_so_far>" in user


def test_lone_surrogates_are_sent_as_text(play, count):
    play.user("half \ud800 of a pair")
    with serving() as server:
        asking(server)[0].summarise(Request(play.span, 400, count))
    assert "half \ufffd of a pair" in server.asked[0][2]["messages"][1]["content"]


def test_without_a_key_no_header(asked):
    with serving() as server:
        Llm(Endpoint(config_of(server, key=None)), Cache(None)).summarise(asked)
    assert "Authorization" not in server.asked[0][1]


def test_blocks_are_mapped_and_merged(play, count):
    play.user("Read it.")
    for number in range(6):
        play.does("Read", {"file_path": f"f{number}.txt"}, f"file {number} " + "word " * 8_000)
    answers = [Reply(said(f"part {number}")) for number in range(4)] + [Reply(said("## Progress\n- all of it"))]
    with serving(*answers) as server:
        summary = asking(server)[0].summarise(Request(play.span, 400, count, "What went before."))
    assert (summary.text, summary.calls) == ("## Progress\n- all of it", 5)
    prompts = [body["messages"][1]["content"] for _, _, body in server.asked]
    assert all(len(prompt) < 51_000 for prompt in prompts)
    assert "part 1 of 4" in prompts[0]
    assert "What went before." not in prompts[0]
    assert '<summary part="4">\npart 3\n</summary>' in prompts[4]
    assert "What went before." in prompts[4]


def test_an_answer_over_the_cap_is_cut_at_a_line_and_says_so(play, count):
    text = "## Progress\n" + "\n".join(f"- line {number} of many" for number in range(50))
    play.user("word " * 900)
    with serving(Reply(said(text))) as server:
        summary = asking(server)[0].summarise(Request(play.span, 60, count))
    assert count(summary.text) <= 60
    assert text.startswith(f"{summary.text}\n")
    assert summary.notes == (f"cut at its cap of 60 tokens, of {count(text)}",)


def test_thoughts_before_the_answer_go(asked):
    with serving(Reply(said("<think>\nhm\n</think>\n\nIt is done."))) as server:
        assert asking(server)[0].summarise(asked).text == "It is done."


@pytest.mark.parametrize("status", [429, 500, 503, 408])
def test_tries_again_after_a_busy_answer(asked, status):
    with serving(Reply(status=status, body=b"busy"), Reply(status=status), Reply()) as server:
        summariser, waits = asking(server)
        assert summariser.summarise(asked).text == "## Progress\n- all done"
    assert waits == [0.5, 1.0]
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    "headers,wait",
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:09 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}, None),
        ({"Retry-After": "soon"}, 0.5),
        ({"Retry-After": "²"}, 0.5),
    ],
)
def test_waits_as_long_as_it_is_asked_to(asked, headers, wait):
    with serving(
        Reply(status=429, headers={k: v.encode().decode("latin-1") for k, v in headers.items()}), Reply()
    ) as s:
        summariser, waits = asking(s)
        summariser.summarise(asked)
    assert waits == [wait] if wait is not None else 0 <= waits[0] <= 60


def test_but_not_for_ever(asked):
    with serving(Reply(status=429, headers={"Retry-After": "3600"})) as server:
        summariser, waits = asking(server)
        with pytest.raises(EndpointError, match="HTTP 429") as error:
            summariser.summarise(asked)
    assert error.value.hint == "it asks to wait 3,600 s; try again then"
    assert (waits, len(server.asked)) == ([], 1)


def test_gives_up_after_five_attempts(asked):
    body = json.dumps({"error": {"message": f"overloaded\nfor {SECRET}"}}).encode()
    with serving(Reply(status=503, body=body)) as server:
        summariser, waits = asking(server)
        with pytest.raises(EndpointError) as error:
            summariser.summarise(asked)
    assert error.value.message.endswith("/v1/chat/completions: HTTP 503: overloaded for [key], 5 attempts")
    assert waits == [0.5, 1.0, 2.0, 4.0]
    assert len(server.asked) == 5


def test_nobody_there(asked):
    with serving() as server:
        config = config_of(server)
    waits = []
    with pytest.raises(EndpointError, match="5 attempts"):
        Llm(Endpoint(config, waits.append), Cache(None)).summarise(asked)
    assert len(waits) == 4


def test_a_slow_answer_times_out(asked):
    with serving(Reply(pause=0.5), Reply()) as server:
        summariser, waits = asking(server, read=0.2)
        assert summariser.summarise(asked).text == "## Progress\n- all done"
    assert waits[0] == 0.5


def test_a_trickling_answer_ends_with_the_whole_time(asked):
    """Each byte comes in time, all together they do not."""
    with serving(Reply(pause=0.02, trickle=True), Reply()) as server:
        summariser, waits = asking(server, read=5.0, total=0.4)
        started = time.monotonic()
        assert summariser.summarise(asked).text == "## Progress\n- all done"
        assert time.monotonic() - started < 2.2  # the whole head takes 2.4 s
    assert waits[0] == 0.5


@pytest.mark.parametrize("reply", [Reply(b"{not json"), Reply(b""), Reply(b"[" * 100_000), Reply(cut=10)])
def test_a_broken_answer_is_asked_for_again(asked, reply):
    with serving(reply, Reply()) as server:
        summariser, waits = asking(server, read=0.2)
        assert summariser.summarise(asked).text == "## Progress\n- all done"
    assert waits == [0.5]


@pytest.mark.parametrize(
    "body",
    [b"{}", b"[]", b"3", b'{"choices": []}', b'{"choices": [{"message": {}}]}', b'{"choices": [{"message": "hi"}]}',
     b'{"choices": [{"message": {"content": 3}}]}', b'{"choices": {"0": 1}}'],
)  # fmt: skip
def test_an_answer_of_another_shape_ends_it(asked, body):
    with serving(Reply(body)) as server:
        with pytest.raises(EndpointError) as error:
            asking(server)[0].summarise(asked)
        assert len(server.asked) == 1
    assert error.value.hint == "is it an OpenAI-compatible endpoint?"


def test_content_in_parts_and_no_content():
    parts = said([{"type": "text", "text": "It is "}, {"type": "image"}, {"type": "text", "text": "done."}])
    assert answer(parts, "").text == "It is done."
    assert answer(said(None), "").text == ""
    with pytest.raises(Malformed):
        answer(b'{"choices": [{"message": {"content": {"a": 1}}}]}', "")


def test_a_huge_answer_is_not_read_to_its_end(asked):
    with (
        serving(Reply(b"x" * (LARGEST + 1))) as server,
        pytest.raises(EndpointError, match="larger than 4,194,304 bytes"),
    ):
        asking(server)[0].summarise(asked)


def test_a_compressed_answer_is_not_unpacked(asked):
    with (
        serving(Reply(headers={"Content-Encoding": "gzip"})) as server,
        pytest.raises(EndpointError, match="compressed"),
    ):
        asking(server)[0].summarise(asked)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_refused(asked, status):
    with serving() as other, serving() as server:
        server.replies[0] = Reply(status=status, headers={"Location": f"http://localhost:{other.server_port}/v1"})
        with pytest.raises(EndpointError, match="redirects to localhost") as error:
            asking(server)[0].summarise(asked)
        assert other.asked == []
        assert len(server.asked) == 1
    assert SECRET not in f"{error.value}{error.value.hint}"


@pytest.mark.parametrize("location", ["", "/elsewhere", "http://[", "\x7f"])
def test_a_redirect_to_anywhere(asked, location):
    with (
        serving(Reply(status=302, headers={"Location": location})) as server,
        pytest.raises(EndpointError, match="redir"),
    ):
        asking(server)[0].summarise(asked)


def test_proxies_of_the_environment_are_not_used(asked, monkeypatch):
    with serving() as proxy, serving() as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.server_port}")
        asking(server)[0].summarise(asked)
        assert proxy.asked == []
        assert len(server.asked) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_ends_it_and_is_not_shown(asked, status):
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {SECRET[:9]}***"}}).encode()
    with serving(Reply(body, status)) as server:
        with pytest.raises(EndpointError) as error:
            asking(server)[0].summarise(asked)
        assert len(server.asked) == 1
    assert error.value.message.endswith(f"the key was refused (HTTP {status})")
    assert error.value.hint == "look at CTXBUDGET_LLM_KEY"


def test_no_such_model_ends_it(asked):
    with (
        serving(Reply(b'{"error": "no such model"}', 404)) as server,
        pytest.raises(EndpointError, match="no such model"),
    ):
        asking(server)[0].summarise(asked)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_what_is_too_long_goes_a_step_down(asked, status):
    body = b'{"error": {"message": "maximum context length is 4096 tokens\\u001b[2J"}}'
    with serving(Reply(body, status), Reply(said("Order 5519 is made."))) as server:
        summariser, _ = asking(server)
        outcome = descend(summariser, asked)
    assert outcome.step == "partial"
    said_ = f"the endpoint refused the request, HTTP {status}: maximum context length is 4096 tokens\\x1b[2J"
    assert outcome.failures[0].reason == said_


def test_an_empty_answer_goes_a_step_down_and_is_not_kept(asked, tmp_path):
    with serving(Reply(said("  ")), Reply(said("Order 5519 is made."))) as server:
        outcome = descend(asking(server, cache=tmp_path)[0], asked)
    assert (outcome.step, outcome.failures[0].reason) == ("partial", "empty")
    assert outcome.calls == 2
    assert len(list(tmp_path.iterdir())) == 1


def test_the_second_time_nobody_is_asked(asked, tmp_path):
    usage = {"prompt_tokens": 321, "completion_tokens": 9}
    with serving(Reply(said("It is done.", usage=usage)), Reply(said("Another answer."))) as server:
        first = asking(server, cache=tmp_path)[0].summarise(asked)
        second = asking(server, cache=tmp_path)[0].summarise(asked)
        assert len(server.asked) == 1
        assert first == second
        third = asking(server)[0].summarise(asked)  # --no-cache
    assert third.text == "Another answer."
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert SECRET not in file.read_text()


def test_another_model_or_url_or_prompt_is_another_answer(tmp_path):
    cache, messages = Cache(tmp_path), (("user", "hello"),)
    config = configured("http://localhost/v1", "a", environ={})
    cache.put(config, messages, Answer("It is done.", 3, None))
    assert cache.get(config, messages) == Answer("It is done.", 3, None)
    assert cache.get(configured("http://localhost/v1", "b", environ={}), messages) is None
    assert cache.get(configured("http://localhost/v2", "a", environ={}), messages) is None
    assert cache.get(config, (("user", "hello there"),)) is None
    assert cache.get(configured("http://localhost/v1", "a", SECRET, environ={}), messages) is not None


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"text": 3}', b'{"text": "a", "tokens_in": "b"}', b"[" * 99_999]
)
def test_a_damaged_file_counts_as_not_there_and_is_replaced(tmp_path, content):
    cache, messages = Cache(tmp_path), (("user", "hello"),)
    config = configured("http://localhost/v1", "a", environ={})
    cache.put(config, messages, Answer("It is done."))
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    assert cache.get(config, messages) is None
    cache.put(config, messages, Answer("Once more."))
    assert cache.get(config, messages) == Answer("Once more.")


def test_a_file_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    cache, messages = Cache(tmp_path), (("user", "hello"),)
    config = configured("http://localhost/v1", "a", environ={})

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ctxbudget.summaries.cache.asdict", full)
    with pytest.raises(OSError, match="No space"):
        cache.put(config, messages, Answer("It is done."))
    assert list(tmp_path.iterdir()) == []


def test_an_answer_that_cannot_be_kept_is_used_and_noted(asked, tmp_path):
    with serving() as server:
        summary = asking(server, cache=tmp_path / "gone")[0].summarise(asked)
    assert summary.text == "## Progress\n- all done"
    assert summary.notes == ("answer not kept: No such file or directory",)


def test_the_key_is_shown_nowhere(asked, tmp_path):
    with serving(Reply(said(f"The key is {SECRET}."))) as server:
        summariser, _ = asking(server, cache=tmp_path)
        summary = summariser.summarise(asked)
    assert summary.text == "The key is [key]."
    (file,) = tmp_path.iterdir()
    assert SECRET not in f"{summary}{summariser}{file.read_text()}{file.name}"


def test_not_even_a_part_of_it_where_a_message_is_cut(asked):
    body = json.dumps({"error": {"message": "x" * 290 + SECRET}}).encode()
    with serving(Reply(body, 404)) as server, pytest.raises(EndpointError) as error:
        asking(server)[0].summarise(asked)
    assert SECRET[:5] not in error.value.message


def test_the_folder_is_made_for_its_owner(tmp_path):
    config = configured("http://localhost/v1", "a", environ={})
    model(config, tmp_path / "a" / "b")
    model(config, tmp_path / "a" / "b")
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot keep answers"):
        model(config, tmp_path / "file" / "c")


def test_flags_win_over_the_environment():
    env = {
        "CTXBUDGET_LLM_URL": "https://a.example/v1/",
        "CTXBUDGET_LLM_MODEL": "m",
        "CTXBUDGET_LLM_KEY": f" {SECRET}\n",
    }
    config = configured(environ=env)
    assert (config.url, config.model, config.key) == ("https://a.example/v1/chat/completions", "m", SECRET)
    assert SECRET not in repr(config)
    config = configured("https://b.example/x/chat/completions?v=1", "n", "k", environ=env)
    assert (config.url, config.model, config.key) == ("https://b.example/x/chat/completions?v=1", "n", "k")
    assert config.shown == "https://b.example/x/chat/completions"


@pytest.mark.parametrize(
    "url,reason",
    [
        ("", "no endpoint"),
        ("http://example.com/v1", "unencrypted"),
        ("http://127.0.0.1@example.com/v1", "user name or password"),
        ("https://user:w0rd@example.com/v1", "user name or password"),
        ("http://localhost.example.com/v1", "unencrypted"),
        ("ftp://localhost/v1", r"no http\(s\) URL"),
        ("file:///etc/passwd", r"no http\(s\) URL"),
        ("localhost:8080/v1", r"no http\(s\) URL"),
        ("https://", r"no http\(s\) URL"),
        ("https://[", "cannot be read"),
        ("https://a.example:99999999/", "cannot be read"),
    ],
)
def test_urls_that_cannot_be_used(url, reason):
    with pytest.raises(UsageError, match=reason) as error:
        configured(url, "m", SECRET, environ={})
    assert "w0rd" not in f"{error.value}{error.value.hint}"
    assert SECRET not in f"{error.value}{error.value.hint}"


@pytest.mark.parametrize(
    "url", ["http://localhost:1/v1", "http://127.0.0.9/v1", "http://[::1]:8080/v1", "https://x.example"]
)
def test_urls_that_can(url):
    assert configured(url, "m", environ={}).url.endswith("/chat/completions")


def test_a_model_is_needed():
    with pytest.raises(UsageError, match="no model"):
        configured("https://a.example/v1", environ={})


@pytest.mark.parametrize("key", ["sk-a\r\nX-Evil: 1", "sk-é", "two words", "sk\x00"])
def test_keys_that_cannot_be_sent_are_refused_unseen(key):
    with pytest.raises(UsageError) as error:
        configured("https://a.example/v1", "m", key, environ={})
    assert key not in f"{error.value}{error.value.hint}"


def test_the_library_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(MissingExtra) as error:
        configured("https://a.example/v1", "m", environ={})
    assert error.value.hint == "pip install 'ctxbudget[llm]'"


def test_summary_error_is_no_endpoint_error():
    """The ladder catches the one and lets the other end the run."""
    assert not issubclass(EndpointError, SummaryError)


def test_nothing_is_loaded_until_a_model_is_asked():
    code = "import sys, ctxbudget.summaries; sys.exit('httpx2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
