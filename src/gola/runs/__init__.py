"""Runs: a fit with its evaluation, described by settings alone, so that it can be repeated and found again."""

from gola.runs.channels import ChannelError, channel_errors, mean_channel_errors, worth_showing
from gola.runs.comparison import ESTIMATES, Summary, error_text, summarise
from gola.runs.config import RunConfig
from gola.runs.execution import execute
from gola.runs.fingerprints import code_version, fingerprint_of
from gola.runs.planning import Plan, plan
from gola.runs.result import Outcome, RunFailure, RunResult
from gola.runs.running import RunStatus, run_all
from gola.runs.storage import ResultFolder
from gola.runs.sweeping import Candidate, Sweep, advice
from gola.runs.verdict import verdict

__all__ = [
    "ESTIMATES",
    "Candidate",
    "ChannelError",
    "Outcome",
    "Plan",
    "ResultFolder",
    "RunConfig",
    "RunFailure",
    "RunResult",
    "RunStatus",
    "Summary",
    "Sweep",
    "advice",
    "channel_errors",
    "code_version",
    "error_text",
    "execute",
    "fingerprint_of",
    "mean_channel_errors",
    "plan",
    "run_all",
    "summarise",
    "verdict",
    "worth_showing",
]
