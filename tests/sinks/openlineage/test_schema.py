"""The published schema of the facet ``failhook_failure``."""

from __future__ import annotations

import json
from hashlib import sha256

import attr

from failhook_sinks.openlineage.facet import KEY, SCHEMA, FailhookFailureRunFacet
from tests.sinks.openlineage.validation import own_schema, registry

PUBLISHED = {
    "urn:failhook:schema:openlineage:1-0-0:FailhookFailureRunFacet": (
        "fb6c256b684aad30f58417fdb2018f3d8bb27121b61758552e7957ba778479a8"
    ),
}
"""What each version says, for ever. A change takes a new ``$id`` and a line here: the last number
grows for a field that is added, the first for any other change (openlineage.io, Versioning.md)."""


def test_a_change_of_the_schema_takes_a_new_version():
    """Readers keep what they fetched: one id, one content."""
    schema = json.loads(own_schema())
    digest = sha256(json.dumps(schema, sort_keys=True).encode()).hexdigest()

    assert PUBLISHED[schema["$id"]] == digest


def test_the_facet_names_its_schema():
    """The URL in each event leads to the definition in the file that is shipped."""
    found = registry().resolver().lookup(SCHEMA).contents
    (base, own) = found["allOf"]

    assert "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunFacet" == base["$ref"]
    assert {"kind", "reason", "attempt", "retryDecision"} == set(own["required"])
    assert [KEY] == list(json.loads(own_schema())["properties"])


def test_the_class_has_the_fields_of_the_schema():
    """Nothing is sent that is not described, and nothing described that is never sent."""
    own = registry().resolver().lookup(SCHEMA).contents["allOf"][1]
    fields = [field for field in attr.fields(FailhookFailureRunFacet) if field.name[0] != "_"]

    assert own["properties"].keys() == {field.name for field in fields}
    assert set(own["required"]) == {field.name for field in fields if field.default is attr.NOTHING}
