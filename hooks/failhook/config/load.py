"""Where settings come from: a file, then a few variables of the environment above it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from failhook.config.document import Document, read_document
from failhook.config.sections import (
    read_delivery,
    read_patterns,
    read_plugins,
    read_policies,
    read_rules,
    read_sources,
    read_store,
)
from failhook.config.settings import Config
from failhook.config.variables import with_variables
from failhook.errors import ConfigError

FILE_NAME: Final = "failhook.toml"
ALLOWED: Final = ("store", "namespace", "policy", "rules", "plugins", "delivery", "redact")


def load_config(path: str | Path | None = None, environ: Mapping[str, str] | None = None) -> Config:
    """Return the settings of the first of: `path`, ``FAILHOOK_CONFIG``, ``./failhook.toml``, none.

    ``FAILHOOK_STORE`` and ``FAILHOOK_NAMESPACE`` win over the file, and so does
    ``FAILHOOK__TABLE__KEY`` for any other setting (`failhook.config.variables`).

    Args:
        path: the file; it must exist.
        environ: the variables; this process's own unless given. An empty one counts as not set.

    Raises:
        ConfigError: the file cannot be read, or a setting is wrong; the message names file, line
            and key, and what is allowed there.
    """
    environ = os.environ if environ is None else environ
    return read_config(find_document(path, environ), environ)


def find_document(path: str | Path | None, environ: Mapping[str, str]) -> Document:
    """Return the file as `load_config` finds it, with what variables set put over it.

    Raises:
        ConfigError: it cannot be read, or is no TOML.
    """
    file = _file(path, environ)
    document = Document(Path(), "", {}) if file is None else read_document(file)
    root, variables = with_variables(document.root, environ)
    return replace(document, root=root, variables=variables)


def _file(path: str | Path | None, environ: Mapping[str, str]) -> Path | None:
    if path is not None:
        return Path(path)
    named = environ.get("FAILHOOK_CONFIG")
    if named:
        if not Path(named).exists():
            raise ConfigError(f"FAILHOOK_CONFIG names {named}, and there is no such file")
        return Path(named)
    here = Path(FILE_NAME)
    return here if os.path.lexists(here) else None


def read_config(document: Document, environ: Mapping[str, str]) -> Config:
    """Return what a document and the variables above it say.

    Raises:
        ConfigError: a setting is wrong.
    """
    root = document.root
    document.only((), root, ALLOWED)
    plugins, blocked = read_plugins(document, root.get("plugins", {}))
    store = read_store(document, root["store"]) if "store" in root else None
    namespace = document.text_at(("namespace",), root.get("namespace", "default"))
    return Config(
        path=document.path if document.path.name else None,
        document=document,
        store=environ.get("FAILHOOK_STORE") or store,
        namespace=environ.get("FAILHOOK_NAMESPACE") or namespace,
        policies=read_policies(document, root.get("policy", {})),
        rules=read_rules(document, root.get("rules", [])),
        plugins=plugins,
        blocked=blocked,
        delivery=read_delivery(document, root.get("delivery", {})),
        redact=read_patterns(document, root.get("redact", {})),
        redact_sources=read_sources(document, root.get("redact", {})),
    )
