"""Work: what models, tools, hooks, processes and people do, scripted as data on a virtual clock, or really done.

A script is a list of steps. When a turn starts, its steps are expanded into a plan: a flat list of operations with
every id settled. A plan and the place reached in it are kept with the facts, so a runtime that is killed knows after
its restart what it had been doing, and what of it can no longer be proved. Steps that touch the world are in `real`.
"""
