"""The operations of the Python client make what openapi.yaml shows."""

import json
import re
from pathlib import Path

import pytest
from transition_arbiter import operations

DESCRIPTION = Path(__file__).resolve().parents[3] / "openapi.yaml"
EXAMPLES = [json.loads(text) for text in re.findall(r'^ +- (\{"type": .*\})$', DESCRIPTION.read_text(), re.MULTILINE)]


def in_python(name: str) -> str:
    return re.sub("[A-Z]", lambda capital: "_" + capital[0].lower(), name)


@pytest.mark.parametrize("example", EXAMPLES, ids=json.dumps)
def test_every_operation_is_made_of_its_members(example):
    members = {in_python(member): value for member, value in example.items() if member != "type"}
    assert getattr(operations, in_python(example["type"]))(**members) == example


def test_there_are_examples():
    assert len(EXAMPLES) > 10
