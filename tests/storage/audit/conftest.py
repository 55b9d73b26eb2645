"""The stores of the audit trail, as its own tests make them."""

from tests.audit.conftest import *  # noqa: F403
