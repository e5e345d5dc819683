"""Which sentences bind, in five languages; where they stand; and must-keep facts."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxbudget.constraints import MOST, Constraint, constraints, find, must_keep, parse_fact, sentences, visible
from ctxbudget.errors import UsageError
from ctxbudget.trace import Fragment, Kind, Origin, Source, Trace

BINDING = [
    # English
    ("Never touch legacy/.", "en", "adverb"),
    ("You must not change the public API.", "en", "modal"),
    ("All tests must pass before you commit.", "en", "modal"),
    ("Do not add new dependencies.", "en", "imperative"),
    ("Fix the bug but please don't rename anything.", "en", "imperative"),
    ("I want a summary, but do not mention prices.", "en", "imperative"),
    ("Only edit files under src/.", "en", "adverb"),
    ("Use only the standard library.", "en", "adverb"),
    ("Answer in JSON only.", "en", "adverb"),
    ("You may only call each tool once.", "en", "modal"),
    ("Always run the linter first.", "en", "adverb"),
    ("Make sure the output is valid JSON.", "en", "imperative"),
    ("Remember that prices are in cents.", "en", "imperative"),
    ("Remember: tabs, not spaces.", "en", "imperative"),
    ("Avoid global state.", "en", "imperative"),
    ("Keep the response short.", "en", "adverb"),
    ("Keep it under 200 words.", "en", "adverb"),
    ("Find me a flight under $5,000.", "en", "ceiling"),
    ("Can you find a hotel for less than 120 EUR?", "en", "ceiling"),
    ("Max 240 EUR per night.", "en", "limit"),
    ("I can spend at most 300 dollars.", "en", "limit"),
    ("No more than 3 retries.", "en", "limit"),
    ("Write 3 pages max.", "en", "limit"),
    ("Write at least 3 pages about it.", "en", "ceiling"),
    ("The summary should not exceed 100 words.", "en", "limit"),
    ("Refactor it without changing the behaviour.", "en", "condition"),
    ("Stop there unless I say otherwise.", "en", "condition"),
    ("Leave the config file untouched.", "en", "imperative"),
    ("Under no circumstances delete data.", "en", "imperative"),
    ("Production data is strictly off limits.", "en", "modal"),
    ("IMPORTANT: the id never changes.", "en", "modal"),
    ("Could you make sure that the tests pass?", "en", "imperative"),
    ("I want you to never use eval.", "en", "modal"),
    ("No new dependencies, please.", "en", "adverb"),
    ("**Never** push to `main`.", "en", "adverb"),
    ("<rule>Never push.</rule>", "en", "adverb"),
    # Spanish
    ("No toques el archivo config.py.", "es", "imperative"),
    ("No hagas commits sin preguntar.", "es", "imperative"),
    ("Nunca borres datos de producción.", "es", "adverb"),
    ("Solo modifica los archivos de src/.", "es", "adverb"),
    ("Sólo usa la biblioteca estándar.", "es", "adverb"),
    ("Como máximo 3 intentos por llamada.", "es", "limit"),
    ("Recuerda que los precios van en céntimos.", "es", "imperative"),
    ("La salida debe ser JSON válido.", "es", "modal"),
    ("Busca un vuelo por menos de 500 euros.", "es", "ceiling"),
    ("Asegúrate de que pasan los tests.", "es", "imperative"),
    ("Arréglalo sin cambiar la API pública.", "es", "condition"),
    ("Está prohibido usar eval.", "es", "modal"),
    ("¿Puedes asegurarte de que pasan los tests?", "es", "imperative"),
    ("Siempre responde en español.", "es", "adverb"),
    # French
    ("Ne touche pas au dossier legacy.", "fr", "imperative"),
    ("N'utilise jamais eval dans ce projet.", "fr", "imperative"),
    ("Le résultat doit être du JSON valide.", "fr", "modal"),
    ("Il faut garder la compatibilité.", "fr", "modal"),
    ("Utilise uniquement la bibliothèque standard.", "fr", "adverb"),
    ("Au maximum 3 tentatives.", "fr", "limit"),
    ("Trouve un hôtel à moins de 120 €.", "fr", "ceiling"),
    ("Corrige le bug sans changer l'API.", "fr", "condition"),
    ("Assure-toi que les tests passent.", "fr", "imperative"),
    ("Toujours répondre en français.", "fr", "adverb"),
    # German
    ("Ändere die Datei config.py nicht.", "de", "imperative"),
    ("Bitte füge keine neuen Abhängigkeiten hinzu.", "de", "imperative"),
    ("Die Ausgabe muss gültiges JSON sein.", "de", "modal"),
    ("Du darfst nur Dateien in src/ ändern.", "de", "modal"),
    ("Niemals direkt auf main pushen.", "de", "adverb"),
    ("Höchstens drei Versuche pro Aufruf.", "de", "limit"),
    ("Suche ein Hotel für unter 120 Euro.", "de", "ceiling"),
    ("Stelle sicher, dass die Tests laufen.", "de", "imperative"),
    ("Baue es um, ohne die API zu ändern.", "de", "condition"),
    ("Denk daran, dass die Preise in Cent sind.", "de", "imperative"),
    # Portuguese
    ("Não mexa no arquivo config.py.", "pt", "imperative"),
    ("Não use bibliotecas externas.", "pt", "imperative"),
    ("Nunca apague os dados de produção.", "pt", "adverb"),
    ("A saída deve ser um JSON válido.", "pt", "modal"),
    ("Apenas altere os arquivos em src/.", "pt", "adverb"),
    ("Faça no máximo 3 tentativas em cada chamada.", "pt", "limit"),
    ("Encontre um voo com bagagem por menos de 500 reais.", "pt", "ceiling"),
    ("Certifique-se de que os testes passam.", "pt", "imperative"),
    ("Corrija o erro sem mudar a API.", "pt", "condition"),
    ("Lembre-se de que os preços são em centavos.", "pt", "imperative"),
]

FREE = [
    "Please refactor the parser.",
    "I only saw the error once.",
    "I never got an answer from the server.",
    "It crashed without warning.",
    "It took under 5 minutes.",
    "The ticket cost less than $500.",
    "I don't know why it fails.",
    "Don't worry about the tests.",
    "Never mind, it works now.",
    "Remember when we had the outage?",
    "Remember when we rewrote the parser.",
    "Do you remember the outage?",
    "Must I restart the server?",
    "Why must the server restart?",
    "Is it under $5,000?",
    "Only the last test fails.",
    "It must have been a race condition.",
    "This must be a bug.",
    "Edit all the files you need to.",
    "We always deployed on Fridays.",
    'The error says "you must be logged in".',
    "The flag is called `never-fail` in the docs.",
    "Keep up the good work!",
    "Thanks, that is all I need.",
    "No funciona nada desde ayer.",
    "Solo falla el último test.",
    "¿Recuerdas cuando falló el servidor?",
    "Siempre que falla, se reinicia.",
    "Ça ne marche pas depuis hier.",
    "Je ne sais pas pourquoi.",
    "Das funktioniert nicht mehr.",
    "Nur der letzte Test schlägt fehl.",
    "Ich habe es nie gesehen.",
    "Não funciona desde ontem.",
    "Só falha o último teste.",
    "ValueError: x must be positive",
    "2026-01-02 10:00:00 WARN you must restart",
    "src/app.py:12: error: name must be str",
    "assert x, 'must not be empty';",
    "    if (must_not_fail) { return never; }",
    "$ never-run --only this",
    "| never | always | only |",
    "at com.foo.Never.must(Only.java:12)",
    "https://example.org/you-must-never/only",
]  # fmt: skip


@pytest.mark.parametrize(("text", "language", "rule"), BINDING)
def test_binding(text, language, rule):
    assert [(text[span.start : span.end], span.language, span.rule) for span in find(text)] == [(text, language, rule)]


@pytest.mark.parametrize("text", FREE)
def test_free(text):
    assert find(text) == ()


def said(text):
    return [text[span.start : span.end] for span in find(text)]


def test_bullets_headings_and_wrapped_lines():
    text = (
        "# Rules\n\n- never touch legacy/\n  * [ ] always run ruff\n1. Do not push.\n> Only use tabs.\n"
        "The generated files in the directory build/ must\nnot be committed. They are large.\n"
    )
    assert said(text) == [
        "never touch legacy/",
        "always run ruff",
        "Do not push.",
        "Only use tabs.",
        "The generated files in the directory build/ must\nnot be committed.",
    ]


def test_fenced_code_is_skipped():
    assert said("Never push.\n```\n# You must never do this.\nonly = 1\n```\nAlways pull.\n~~~\nMust not count.\n") == [
        "Never push.",
        "Always pull.",
    ]


def test_sentences_end_where_they_end():
    text = "Use e.g. Python. Edit config.py. Then stop! See p. 3 of v1.2. Ask Dr. Who? ¿Listo? Sí."
    parts = [text[start:end] for start, end in sentences(text)]
    assert parts == [
        "Use e.g. Python.",
        "Edit config.py.",
        "Then stop!",
        "See p. 3 of v1.2.",
        "Ask Dr. Who?",
        "¿Listo?",
        "Sí.",
    ]


def test_languages_may_mix_in_one_text():
    text = "This is the task of the day: fix the parser.\nNo toques config.py.\nNiemals pushen."
    assert said(text) == ["No toques config.py.", "Niemals pushen."]


def test_pasted_logs_do_not_bind():
    line = "2026-01-02T10:00:{:02d} ERROR worker-{} you must never retry only once: at most 3 retries under $5\n"
    log = "".join(line.format(n % 60, n) for n in range(2000))
    assert said(f"Never touch legacy/.\n{log}\nKeep it short.") == ["Never touch legacy/.", "Keep it short."]


def test_no_flood():
    text = "\n".join(f"You must never do thing number {n} again." for n in range(5000))
    assert len(find(text)) == MOST
    assert find("You must " + "really " * 100 + "stop.") == ()


@pytest.mark.timed
@pytest.mark.parametrize(
    "line",
    [
        "INFO  something must only happen once here and never again\n",
        "Worker {} said that you must never retry only once without asking\n",
        '{{"level": "info", "n": {}, "msg": "must never"}}\n',
        "a b c must {} ........!!!!!!....????\n",
        '  File "/usr/lib/python3/x.py", line {}, in must_not\n',
        "word " * 900 + "\n",
        "no no, only - never, not: " * 10 + "\n",
    ],
)  # fmt: skip
def test_a_megabyte_of_log_is_quick(line):
    text = "".join(line.replace("{}", str(n)) for n in range(1_000_000 // len(line)))
    started = time.process_time()
    find(text)
    assert time.process_time() - started < 1.0  # 0.1 to 0.4 s on an idle machine


@settings(deadline=None)
@given(st.text() | st.text(alphabet="never must. \n-`\"'only$5!?do not#>*|keep 1", max_size=300))
def test_spans_are_verbatim_ordered_and_disjoint(text):
    for ranges in (list(sentences(text)), [(span.start, span.end) for span in find(text)]):
        edges = [edge for pair in ranges for edge in pair]
        assert edges == sorted(edges)
        assert all(0 <= start < end <= len(text) for start, end in ranges)
        assert all(text[start:end] == text[start:end].strip() for start, end in ranges)


def fragment(number, kind, text, turn):
    return Fragment(
        f"t{turn}.{number}", kind, text, 1, 1, turn, f"t{turn}.{number}", number, "user", Origin("f", number + 1)
    )


def test_constraints_of_a_trace():
    trace = Trace(
        Source("f", "native"),
        (
            fragment(0, Kind.SYSTEM_PROMPT, "You must answer in English.", 1),
            fragment(1, Kind.MEMORY_FILE, "- Never touch legacy/.", 1),
            fragment(2, Kind.USER, "Hi.  Never  touch legacy/.", 1),
            fragment(3, Kind.SUMMARY, "Never push.", 2),
            fragment(4, Kind.RESULT, "You must never push.", 2),
            fragment(5, Kind.USER, "Hi. Never  touch legacy/. Keep it short.", 3),
        ),
        (),
    )
    assert constraints(trace) == (
        Constraint("You must answer in English.", 1, 1, "system_prompt", "t1.0", 0),
        Constraint("Never touch legacy/.", 1, 2, "memory_file", "t1.1", 2),
        Constraint("Keep it short.", 3, 6, "user", "t3.5", 26),
    )


def test_visible_takes_white_space_as_one_blank():
    constraint = Constraint("Never touch\nlegacy/.", 1, 1, "user", "t1.0", 0)
    assert constraint.visible("so: Never   touch legacy/. ok")
    assert not constraint.visible("never touch legacy/.")
    assert visible("a.c", "a.c")
    assert not visible("a.c", "abc")
    assert not visible(" ", "abc")


def test_must_keep_facts():
    assert parse_fact(" order 4711 ").visible("the order\n 4711 is")
    assert not parse_fact("/etc/passwd").visible("etc")
    assert parse_fact("/etc/passwd").pattern is None
    assert parse_fact(r"/order \d+/i").visible("ORDER 12")
    assert not parse_fact(r"/^x$/").visible("a\nx")
    assert parse_fact(r"/^x$/m").visible("a\nx")


@pytest.mark.parametrize("raw", ["", "  ", "/(/", "/[a/", "/a{999}{999}/", f"/{'x' * 2000}/", "/(?P<n>a)(?P<n/"])
def test_bad_facts_are_refused_with_a_hint(raw):
    with pytest.raises(UsageError) as error:
        parse_fact(raw)
    assert error.value.hint


@pytest.mark.timed
def test_a_catastrophic_pattern_does_not_hang():
    fact = parse_fact(r"/(a|aa)+(a|aa)+(a|aa)+(a|aa)+\d\b$/")
    started = time.process_time()
    with pytest.raises(UsageError):
        fact.visible("a" * 100_000)
    assert time.process_time() - started < 5


def test_facts_from_files(tmp_path):
    path = tmp_path / "facts.txt"
    path.write_bytes(b"\xef\xbb\xbforder 4711\r\n# a comment\n\n/id-\\d+/\norder 4711\n")
    assert [fact.raw for fact in must_keep(["a", "order 4711"], [path])] == ["a", "order 4711", r"/id-\d+/"]
    assert must_keep() == ()
    with pytest.raises(UsageError):
        must_keep([], [tmp_path / "none.txt"])
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError):
        must_keep([], [path])


@settings(deadline=None)
@given(st.text(), st.text())
def test_any_text_is_a_fact_or_a_usage_error(raw, text):
    try:
        fact = parse_fact(raw)
    except UsageError:
        return
    fact.visible(text)
    if fact.pattern is None:
        assert fact.visible(f"{text} {raw} {text}")
