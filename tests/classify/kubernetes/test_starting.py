"""Pods that never began: images, configuration, commands, runtimes, volumes, networks."""

from __future__ import annotations

import pytest

from tests.classify.kubernetes.samples import ended, event, pod, verdict, waits

HUB = 'failed to pull and unpack image "docker.io/team/app:1": '


@pytest.mark.parametrize("reason", ["ErrImagePull", "ImagePullBackOff"])
@pytest.mark.parametrize(
    ("said", "kind", "deterministic"),
    [
        ("429 Too Many Requests - Server message: toomanyrequests: rate limit", "infra", False),
        ("pull QPS exceeded", "infra", False),
        (HUB + "unexpected status code 503 Service Unavailable", "infra", False),
        (HUB + 'Head "https://r.io/v2/": dial tcp 10.0.0.1:443: i/o timeout', "infra", False),
        (HUB + "write /var/lib/x: no space left on device", "infra", False),
        (HUB + "docker.io/team/app:1: not found", "application", True),
        (HUB + "no match for platform in manifest: not found", "application", True),
        (HUB + "pull access denied, insufficient_scope: authorization failed", "application", True),
        (HUB + "something that nobody has seen before", "unknown", None),
        ('Back-off pulling image "team/app:503"', "unknown", None),
        (None, "unknown", None),
    ],
)
def test_an_image_that_cannot_be_pulled_is_told_apart_by_what_was_said(
    reason, said, kind, deterministic
):
    """Trouble of registry, network and node is infra; a name that does not exist is the task's."""
    details = verdict(pod(waits(reason, said), phase="Pending"))
    assert (details.kind, details.deterministic, details.started) == (kind, deterministic, "no")
    assert details.reason == reason


def test_a_bare_back_off_is_explained_by_the_newest_event():
    """Kubelets before 1.32 say only Back-off; the first failed pull is in the events."""
    events = [
        event("Failed", f'Failed to pull image "x": {HUB}dial tcp: i/o timeout'),
        event("Failed", "Error: ErrImagePull"),
        event("Failed", f'Failed to pull image "x": {HUB}x: not found'),
        event("Failed", "Error: ImagePullBackOff"),
    ]
    waiting = waits("ImagePullBackOff", 'Back-off pulling image "x"')
    assert verdict(pod(waiting, phase="Pending", events=events)).kind == "application"
    assert verdict(pod(waiting, phase="Pending", events=events[:2])).kind == "infra"


def test_an_old_event_does_not_explain_a_container_that_ran():
    """A pull that failed at first says nothing of how the container ended later."""
    events = [event("Failed", f'Failed to pull image "x": {HUB}dial tcp: i/o timeout')]
    assert verdict(pod(ended(1), events=events)).kind == "application"
    assert verdict(pod(ended(137), events=events)).kind == "unknown"


RUNC = "failed to create shim task: OCI runtime create failed: runc create failed: "


@pytest.mark.parametrize("reason", ["StartError", "ContainerCannotRun"])
@pytest.mark.parametrize(
    ("said", "kind", "deterministic"),
    [
        (RUNC + 'exec: "foo": executable file not found in $PATH', "application", True),
        (RUNC + 'exec: "/run.sh": permission denied', "application", True),
        (RUNC + "exec /app: exec format error", "application", True),
        (RUNC + "container init was OOM-killed (memory limit too low?)", "application", None),
        (RUNC + "namespace path: lstat /proc/0/ns/ipc: no such file or directory", "infra", False),
        ("context deadline exceeded", "infra", False),
        ("nvidia-container-cli: initialization error: driver not loaded", "infra", False),
        (RUNC + "mkdir /mnt/data: file exists", "unknown", None),
        (None, "unknown", None),
    ],
)
def test_a_container_that_cannot_start_is_told_apart_by_what_was_said(
    reason, said, kind, deterministic
):
    """A command that cannot run is the task's; a runtime that cannot run it is the node's."""
    details = verdict(pod(ended(128, reason, message=said)))
    assert (details.kind, details.deterministic, details.started) == (kind, deterministic, "no")
    assert details.reason == reason


@pytest.mark.parametrize(
    ("said", "kind", "deterministic"),
    [
        ("couldn't find key token in Secret batch/api", "application", True),
        ("container has runAsNonRoot and image will run as root", "application", True),
        ('secret "api" not found', "application", None),
        ("failed to sync secret cache: timed out waiting for the condition", "infra", False),
    ],
)
def test_a_configuration_error_is_final_only_where_the_object_is_there(said, kind, deterministic):
    """A missing key stays missing; a missing Secret may come; a slow cache is the platform's."""
    details = verdict(pod(waits("CreateContainerConfigError", said), phase="Pending"))
    assert (details.kind, details.deterministic) == (kind, deterministic)


def test_a_young_configuration_error_is_given_a_minute():
    """A Secret made together with the pod may be a moment late."""
    document = pod(
        waits("CreateContainerConfigError", 'secret "api" not found'),
        phase="Pending",
        startTime="2026-03-02T09:00:00Z",
    )
    young = verdict(document, observed_at="2026-03-02T09:00:20Z")
    old = verdict(document, observed_at="2026-03-02T09:05:00Z")
    assert (young.kind, old.kind) == ("unknown", "application")


def test_an_old_kubelets_sentence_is_understood():
    """Kubernetes 1.6 put the sentence where the reason belongs."""
    details = verdict(pod(waits("Couldn't find key a in Secret b/c"), phase="Pending"))
    assert (details.reason, details.deterministic) == ("CreateContainerConfigError", True)


@pytest.mark.parametrize(
    ("reason", "said", "kind"),
    [
        ("FailedMount", 'MountVolume.SetUp failed : secret "tls" not found', "application"),
        ("FailedMount", "rpc error: code = DeadlineExceeded", "infra"),
        ("FailedAttachVolume", 'Multi-Attach error for volume "pvc-1"', "infra"),
        ("FailedCreatePodSandBox", "failed to assign an IP address to container", "infra"),
        ("FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu.", "unknown"),
    ],
)
def test_a_pod_that_waits_is_explained_by_its_events(reason, said, kind):
    """What a pod waits for stands only in its events, and they count until it has begun."""
    spec = {"nodeName": None}
    waiting = pod(
        waits("ContainerCreating"), phase="Pending", events=[event(reason, said)], spec=spec
    )
    assert verdict(waiting).kind == kind
    begun = pod(ended(3), events=[event(reason, said)], spec=spec)
    assert verdict(begun).exit_code == 3
    assert verdict(begun).kind == "application"
