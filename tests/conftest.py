"""Options and habits of the whole suite."""

import os

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no fault of what is tested; and the same code gets the same verdict twice: new examples are looked
# for where the code is being worked on, with CTXBUDGET_EXAMPLES=1000.
unhurried = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", derandomize=True, **unhurried)
settings.register_profile("search", **unhurried)
settings.load_profile("search" if "CTXBUDGET_EXAMPLES" in os.environ else "same")


def pytest_addoption(parser):
    parser.addoption("--update-goldens", action="store_true", help="write the golden outputs anew")


@pytest.fixture
def update_goldens(request):
    return request.config.getoption("--update-goldens")
