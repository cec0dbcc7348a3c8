"""The whole of it: a settings file, a pipeline, and what reaches a server on loopback."""

from __future__ import annotations

from failhook.pipeline import Pipeline
from failhook.plugin import Evidence, Task
from tests.outbox.world import until
from tests.sinks.alerts.webhook import listening

SETTINGS = """\
store = "failhook.db"

[plugins.alerts]
docs_url = "https://docs.example/reasons/"

[plugins.alerts.receivers.data]
type = "webhook"
url = "{url}/data"

[plugins.alerts.receivers.platform]
type = "webhook"
url = "{url}/platform"

[plugins.alerts.route]
receiver = "data"
group_wait = 0.1
group_interval = 1

[[plugins.alerts.route.routes]]
match = ["kind = infra"]
receiver = "platform"
"""


def test_a_settings_file_sends_each_failure_to_whom_it_concerns(tmp_path, monkeypatch):
    """The bug goes to the data team, the lost node to the platform; the recovery follows."""
    monkeypatch.chdir(tmp_path)
    lost = Evidence.verdict("infra", "NodeLost", started="yes")
    with listening() as heard:
        (tmp_path / "failhook.toml").write_text(SETTINGS.format(url=heard.url))
        with Pipeline.from_config("failhook.toml") as pipeline:
            for name, evidence in (("load", Evidence.returncode(3)), ("sum", lost)):
                task = pipeline.started(Task("nightly", name, run_id="r1"))
                pipeline.failed(task, evidence)
            assert until(lambda: len(heard.posts) == 2)
            pipeline.succeeded(pipeline.started(Task("nightly", "load", run_id="r2")))
            assert until(lambda: len(heard.posts) == 3)

    posts = [(path, document) for _, path, document in heard.posts]
    assert ["/data", "/platform"] == sorted(path for path, _ in posts[:2])
    assert "/data" == posts[2][0]
    about = {path: str(document) for path, document in posts[:2]}
    assert "load" in about["/data"]
    assert "NodeLost" in about["/platform"]
    assert "resolved" in str(posts[2][1])
