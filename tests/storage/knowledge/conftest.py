"""Stores of knowledge, as the tests of the chat make them."""

from tests.chat.conftest import *  # noqa: F403
