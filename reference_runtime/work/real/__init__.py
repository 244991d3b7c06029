"""Real work: tools that touch a workspace, processes that run, hooks that are asked, output that is stored.

A script names a real tool by a `use` step. Its call goes through the same plan, the same tables and the same
`report` as scripted work; what happens in the world is done here, between two facts. What has to be proved first (a
decision, a boundary, the start of a process) is durable before it has an effect; what follows from an effect (output,
an exit code, a result) is told after it.
"""
