"""The stores of the audit trail, as its own tests make them."""

from tests.audit.conftest import location, new_store, store

__all__ = ["location", "new_store", "store"]
