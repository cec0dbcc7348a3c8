"""Bare native records are known by sight; what a task or user wrote in them is not believed."""

from __future__ import annotations

import pytest

from failhook.classify import Classifier, recognise
from failhook.evidence import Evidence

SCONTROL = """JobId=80 JobName=x JobState=NODE_FAIL
   UserId=u(1) GroupId=g(1) MCS_label=N/A
   JobState=TIMEOUT Reason=TimeLimit Dependency=(null)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0
   RunTime=01:00:00 TimeLimit=01:00:00 TimeMin=N/A
   NodeList=n1
   Comment=JobState=PREEMPTED
"""
SACCT = "JobID|State|ExitCode\n7|PREEMPTED|0:15\n7.batch|CANCELLED|0:15\n"
SACCT_COLUMNS = """JobID             State ExitCode
------------ ---------- --------
7            OUT_OF_ME+    0:125
7.batch      OUT_OF_ME+    0:125
"""
QACCT = """==============================================================
qname        all.q
hostname     n1
failed       37  : qmaster enforced h_rt, h_cpu, or h_vmem limit
exit_status  137
"""
SYSTEMCTL = "Type=oneshot\nResult=oom-kill\nExecMainCode=2\nExecMainStatus=9\nActiveState=failed\n"

SLURM_JOB = {
    "job_id": 7,
    "state": {"current": ["NODE_FAIL"], "reason": "NodeDown"},
    "exit_code": {"status": ["SUCCESS"], "return_code": {"number": 0}},
    "steps": [{"step": {"name": "batch"}, "state": ["CANCELLED"], "exit_code": {}}],
}
BATCH_JOB = {
    "jobArn": "arn:aws:batch:::job/1",
    "status": "FAILED",
    "statusReason": "Host EC2 (instance i-1) terminated.",
}
ECS_TASK = {"taskArn": "arn:aws:ecs:::task/1", "lastStatus": "STOPPED", "stopCode": "UserInitiated"}


@pytest.mark.parametrize(
    ("record", "system", "kind"),
    [
        ({"meta": {"plugin": {}}, "jobs": [SLURM_JOB]}, "slurm", "infra"),
        (SLURM_JOB, "slurm", "infra"),
        (
            {"jobs": [{"job_id": 7, "job_state": ["TIMEOUT"], "exit_code": {}}]},
            "slurm",
            "timeout",
        ),
        (SCONTROL, "slurm", "timeout"),
        (SACCT, "slurm", "infra"),
        (SACCT_COLUMNS, "slurm", "application"),
        (BATCH_JOB, "aws-batch", "infra"),
        ({"jobs": [{**BATCH_JOB, "status": "SUCCEEDED"}, BATCH_JOB]}, "aws-batch", "infra"),
        (ECS_TASK, "ecs", "manual"),
        ({"tasks": [ECS_TASK], "failures": []}, "ecs", "manual"),
        ({"detail-type": "ECS Task State Change", "detail": ECS_TASK}, "ecs", "manual"),
        (
            {
                "taskGroups": [],
                "status": {
                    "state": "FAILED",
                    "statusEvents": [{"taskExecution": {"exitCode": 50005}, "taskState": "FAILED"}],
                },
            },
            "gcp-batch",
            "timeout",
        ),
        ({"commandLine": "x", "executionInfo": {"exitCode": 3}}, "azure-batch", "application"),
        (
            {"app": {"state": "FAILED", "finalStatus": "FAILED", "diagnostics": "exitCode: -102"}},
            "yarn",
            "infra",
        ),
        (
            {"JobID": "web", "ClientStatus": "lost", "DesiredStatus": "stop", "TaskStates": {}},
            "nomad",
            "infra",
        ),
        ({"ClusterId": 1, "ProcId": 0, "JobStatus": 5, "HoldReasonCode": 1}, "htcondor", "manual"),
        ([{"State": {"OOMKilled": True, "ExitCode": 137, "Error": ""}}], "docker", "application"),
        (
            {"TrainingJobStatus": "Failed", "FailureReason": "CapacityError: none"},
            "sagemaker",
            "infra",
        ),
        (
            {"run_id": 1, "state": {"life_cycle_state": "TERMINATED", "result_state": "TIMEDOUT"}},
            "databricks",
            "timeout",
        ),
        (
            {"status": "failed", "failure_reason": "script_failure", "pipeline": {"id": 1}},
            "gitlab-ci",
            "application",
        ),
        (
            {"conclusion": "timed_out", "head_sha": "0", "annotations": []},
            "github-actions",
            "timeout",
        ),
        ({"RECORDS": [{"JOBID": "1", "STAT": "UNKWN"}]}, "lsf", "infra"),
        (
            {"Jobs": {"1.s": {"job_state": "F", "Exit_status": -29}}},
            "pbs",
            "timeout",
        ),
        ({"qname": "all.q", "failed": "8 : in prolog", "exit_status": 0}, "sge", "infra"),
        (QACCT, "sge", "timeout"),
        (SYSTEMCTL, "systemd", "application"),
        ({"ExecMainStatus": 1, "Result": "exit-code"}, "systemd", "application"),
        ({"task_id": "t", "error_type": "NODE_DIED"}, "ray", "infra"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "",
)
def test_a_bare_record_names_itself(record, system, kind):
    """What the platform's own command prints needs no wrapping."""
    evidence = recognise(record)

    assert (system, kind) == (evidence.system, Classifier().classify(None, evidence).kind)


def reason(system: str, evidence: dict, **context) -> tuple[str, str]:
    """The kind and reason of a record."""
    details = Classifier().classify(None, Evidence.record(system, evidence, **context))
    return details.kind.value, details.reason


def test_names_that_a_user_chose_are_no_fields_of_slurm():
    """A job may be named, or commented, like a state."""
    assert ("timeout", "TIMEOUT") == reason("slurm", {"scontrol": SCONTROL})
    flat = "JobId=1 JobName=a JobState=FAILED Reason=None ExitCode=1:0 Comment=JobState=NODE_FAIL"
    assert ("application", "NonZeroExit") == reason("slurm", {"scontrol": flat})


def test_only_the_part_of_a_report_that_lsf_wrote_is_read():
    """A job can print a termination reason itself, before or after LSF's summary."""
    printed = "TERM_PREEMPT: job killed after preemption"
    summary = "Exited with exit code 2."

    before = f"{printed}\nSender: LSF System <lsf@h>\nSubject: Job 1: <x> Exited\n{summary}\n"
    after = f"Subject: Job 1: <x> Exited\n{summary}\nThe output (if any) follows:\n{printed}\n"

    assert ("application", "NonZeroExit") == reason("lsf", {"stdout": before})
    assert ("application", "NonZeroExit") == reason("lsf", {"stdout": after})


def test_an_earlier_attempt_does_not_label_a_later_death():
    """The last attempt of a Batch job, the last event of a task, the last run in Nomad."""
    gone = {"statusReason": "Host EC2 (instance i-1) terminated.", "container": {}}
    last = {"statusReason": "Essential container in task exited", "container": {"exitCode": 3}}
    events = [
        {"eventTime": "2026-01-01T00:00:00Z", "taskExecution": {"exitCode": 50001}},
        {"eventTime": "2026-01-01T02:00:00Z", "taskExecution": {"exitCode": 3}},
    ]
    runs = [
        {"Type": "Driver Failure", "DriverError": "no space left on device"},
        {"Type": "Started"},
        {"Type": "Terminated", "ExitCode": 3},
    ]

    expected = ("application", "NonZeroExit")
    job = {"status": "FAILED", "statusReason": last["statusReason"], "attempts": [gone, last]}
    assert expected == reason("aws-batch", job)
    assert expected == reason("gcp-batch", {"status": {"statusEvents": events}})
    assert expected == reason("nomad", {"TaskStates": {"main": {"Events": runs}}})


def test_a_later_run_does_not_hide_the_one_that_is_asked_about():
    """A requeued Slurm job that went well was preempted all the same."""
    rows = [{"JobID": "1", "State": "PREEMPTED"}, {"JobID": "1", "State": "COMPLETED"}]

    assert ("infra", "PREEMPTED") == reason("slurm", {"sacct": rows})


def test_a_stale_reason_for_waiting_is_no_reason_for_failing():
    """Slurm keeps why a job once had to wait."""
    row = {"JobID": "1", "State": "FAILED", "ExitCode": "2:0", "Reason": "JobHeldAdmin"}

    assert ("application", "NonZeroExit") == reason("slurm", {"sacct": [row]})


def test_the_main_container_decides_before_a_sidecar():
    """A sidecar's end says nothing of the task; its own container does."""
    containers = [{"name": "app", "exitCode": 0}, {"name": "proxy", "exitCode": 137}]
    failed = [{"name": "proxy", "exitCode": 137}, {"name": "app", "exitCode": 3}]

    task = {"lastStatus": "STOPPED", "containers": containers}
    assert ("unknown", "SidecarExited") == reason("ecs", task, main_container="app")
    task = {"lastStatus": "STOPPED", "containers": failed}
    assert ("application", "NonZeroExit") == reason("ecs", task, main_container="app")


def test_a_program_that_speaks_like_a_daemon_is_not_one():
    """Words of a container runtime count only in the runtime's own sentence."""
    record = {"exit_status": 1, "stderr": "cp: error: no space left on device, pull access denied"}

    assert ("application", "NonZeroExit") == reason("docker", record)


def test_a_loop_breaker_is_not_the_cause():
    """Limits on restarts and requeues end a series; how the last one ended is what counts."""
    unit = {"Result": "start-limit-hit", "ExecMainCode": "exited", "ExecMainStatus": 3}

    assert ("application", "NonZeroExit") == reason("systemd", unit)
    assert ("unknown", "start-limit-hit") == reason("systemd", {"Result": "start-limit-hit"})


def test_a_kill_that_only_carries_out_a_limit_does_not_change_the_verdict():
    """The limit decides, whatever signal carried it out."""
    unit = {"Result": "timeout", "ExecMainCode": "killed", "ExecMainStatus": 9}
    job = {"statusReason": "Job attempt duration exceeded timeout", "container": {"exitCode": 137}}

    assert ("timeout", "timeout") == reason("systemd", unit)
    assert ("timeout", "AttemptDurationExceeded") == reason("aws-batch", job)


@pytest.mark.parametrize(
    "record",
    [
        {"stopCode": "SpotInterruption", "stoppedReason": ""},
        {"StopCode": "SpotInterruption", "StoppedReason": ""},
        {"stop_code": "SpotInterruption", "stopped_reason": ""},
    ],
)
def test_the_style_of_names_does_not_matter(record):
    """Each client library writes the same fields in its own style."""
    assert ("infra", "SpotInterruption") == reason("ecs", record)


@pytest.mark.parametrize(
    "record",
    [
        {"containers": [], "detail": "x"},
        {"executionInfo": "x"},
        {"conclusion": None},
        {"qacct": None},
        {"Jobs": {}},
        {"TaskStates": None},
        {"error_type": None},
        {"journal": ["x"]},
        {"status": {"state": "FAILED"}},
        {"state": {"message": "x"}},
        {"event": "x"},
        {"State": {"Status": "x"}},
        {"dmesg": [None]},
        {f"field{number}": number for number in range(1_000)},
    ],
)
def test_fields_that_other_systems_use_too_are_left_alone(record):
    """A field of the same name, without what the platform puts there, decides nothing."""
    assert ("unknown", "Unknown") == reason("process", record)
    assert ("unknown", "Unknown") == reason("ecs", record)
