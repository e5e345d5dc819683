"""Options and habits of the whole suite."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")  # a busy machine is no fault of what is tested


def pytest_addoption(parser):
    parser.addoption("--update-goldens", action="store_true", help="write the golden outputs anew")


@pytest.fixture
def update_goldens(request):
    return request.config.getoption("--update-goldens")
