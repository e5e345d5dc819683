"""Options and habits of the whole suite."""

import pytest


def pytest_addoption(parser):
    parser.addoption("--update-goldens", action="store_true", help="write the golden outputs anew")


@pytest.fixture
def update_goldens(request):
    return request.config.getoption("--update-goldens")
