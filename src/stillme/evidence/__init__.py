"""What the answer claims and what it may stand on. `Evidence` gathers it; each module beside it reads one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stillme.evidence.evidence import Evidence

__all__ = ["Evidence"]


def __getattr__(name: str) -> Any:
    """Import `Evidence`, which needs every module of this folder, when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from stillme.evidence.evidence import Evidence  # noqa: PLC0415  (see above)

    globals()[name] = Evidence
    return Evidence
