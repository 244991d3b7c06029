"""The 43 commands, each with its decision."""

from __future__ import annotations

from collections.abc import Callable

from reference_runtime.domain import (
    action,
    channel,
    export,
    job,
    process,
    queue,
    read,
    subagent,
    task,
    task_end,
    turn,
)
from reference_runtime.domain.state import Decision, Request, State

DECISIONS: dict[str, Callable[[State, Request], Decision]] = {
    decision.__name__: decision
    for decision in (
        *(turn.submit_turn, turn.interrupt_turn, turn.resume_thread),
        *(task.create_task, task.update_task, task.start_task, task.append_task_progress, task.pause_task),
        *(task.resume_task, task.retry_task, task.list_tasks, task.get_task),
        *(task_end.cancel_task, task_end.complete_task, task_end.fail_task, task_end.link_tasks, task_end.unlink_tasks),
        *(action.respond_action, action.evaluate_permission, action.resolve_permission),
        *(queue.remove_queued_turn, queue.promote_queued_turn),
        *(read.get_session, read.get_thread_read, read.get_tool_inventory, read.get_execution_environment),
        *(subagent.spawn_subagent, subagent.send_subagent_input, subagent.wait_subagents),
        *(subagent.resume_subagent, subagent.close_subagent, subagent.list_subagents),
        *(export.export_evidence, export.export_replay, export.export_review),
        *(process.write_process_stdin, process.terminate_process),
        *(job.create_job, job.list_jobs, job.get_job, job.cancel_job),
        *(channel.reconnect_channel, channel.ack_events),
    )
}
