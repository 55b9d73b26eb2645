"""A bigger language model for the claims that the grounder leaves undecided; off unless it is asked for, and never trusted.

>>> Guard(grounder=JudgeGrounder(CascadeGrounder(), url="http://localhost:8000/v1", model="a-model"))
"""

from __future__ import annotations

from stillme.judge.environment import judge_from_environment
from stillme.judge.grounder import JudgeGrounder
from stillme.judge.settings import JudgeScores

__all__ = ["JudgeGrounder", "JudgeScores", "judge_from_environment"]
