"""Stores of knowledge, as the tests of the chat make them."""

from tests.chat.conftest import location, new_store, store

__all__ = ["location", "new_store", "store"]
