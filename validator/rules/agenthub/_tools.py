"""Which action a tool performs, by its name: data for the gates.

Only names whose meaning is plain are listed, spelled in lower case with underscores. A tool that is not listed
performs no action we know of, and no gate is asked about it.
"""

from __future__ import annotations

from validator.protocol.regex import compiled

NAMES = {
    "file_read": ("file_read", "open_file", "read", "read_file", "read_text_file", "view_file"),
    "file_write": (
        "append_file",
        "create_file",
        "create_or_update_file",
        "delete_file",
        "edit",
        "edit_file",
        "file_write",
        "move_file",
        "multi_edit",
        "notebook_edit",
        "overwrite_file",
        "rename_file",
        "replace_in_file",
        "save_file",
        "str_replace",
        "update_file",
        "write",
        "write_file",
        "write_to_file",
    ),
    "patch_apply": ("apply_patch", "git_apply", "patch_apply"),
    "shell": (
        "bash",
        "bash_command",
        "cmd",
        "command",
        "exec",
        "exec_command",
        "execute_bash",
        "execute_command",
        "execute_shell",
        "local_shell",
        "powershell",
        "run_bash",
        "run_command",
        "run_in_terminal",
        "run_shell",
        "run_shell_command",
        "run_terminal_command",
        "sh",
        "shell",
        "shell_command",
        "shell_exec",
        "terminal",
        "terminal_command",
    ),
    "network": (
        "curl",
        "fetch_url",
        "http_fetch",
        "http_get",
        "http_post",
        "http_request",
        "network",
        "web_fetch",
        "web_search",
        "wget",
    ),
    "commit": ("commit", "git_commit"),
    "push": ("git_push", "push"),
    "publish": ("npm_publish", "publish", "publish_package"),
    "deploy": ("deploy", "deploy_app", "deploy_site"),
    "secret_access": ("access_secret", "get_secret", "read_secret", "secret_access"),
}
_KINDS = {name: kind for kind, names in NAMES.items() for name in names}


def action_of(tool: object) -> str | None:
    """The action kind a tool stands for, or None when its name does not tell."""
    if not isinstance(tool, str):
        return None
    spelled = compiled(r"(?<=[a-z0-9])(?=[A-Z])").sub("_", tool)
    return _KINDS.get(compiled(r"[\s.\-]+").sub("_", spelled).lower())
