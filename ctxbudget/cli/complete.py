"""Names that the shell completes."""

from __future__ import annotations


def formats(incomplete: str) -> list[str]:
    """Formats that a file can be read as."""
    from ctxbudget.loaders import LOADERS  # noqa: PLC0415 - only while completing

    return _starting(LOADERS.names(), incomplete)


def schemes(incomplete: str) -> list[str]:
    """Layer schemes."""
    from ctxbudget.layers import SCHEMES  # noqa: PLC0415 - only while completing

    return _starting(tuple(SCHEMES), incomplete)


def outputs(incomplete: str) -> list[str]:
    """Output formats."""
    from ctxbudget.cli.outputs import names  # noqa: PLC0415 - only while completing

    return _starting(names(), incomplete)


def checks(incomplete: str) -> list[str]:
    """Output formats of a check."""
    from ctxbudget.cli.outputs import check_names  # noqa: PLC0415 - only while completing

    return _starting(check_names(), incomplete)


def breakdowns(incomplete: str) -> list[str]:
    """Groupings of a breakdown."""
    from ctxbudget.renderers import BREAKDOWNS  # noqa: PLC0415 - only while completing

    return _starting(BREAKDOWNS, incomplete)


def tables(incomplete: str) -> list[str]:
    """Tables of a report."""
    from ctxbudget.renderers import TABLES  # noqa: PLC0415 - only while completing

    return _starting(TABLES, incomplete)


def groupings(incomplete: str) -> list[str]:
    """Groupings of a comparison."""
    from ctxbudget.comparing.outcomes import GROUPINGS  # noqa: PLC0415 - only while completing

    return _starting(GROUPINGS, incomplete)


def strategies(incomplete: str) -> list[str]:
    """Presets, and passes that go as a strategy of their own."""
    from ctxbudget.passes import PASSES  # noqa: PLC0415 - only while completing
    from ctxbudget.strategy.naming import STRATEGIES  # noqa: PLC0415

    return _starting(tuple(dict.fromkeys((*STRATEGIES.names(), *PASSES.names()))), incomplete)


def agents(incomplete: str) -> list[str]:
    """Agents whose sessions are found."""
    from ctxbudget.homes import AGENTS  # noqa: PLC0415 - only while completing

    return _starting(AGENTS, incomplete)


def targets(incomplete: str) -> list[str]:
    """Formats that a trace can be written as."""
    from ctxbudget.targets import TARGETS  # noqa: PLC0415 - only while completing

    return _starting(TARGETS.names(), incomplete)


def apis(incomplete: str) -> list[str]:
    """Providers whose requests can be written."""
    from ctxbudget.exports import APIS  # noqa: PLC0415 - only while completing

    return _starting(tuple(APIS), incomplete)


def run_tables(incomplete: str) -> list[str]:
    """Tables of a run."""
    from ctxbudget.renderers import RUN_TABLES  # noqa: PLC0415 - only while completing

    return _starting(RUN_TABLES, incomplete)


def levels(incomplete: str) -> list[str]:
    """Levels of findings."""
    from ctxbudget.findings import LEVELS  # noqa: PLC0415 - only while completing

    return _starting(LEVELS, incomplete)


def findings(incomplete: str) -> list[str]:
    """Ids of findings."""
    from ctxbudget.findings import RULES  # noqa: PLC0415 - only while completing

    return _starting(tuple(rule.id for rule in RULES), incomplete)


def listings(incomplete: str) -> list[str]:
    """What ``list`` can list."""
    from ctxbudget.listings import DESCRIBED, LISTINGS  # noqa: PLC0415 - only while completing

    return _starting((*DESCRIBED, *LISTINGS), incomplete)


def _starting(names: tuple[str, ...], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
