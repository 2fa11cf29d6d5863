"""Sweeps: the checks of a spec under many settings, each combination a task that explores on its own.

Begin with `sweep_plan`; `fault_budgets` says which verdicts follow from others, and why that is sound.
"""
