from __future__ import annotations

import sys
from importlib.metadata import entry_points

import pytest

from failhook.errors import RegistrationError
from failhook.manager import Provisions


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a distribution with entry points of the group failhook, as pip would lay it out."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(name, **modules):
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"[{GROUP}]"]
        for plugin, (target, source) in modules.items():
            (tmp_path / f"{target.partition(':')[0]}.py").write_text(source)
            lines.append(f"{plugin} = {target}")
        (info / "entry_points.txt").write_text("\n".join(lines))

    before = set(sys.modules)
    yield install
    for module in set(sys.modules) - before:
        del sys.modules[module]


GROUP = "acme.failhook"
CLASS = """
from failhook.plugin import hookimpl

class Sink:
    def __init__(self, settings):
        self.settings = settings

    @hookimpl
    def on_task_failed(self, task): ...
"""
MODULE = """
from failhook.plugin import hookimpl

@hookimpl
def on_task_recovered(task): ...
"""


def test_installed_plugins_are_found_by_name(make_manager, install):
    """A class is made with its settings, a module taken as it is, each under its entry's name."""
    install("acme", pager=("acme_pager:Sink", CLASS), lineage=("acme_lineage", MODULE))
    asked = []

    def provide(name):
        asked.append(name)
        return Provisions({"url": "x"}, {}, None)

    manager = make_manager(provide=provide)

    assert ("lineage", "pager") == manager.load_entry_points(GROUP, only=("pager", "lineage"))
    assert ["pager"] == asked
    assert ("on_task_recovered",) == manager.hooks("lineage")


def test_blocked_plugins_are_not_even_imported(make_manager, install):
    """A blocked name is left alone: its module may be broken."""
    install("acme", broken=("acme_broken", "raise SystemExit(3)"), good=("acme_good", MODULE))
    manager = make_manager()

    assert ("good",) == manager.load_entry_points(
        GROUP, only=("good", "broken", "gone"), blocked=("broken", "gone")
    )


def test_one_broken_plugin_leaves_the_others(make_manager, install):
    """Every problem is told in one error, a line each, and all others are registered."""
    install(
        "acme",
        exits=("acme_exits", "raise SystemExit(3)"),
        typo=("acme_typo", MODULE.replace("recovered", "recoverd")),
        lost=("acme_lost:Gone", MODULE),
        good=("acme_good", MODULE),
    )
    manager = make_manager()

    with pytest.raises(RegistrationError) as refused:
        manager.load_entry_points(GROUP, only=("exits", "typo", "lost", "good"))

    exits, lost, typo = str(refused.value).splitlines()
    assert "plugin 'exits' (acme_exits) cannot be loaded: SystemExit: 3" == exits
    assert "plugin 'typo': on_task_recoverd" in typo
    assert "plugin 'lost' (acme_lost:Gone) cannot be loaded: AttributeError" in lost
    assert ("good",) == manager.names()


def test_missing_plugin_names_the_extra_or_says_what_is_there(make_manager, install):
    """A plugin that is switched on but not installed names the extra that brings it."""
    install("acme", good=("acme_good", MODULE))
    manager = make_manager()

    with pytest.raises(RegistrationError) as refused:
        manager.load_entry_points("failhook.nothing", only=("slack", "acme"))

    slack, acme = str(refused.value).splitlines()
    assert (
        "plugin 'slack' is switched on but not installed (installed: none); "
        "pip install 'failhook[slack]'" == slack
    )
    assert "plugin 'acme' is switched on but not installed" in acme
    assert "install the package that offers it" in acme


def test_missing_client_library_names_the_extra(make_manager, install):
    """A bundled sink whose client library is missing says which extra to install."""
    install("acme", slack=("acme_slack", "import no_such_client"))
    manager = make_manager()

    with pytest.raises(RegistrationError) as refused:
        manager.load_entry_points(GROUP, only=("slack",))

    assert (
        "plugin 'slack' (acme_slack) cannot be loaded: ModuleNotFoundError: No module named "
        "'no_such_client'; pip install 'failhook[slack]'" == str(refused.value)
    )


def test_a_constructor_that_misses_its_client_names_the_extra_too(make_manager, install):
    """A sink that looks for its client when it is made says the same as one that imports it."""
    looks = CLASS.replace("self.settings = settings", "import no_such_client")
    install("acme", slack=("acme_slack:Sink", looks))

    with pytest.raises(RegistrationError, match=r"no_such_client.*pip install 'failhook\[slack\]'"):
        make_manager().load_entry_points(GROUP, only=("slack",))


def test_what_is_not_wanted_is_not_even_imported(make_manager, install):
    """The caller may leave entries out by looking at them, before any code of theirs runs."""
    install("acme", broken=("acme_broken", "raise SystemExit(3)"), good=("acme_good", MODULE))
    manager = make_manager()

    assert ("good",) == manager.load_entry_points(GROUP, wanted=lambda point: point.name == "good")


def test_everything_is_loaded_by_default(make_manager, install):
    """Without a selection every entry of the group is taken."""
    install("acme", pager=("acme_pager:Sink", CLASS), lineage=("acme_lineage", MODULE))
    manager = make_manager()

    assert ("lineage", "pager") == manager.load_entry_points(GROUP)
    assert ("lineage", "pager") == manager.names()


def test_group_is_failhook_unless_told_otherwise(make_manager):
    """The entry-point group of the design is the default, for bundled sinks and strangers alike."""
    names = {point.name for point in entry_points(group="failhook")}

    with pytest.raises(
        RegistrationError, match="'nobody' is switched on but not installed"
    ) as refused:
        make_manager().load_entry_points(only=("nobody",))

    assert names
    assert all(name in str(refused.value) for name in names)
