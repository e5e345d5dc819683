"""TEMPORARY stand-in until the real tokens module lands; replace the whole file."""
import quicktok
from dataclasses import dataclass

@dataclass(frozen=True, slots=True)
class Encoding:
    name: str
    exact: bool

class Counter:
    def __init__(self, name):
        self.name = name
        self.engine = "quicktok"
        self._e = quicktok.get_encoding(name)
        self.count = self._e.count
    def count_all(self, texts):
        return [self._e.count(t) for t in texts]

def counter(encoding="o200k_base"):
    return Counter(encoding)

def encoding_for(model):
    m = (model or "").lower()
    return Encoding("o200k_base", m.startswith(("gpt", "o1", "o3", "o4")))

def family(model):
    m = (model or "").lower()
    return "claude" if "claude" in m else "gpt" if "gpt" in m else "other"

def prior(model):
    return 1.22 if family(model) == "claude" else 1.0
