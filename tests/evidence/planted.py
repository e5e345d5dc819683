"""Stories drawn at random whose evidence is known beforehand, because every string in them is planted.

The teller keeps its own books, in the plainest way: which fragment shows which version of which block, who named which
id, what was asked and what changed since. The index has to come to the same.
"""

from __future__ import annotations

from hypothesis import strategies as st
from stories import Story, edit, numbered, read

FILES, BLOCKS = 3, 4
OPS = st.one_of(
    st.tuples(st.just("read"), st.integers(0, FILES - 1)),
    st.tuples(st.just("edit"), st.integers(0, FILES - 1), st.integers(0, BLOCKS - 1), st.booleans()),
    st.tuples(st.just("find"), st.integers(0, 3)),
    st.tuples(st.just("use"), st.integers(0, 3), st.booleans()),
    st.tuples(st.just("say"), st.integers(0, 3)),
    st.tuples(st.just("grep"), st.integers(0, 2)),
    st.tuples(st.just("user")),
    st.tuples(st.just("noise"), st.integers(0, 10**6)),
)
STORIES = st.lists(OPS, max_size=30)


def path(file):
    return f"/w/shop/part{file}.py"


def block(file, number, version):
    return (
        f"def step_{file}_{number}(order):\n    return order.price_{file}_{number} * rate_{version}_of_{file}_{number}"
    )


def name(number):
    return f"rq-{number}c5492{number}{number}"


def noise(number):
    """Things that look like the planted ones and are not."""
    return (
        f"def step_{number}(order):\n    return order.price_{number}\nrq-{number}c5492, xrq-0c549200, rq-0c549200-1\n"
        f"/w/shop/part{number}.pyc /x/w/shop/part0.py and {number}.5 of it\n"
    )


class Teller:
    """Tells a story and writes down what it must have depended on."""

    def __init__(self):
        self.story = Story(f"The files are {', '.join(path(file) for file in range(FILES))}.")
        self.version = {(file, number): 0 for file in range(FILES) for number in range(BLOCKS)}
        self.shown, self.wrote = {}, {}
        self.named, self.held = set(), {}
        self.asked, self.since, self.answers = {}, {}, {}
        self.changed = []
        self.clock = 0
        self.d1, self.d2, self.d4, self.d5, self.d6 = [], [], [], [], []

    def tell(self, ops):
        for op, *rest in ops:
            getattr(self, op)(*rest)
        return self.story.end()

    def reply(self, *calls, file=None, asks=True, changes=False):
        """A reply; what it repeats is written down: D6, the same call and nothing changed; D5, the same resource."""
        made = self.story.reply(*calls)
        for call, answer in made:
            if self.since.get(call.text) != self.clock:
                self.asked[call.text] = []
            before = [piece for piece in self.asked[call.text] if piece.turn < call.turn]
            if before and not changes:  # what works the second time is no loop
                self.d6.append((call, before))
            self.asked[call.text].append(answer)
            if asks:
                self.again(call, answer, file)
            self.clock += changes
            self.since[call.text] = self.clock
        return made

    def again(self, call, answer, file):
        known = self.answers.setdefault(file or call.text, [])
        before = [piece for piece in known if piece.turn < call.turn]
        if before:
            since = [piece for piece, of in self.changed if piece.turn > before[-1].turn and (not file or of == file)]
            self.d5.append((call, before, since[-1] if since else None))
        known.append(answer)

    def read(self, file):
        blocks = [block(file, number, self.version[file, number]) for number in range(BLOCKS)]
        ((_, answer),) = self.reply((*read(path(file)), numbered(*"\n".join(blocks).split("\n"))), file=path(file))
        for number in range(BLOCKS):
            self.shown.setdefault((file, number, self.version[file, number]), []).append(answer)

    def edit(self, file, number, fails):
        version = self.version[file, number]
        held = list(self.shown.get((file, number, version), []))
        asked = edit(path(file), block(file, number, version), block(file, number, version + 1))
        ((call, _),) = self.reply((*asked, "no" if fails else "ok", fails), asks=False, changes=not fails)
        if held:
            self.d1.append((call, held))
            self.stale(call, file, held, self.wrote.get((file, number, version)))
        for shown in (version, version + 1):
            self.shown.setdefault((file, number, shown), []).append(call)
        if not fails:
            self.version[file, number] += 1
            self.changed.append((call, path(file)))
            self.wrote[file, number, version + 1] = call

    def stale(self, call, file, held, author):
        """D4: the newest copy is older than the last change. A failed edit shows text, but is no copy of the file."""
        copies = [piece for piece in held if piece.role == "user" or piece is author]
        last = [piece for piece, of in self.changed if of == path(file)]
        if last and copies and copies[-1].turn < last[-1].turn:
            self.d4.append((call, copies, last[-1]))

    def find(self, number):
        ((_, answer),) = self.reply(("find_request", {"of": "abcd"[number]}, f'{{"request": "{name(number)}"}}'))
        self.held.setdefault(number, []).append(answer)

    def use(self, number, twice):
        """An id is used. It is evidence the first time, if nothing but observations held it."""
        calls = self.reply(*[("get_state", {"request": name(number)}, "open")] * (1 + twice))
        if number not in self.named and number in self.held:
            self.d2 += [(call, list(self.held[number]), name(number)) for call, _ in calls]
        self.named.add(number)

    def say(self, number):
        self.user(f"It is about {name(number)}.")
        self.named.add(number)

    def user(self, text="Go on, please."):
        self.story.user(text)
        self.clock += 1

    def grep(self, number):
        self.reply(("Grep", {"pattern": "xyz"[number], "path": "/w/shop"}, "nothing"))

    def noise(self, number):
        self.reply(("Bash", {"command": f"cat log{number}.txt"}, noise(number)), file=f"log{number}.txt")
