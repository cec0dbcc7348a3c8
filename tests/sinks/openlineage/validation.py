"""Events checked against OpenLineage's schemas and our own, formats included."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource

SPEC = Path(__file__).parent / "spec"
RUN_EVENT = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"


def own_schema() -> str:
    """Return the schema that the package ships."""
    folder = files("failhook_sinks.openlineage") / "schema"
    return (folder / "FailhookFailureRunFacet.json").read_text("utf-8")


@cache
def registry() -> Registry:
    """Return all schemas by the URL under which events name them."""
    texts = [path.read_text("utf-8") for path in sorted(SPEC.glob("*.json"))]
    schemas = [json.loads(text) for text in (*texts, own_schema())]
    return Registry().with_resources(
        [(schema["$id"], Resource.from_contents(schema)) for schema in schemas]
    )


@cache
def validator(url: str) -> Draft202012Validator:
    """Return what checks against the definition at a URL."""
    return Draft202012Validator({"$ref": url}, registry=registry(), format_checker=FormatChecker())


def problems(event: dict[str, Any]) -> list[str]:
    """Return what is wrong with an event and with each of its facets."""
    found = [(RUN_EVENT, event), *_facets(event)]
    return [
        f"{url.rpartition('/')[2]}: {error.json_path}: {error.message}"
        for url, part in found
        for error in validator(url).iter_errors(part)
    ]


def undeclared(event: dict[str, Any]) -> set[str]:
    """Return fields of our own facet that its schema does not have."""
    facet = event["run"]["facets"].get("failhook_failure", {})
    definition = json.loads(own_schema())["$defs"]["FailhookFailureRunFacet"]["allOf"][1]
    return facet.keys() - definition["properties"].keys() - {"_producer", "_schemaURL"}


def _facets(event: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for owner in ("run", "job"):
        for facet in event[owner]["facets"].values():
            yield facet["_schemaURL"], facet
