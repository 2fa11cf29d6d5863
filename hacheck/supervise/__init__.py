"""Slow work under supervision: with a deadline, a memory limit, Ctrl-C and progress; in a thread, in threads side by
side, or in processes.

`task` runs work in the background while the caller looks at limits and reports progress; `interruption` turns Ctrl-C
into a request to stop; `thread_pool` and `process_pool` do several things at once; `event_loop_thread` serves
connections meanwhile; `resources` says how many cores and how much memory there are. Whatever runs for long goes
through here, so that it stops in one way.
"""
