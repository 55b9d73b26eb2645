"""Tests of the languages and of what adds one."""
